// SPDX-License-Identifier: MIT
// What a launch `kernel<<<grid, block, shared, stream>>>(arguments)` becomes on the CPU backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../cuda/vector_types.h"
#include "../engine/block.h"
#include "../engine/current.h"
#include "../engine/site.h"
#include "../engine/uninstrumented.h"
#include "error_codes.h"

struct CUstream_st;

namespace cuda_cpu {

/// The four launch parameters, with nvcc's defaults.
struct LaunchConfig {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes;
  CUstream_st* stream;

  LaunchConfig(dim3 grid_, dim3 block_, std::size_t bytes = 0, CUstream_st* stream_ = nullptr)
      : grid(grid_), block(block_), dynamic_shared_bytes(bytes), stream(stream_) {}
};

/// Emitted by the pre-pass where a kernel returns: who left the kernel where.
CUDA_CPU_UNINSTRUMENTED inline void leave(int line, const char* file = __builtin_FILE()) {
  current_thread->file = file;
  current_thread->line = line;
}

/// A kernel with its arguments, ready to be called once for each CUDA thread. `owner` keeps them
/// alive until the stream has run it.
struct KernelCall {
  std::shared_ptr<void> owner;
  void* closure;
  void (*body)(void* closure);
  const void* function =
      nullptr;  ///< the kernel, as cudaFuncSetAttribute knows it, if the launch can tell
  std::string arguments{};  ///< for X-ray, as arguments_hash
  std::uint64_t arguments_hash = 0;
};

/// Tells X-ray which launches of a kernel are alike: a number is shown as it is, a pointer as `*`
/// (`*host` to the host's memory) with its distance from the start of the allocation, anything else
/// as `..` and known by its bytes.
class ArgumentText {
 public:
  template <class T>
  void add(const T& argument) {
    if (!text.empty()) text += ", ";
    if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
      add_pointer(const_cast<const void*>(static_cast<const volatile void*>(argument)));
    } else if constexpr (std::is_floating_point_v<T>) {
      add_number(static_cast<double>(argument));
    } else if constexpr (std::is_integral_v<T>) {
      text += std::to_string(argument);
    } else {
      text += "..";
      if constexpr (std::is_trivially_copyable_v<T>) add_bytes(&argument, sizeof(T));
    }
  }

  std::string text;
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a

 private:
  void add_pointer(const void* pointer);
  void add_number(double value);
  void add_bytes(const void* bytes, std::size_t count);
};

template <class Tuple>
void describe_arguments([[maybe_unused]] const Tuple& arguments,
                        [[maybe_unused]] KernelCall* call) {
#if defined(CUDA_CPU_XRAY)
  ArgumentText list;
  std::apply([&](const auto&... argument) { (list.add(argument), ...); }, arguments);
  call->arguments = std::move(list.text);
  call->arguments_hash = list.hash;
#endif
}

/// The address of a kernel that is named without its template arguments is not known before they
/// are deduced: `name_it` is a lambda that hands the kernel to its parameter, and may not be
/// callable.
template <class NameIt>
const void* function_of(NameIt name_it) {
  const auto address = [](auto* kernel)
      -> std::enable_if_t<std::is_function_v<std::remove_pointer_t<decltype(kernel)>>,
                          const void*> { return reinterpret_cast<const void*>(kernel); };
  if constexpr (std::is_invocable_v<NameIt&, decltype(address)>) {
    return name_it(address);
  } else {
    return nullptr;
  }
}

/// Checks the configuration like the toolkit (an error is left for cudaGetLastError and nothing
/// runs), then puts the grid on its stream. Returns the CUDA error code.
int enqueue_grid(const LaunchConfig& config, const LaunchedKernel& site, bool cooperative,
                 KernelCall call);

/// The same, but also runs the stream: `call` refers to the caller's variables.
int run_grid_now(const LaunchConfig& config, const LaunchedKernel& site, KernelCall call);

/// Reports a pointer argument (counted from 0) that kernels cannot follow. Returns true if all is
/// well.
bool check_pointer_argument(const LaunchedKernel& site, std::size_t position, const void* pointer);

template <class T>
bool check_argument(const LaunchedKernel& site, std::size_t position, const T& argument) {
  if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
    return check_pointer_argument(
        site, position, const_cast<const void*>(static_cast<const volatile void*>(argument)));
  } else {
    (void)site, (void)position, (void)argument;
    return true;
  }
}

template <class Tuple, std::size_t... kPositions>
bool check_arguments(const LaunchedKernel& site, const Tuple& arguments,
                     std::index_sequence<kPositions...>) {
  return (check_argument(site, kPositions, std::get<kPositions>(arguments)) && ...);
}

/// Evaluates the arguments anew in every CUDA thread: for argument lists that cannot be copied
/// first, such as braced initialisers or a literal 0 for a pointer.
template <class Plain>
void launch(const LaunchConfig& config, const LaunchedKernel& site, Plain plain) {
  run_grid_now(config, site, KernelCall{nullptr, &plain, [](void* closure) {
                                          (*static_cast<Plain*>(closure))();
                                        }});
}

/// `plain` is the call as written and serves for the compiler's messages; `bound` makes the same
/// call with copies of the arguments, evaluated once at the launch as in CUDA. `function` is the
/// kernel's address.
template <class Plain, class Bound, class... Arguments>
void launch(const LaunchConfig& config, const LaunchedKernel& site, Plain plain, Bound bound,
            const void* function, Arguments&&... arguments) {
  if constexpr (std::is_invocable_v<Bound&, std::decay_t<Arguments>&...>) {
    struct Closure {
      Bound bound;
      std::tuple<std::decay_t<Arguments>...> arguments;
    };
    auto closure =
        std::make_shared<Closure>(Closure{bound, {std::forward<Arguments>(arguments)...}});
    if (!check_arguments(site, closure->arguments, std::index_sequence_for<Arguments...>{})) return;
    void* const raw = closure.get();
    KernelCall call{closure, raw,
                    [](void* pointer) {
                      auto* const self = static_cast<Closure*>(pointer);
                      std::apply(self->bound, self->arguments);
                    },
                    function};
    describe_arguments(closure->arguments, &call);
    enqueue_grid(config, site, false, std::move(call));
  } else {
    launch(config, site, std::move(plain));
  }
}

/// cudaLaunchKernel and cudaLaunchCooperativeKernel: the arguments as an array of pointers to them.
template <class... Parameters, std::size_t... kPositions>
int launch_function_with(const LaunchConfig& config, const LaunchedKernel& site, bool cooperative,
                         void (*kernel)(Parameters...), void** arguments,
                         std::index_sequence<kPositions...>) {
  struct Closure {
    void (*kernel)(Parameters...);
    std::tuple<std::decay_t<Parameters>...> arguments;
  };
  auto closure = std::make_shared<Closure>(
      Closure{kernel, {*static_cast<std::decay_t<Parameters>*>(arguments[kPositions])...}});
  (void)arguments;
  if (!check_arguments(site, closure->arguments, std::index_sequence_for<Parameters...>{})) {
    return cudaErrorIllegalAddress;
  }
  void* const raw = closure.get();
  KernelCall call{closure, raw,
                  [](void* pointer) {
                    auto* const self = static_cast<Closure*>(pointer);
                    std::apply(self->kernel, self->arguments);
                  },
                  reinterpret_cast<const void*>(kernel)};
  describe_arguments(closure->arguments, &call);
  return enqueue_grid(config, site, cooperative, std::move(call));
}

template <class... Parameters>
int launch_function(const LaunchConfig& config, const LaunchedKernel& site, bool cooperative,
                    void (*kernel)(Parameters...), void** arguments) {
  return launch_function_with(config, site, cooperative, kernel, arguments,
                              std::index_sequence_for<Parameters...>{});
}

}  // namespace cuda_cpu
