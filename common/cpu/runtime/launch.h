// SPDX-License-Identifier: MIT
// The pre-pass turns a launch `kernel<<<grid, block, shared, stream>>>(arguments)` into calls of
// these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "../engine/memory/marked_pointers.h"
#include "../engine/state/block.h"
#include "../engine/state/current.h"
#include "../engine/state/uninstrumented.h"
#include "../types/error_codes.h"
#include "../types/site.h"
#include "../types/vector_types.h"

struct CUstream_st;

namespace cuda_cpu {

struct Work;

/// The four launch parameters, with nvcc's defaults, and what a launch without `<<<>>>` may ask
/// for.
struct LaunchConfig {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes;
  CUstream_st* stream;
  bool cooperative = false;

  LaunchConfig(dim3 grid_, dim3 block_, std::size_t bytes = 0, CUstream_st* stream_ = nullptr)
      : grid(grid_), block(block_), dynamic_shared_bytes(bytes), stream(stream_) {}
};

/// Emitted by the pre-pass where a kernel returns: notes the line at which the thread left.
CUDA_CPU_UNINSTRUMENTED inline void leave(int line, const char* file = __builtin_FILE()) {
  current_thread->file = file;
  current_thread->line = line;
}

/// Describes arguments, so that X-ray knows which launches of a kernel are alike. A number is shown
/// as it is, a pointer as `*` (`*host` for the host's memory) with its distance from the start of
/// the allocation. Anything else is shown as `..` and known by its bytes. Nothing that needs much
/// code is inline, since a program has many launches.
class ArgumentText {
 public:
  ArgumentText();
  ~ArgumentText();

  template <class T>
  void add(const T& argument) {
    if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
      add_pointer(const_cast<const void*>(static_cast<const volatile void*>(argument)));
    } else if constexpr (std::is_floating_point_v<T>) {
      add_number(static_cast<double>(argument));
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      add_signed(argument);
    } else if constexpr (std::is_integral_v<T>) {
      add_unsigned(argument);
    } else {
      add_other(std::is_trivially_copyable_v<T> ? &argument : nullptr, sizeof(T));
    }
  }

  std::string text;
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a

 private:
  void show(const std::string& argument);
  void add_pointer(const void* pointer);
  void add_number(double value);
  void add_signed(long long value);
  void add_unsigned(unsigned long long value);
  void add_other(const void* bytes, std::size_t count);
  void add_bytes(const void* bytes, std::size_t count);
};

/// A kernel with its arguments, ready to be called once for each CUDA thread.
struct KernelCall {
  void* closure;
  void (*body)(void* closure);
  void (*destroy)(void* closure) = nullptr;  ///< when the stream has run it; nullptr: not needed
  /// The kernel, as cudaFuncSetAttribute knows it, if the launch can tell.
  const void* function = nullptr;
  const ArgumentText* arguments = nullptr;  ///< for X-ray
};

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

/// The launch with the name of `function`, the kernel, where it names a pointer to that or the
/// parameter of a template instead: reports say `scale`, not `kKernel`.
LaunchedKernel with_own_name(LaunchedKernel launched, const void* function);

/// Checks the configuration like the toolkit (an error is left for cudaGetLastError and nothing
/// runs), then puts the grid on its stream. Returns the CUDA error code.
int enqueue_grid(const LaunchConfig& config, const LaunchedKernel& launched,
                 const KernelCall& call);

/// The launch of a kernel's work again, with the same arguments and another configuration. Returns
/// the CUDA error code of a wrong one.
int relaunch(const Work& work, LaunchConfig config, Site site, Work* made);

/// As enqueue_grid, but also runs the stream: `call` refers to the caller's variables.
int run_grid_now(const LaunchConfig& config, const LaunchedKernel& launched,
                 const KernelCall& call);

/// Reports a pointer argument (counted from 0) that kernels cannot follow, or that is no multiple
/// of its type's alignment. Returns true if all is well.
bool check_pointer_argument(const LaunchedKernel& launched, std::size_t position,
                            const void* pointer, std::size_t alignment);

template <class T>
bool check_argument(const LaunchedKernel& launched, std::size_t position, const T& argument) {
  if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
    return check_pointer_argument(
        launched, position, const_cast<const void*>(static_cast<const volatile void*>(argument)),
        kAlignmentOf<std::remove_pointer_t<T>>);
  } else {
    (void)launched, (void)position, (void)argument;
    return true;
  }
}

/// A call with copies of its arguments. It does without the library's tuples and pointers: a
/// program has many launches, and each would compile those for its own types. Instead of `mutable`
/// there is a cast, since g++ and clang want an attribute on different sides of that word.
template <class Kernel, class... Arguments>
auto bind_copies(Kernel kernel, Arguments... arguments) {
  return [=]() CUDA_CPU_UNSEEN { kernel(const_cast<Arguments&>(arguments)...); };
}

template <class Closure>
KernelCall call_of(Closure closure, const void* function) {
  return {new Closure(std::move(closure)),
          [](void* pointer) CUDA_CPU_UNSEEN { (*static_cast<Closure*>(pointer))(); },
          [](void* pointer) { delete static_cast<Closure*>(pointer); }, function};
}

/// Checks the arguments, copies them, and puts the call on its stream.
template <class Kernel, class... Arguments>
int enqueue_call(const LaunchConfig& config, const LaunchedKernel& launched, const void* function,
                 Kernel kernel, Arguments&&... arguments) {
  std::size_t position = 0;
  if (!(check_argument<std::decay_t<Arguments>>(launched, position++, arguments) && ...)) {
    return cudaErrorIllegalAddress;
  }
#if defined(CUDA_CPU_XRAY)
  ArgumentText text;
  (text.add<std::decay_t<Arguments>>(arguments), ...);
#endif
  KernelCall call = call_of(
      bind_copies<Kernel, std::decay_t<Arguments>...>(
          kernel, as_kernels_get<std::decay_t<Arguments>>(std::forward<Arguments>(arguments))...),
      function);
#if defined(CUDA_CPU_XRAY)
  call.arguments = &text;
#endif
  return enqueue_grid(config, launched, call);
}

/// What an argument is to a kernel. An object that owns memory and cannot be copied, but becomes a
/// pointer by itself, is that pointer, as it is to nvcc.
template <class T>
decltype(auto) as_argument(T&& argument) {
  if constexpr (std::is_class_v<std::decay_t<T>> &&
                !std::is_copy_constructible_v<std::decay_t<T>>) {
    return &*argument;
  } else {
    return std::forward<T>(argument);
  }
}

/// Evaluates the arguments anew in every CUDA thread: for argument lists that cannot be copied
/// first, such as braced initialisers or a literal 0 for a pointer.
template <class Plain>
void launch(const LaunchConfig& config, const LaunchedKernel& launched, Plain plain) {
  run_grid_now(config, launched,
               KernelCall{&plain, [](void* closure) { (*static_cast<Plain*>(closure))(); }});
}

/// `plain` is the call as written, for the compiler's messages; `bound` makes the same call with
/// copies of the arguments, evaluated once at the launch as in CUDA. `function` is the kernel's
/// address.
template <class Plain, class Bound, class... Arguments>
void launch(const LaunchConfig& config, const LaunchedKernel& launched, Plain plain, Bound bound,
            const void* function, Arguments&&... arguments) {
  if constexpr (std::is_invocable_v<Bound&, std::decay_t<decltype(as_argument(arguments))>&...>) {
    enqueue_call(config, with_own_name(launched, function), function, bound,
                 as_argument(std::forward<Arguments>(arguments))...);
  } else {
    launch(config, launched, std::move(plain));
  }
}

/// The arguments as an array of pointers to them, of which there are as many as positions.
template <class... Parameters, std::size_t... kPositions>
int launch_function(const LaunchConfig& config, const LaunchedKernel& launched,
                    void (*kernel)(Parameters...), [[maybe_unused]] void** arguments,
                    std::index_sequence<kPositions...>) {
  if (sizeof...(Parameters) > 0 && arguments == nullptr) return cudaErrorInvalidValue;
  return enqueue_call(config, launched, reinterpret_cast<const void*>(kernel), kernel,
                      *static_cast<std::decay_t<Parameters>*>(arguments[kPositions])...);
}

}  // namespace cuda_cpu
