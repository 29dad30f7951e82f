// SPDX-License-Identifier: MIT
// The pre-pass turns a launch `kernel<<<grid, block, shared, stream>>>(arguments)` into calls of
// these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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
  bool may_start_early = false;  ///< programmatic dependent launch

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
    if constexpr (std::is_reference_v<T> && !std::is_function_v<std::remove_reference_t<T>>) {
      add_pointer(const_cast<const void*>(
          static_cast<const volatile void*>(__builtin_addressof(argument))));
    } else if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
      add_pointer(const_cast<const void*>(static_cast<const volatile void*>(argument)));
    } else if constexpr (std::is_floating_point_v<T>) {
      add_number(static_cast<double>(argument));
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      add_signed(argument);
    } else if constexpr (std::is_integral_v<T>) {
      add_unsigned(argument);
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      alignas(T) unsigned char bytes[sizeof(T)];
      std::memcpy(bytes, static_cast<const void*>(__builtin_addressof(argument)), sizeof(T));
      // Between the members stands what happened to be on the stack.
#if __has_builtin(__builtin_clear_padding)
      __builtin_clear_padding(reinterpret_cast<std::remove_cv_t<T>*>(bytes));
#endif
      add_other(bytes, sizeof(T));
    } else {
      add_other(nullptr, 0);
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

/// Reports a pointer argument (counted from 0), or the address of what a reference names, that
/// kernels cannot follow, or that is no multiple of its type's alignment. Returns true if all is
/// well.
bool check_pointer_argument(const LaunchedKernel& launched, std::size_t position,
                            const void* pointer, std::size_t alignment, bool is_reference);

/// A parameter of type P as a launch keeps it and each CUDA thread finds it: the bytes of what its
/// constructor made on the host, for on the device nothing is constructed or destroyed. A reference
/// is the address of what the host named.
template <class P>
struct Kept {
  alignas(P) unsigned char bytes[sizeof(P)];

  explicit Kept(const P& parameter) {
    std::memcpy(bytes, static_cast<const void*>(__builtin_addressof(parameter)), sizeof(P));
  }
  __attribute__((always_inline)) CUDA_CPU_UNSEEN P& get() { return reinterpret_cast<P&>(bytes); }
};
template <class P>
struct Kept<P&> {
  P* address;

  explicit Kept(P& parameter) : address(__builtin_addressof(parameter)) {}
  __attribute__((always_inline)) CUDA_CPU_UNSEEN P& get() { return *address; }
};

template <class P, class From>
constexpr bool kNeedsNoCall =
    !std::is_constructible_v<P, From> || std::is_trivially_constructible_v<P, From>;
/// Whether a call hands over the P itself. Of any other the caller makes a copy, hands over its
/// address, and destroys it: so the ABI of C++ has it on x86-64 and aarch64.
template <class P>
constexpr bool kIsPassedItself = std::is_reference_v<P> ||
                                 (std::is_trivially_destructible_v<P> && kNeedsNoCall<P, P&> &&
                                  kNeedsNoCall<P, const P&> && kNeedsNoCall<P, P>);
template <class P>
using Passed = std::conditional_t<kIsPassedItself<P>, P, P&>;

/// A kernel and its parameters.
template <class... P>
struct Function {
  void (*kernel)(P...);
};
/// Where a template, or one of several functions, is named without more: what parameters of it
/// arguments may become.
template <class... P>
struct AnyFunction {};

/// Calls the kernel with bytes that belong to the running thread.
template <class... P>
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
CUDA_CPU_UNSEEN void
call_with_bytes(void (*kernel)(P...), Kept<P>... own) {
  const auto untyped = reinterpret_cast<void (*)()>(kernel);
  reinterpret_cast<void (*)(Passed<P>...)>(untyped)(static_cast<Passed<P>&&>(own.get())...);
}

/// What each CUDA thread calls. It does without the library's tuples and pointers: a program has
/// many launches, and each would compile those for its own types. Instead of `mutable` there is a
/// cast, since g++ and clang want an attribute on different sides of that word.
template <class Call, class... P>
auto closure_of(Call call, AnyFunction<P...>, Kept<P>... kept) {
  return [=]() CUDA_CPU_UNSEEN { call(const_cast<Kept<P>&>(kept).get()...); };
}
template <class Call, class... P>
auto closure_of(Call call, Function<P...> function, Kept<P>... kept) {
  if constexpr ((kIsPassedItself<P> && ...) && std::is_invocable_v<Call&, P&...>) {
    return closure_of(call, AnyFunction<P...>{}, kept...);
  } else {
    return [=]() CUDA_CPU_UNSEEN { call_with_bytes<P...>(function.kernel, kept...); };
  }
}

template <class P>
bool check_parameter(const LaunchedKernel& launched, std::size_t position, Kept<P>& kept) {
  constexpr bool kIsReference = std::is_reference_v<P>;
  using T = std::conditional_t<kIsReference, std::remove_reference_t<P>, std::remove_pointer_t<P>>;
  if constexpr (std::is_function_v<T> || (!kIsReference && !std::is_pointer_v<P>)) {
    (void)launched, (void)position, (void)kept;
    return true;
  } else {
    const volatile void* pointer = nullptr;
    if constexpr (kIsReference) {
      pointer = kept.address;
    } else {
      pointer = kept.get();
    }
    return check_pointer_argument(launched, position, const_cast<const void*>(pointer),
                                  kAlignmentOf<T>, kIsReference);
  }
}

/// Checks the parameters and puts the call on its stream.
template <class Call, class Which, class... P>
int enqueue_kept(const LaunchConfig& config, const LaunchedKernel& launched, const void* address,
                 Call call, Which which, Kept<P>... kept) {
  std::size_t position = 0;
  if (!(check_parameter<P>(launched, position++, kept) && ...)) return cudaErrorIllegalAddress;
#if defined(CUDA_CPU_XRAY)
  ArgumentText text;
  (text.add<P>(kept.get()), ...);
#endif
  (mark_pointers_in<P>(kept.get()), ...);
  const auto closure = closure_of(call, which, kept...);
  using Closure = std::remove_const_t<decltype(closure)>;
  KernelCall made{new Closure(closure),
                  [](void* pointer) CUDA_CPU_UNSEEN { (*static_cast<Closure*>(pointer))(); },
                  [](void* pointer) { delete static_cast<Closure*>(pointer); }, address};
#if defined(CUDA_CPU_XRAY)
  made.arguments = &text;
#endif
  return enqueue_grid(config, launched, made);
}

template <class T>
struct Itself {
  using type = T;
};

/// The same with parameters, which the call of this makes of arguments, on the host and once, and
/// its return destroys there.
template <class Call, template <class...> class Which, class... P>
int enqueue_call(const LaunchConfig& config, const LaunchedKernel& launched, const void* address,
                 Call call, Which<P...> which, typename Itself<P>::type... parameters) {
  return enqueue_kept(config, launched, address, call, which, Kept<P>(parameters)...);
}

/// Named by the launch, a kernel tells its parameters to this ...
struct AskAny {
  template <class... P>
  Function<P...> operator()(void (*kernel)(P...)) const {
    return {kernel};
  }
};
/// ... or, if it is one of several functions or of a template, whether it has just these.
template <class... P>
struct AskFor {
  Function<P...> operator()(void (*kernel)(P...)) const { return {kernel}; }
};

/// T, and if it is a class or points to something, that with `const`.
template <class T>
using WithConst =
    std::conditional_t<std::is_pointer_v<T>, std::add_const_t<std::remove_pointer_t<T>>*,
                       std::conditional_t<std::is_class_v<T>, const T&, T>>;

/// The function whose parameters are `P...` and then `Rest...`, some perhaps with `const`; nullptr
/// if there is none.
template <class NameIt, class... P>
auto function_with(NameIt& name_it, AnyFunction<P...>, AnyFunction<>) {
  if constexpr (std::is_invocable_v<NameIt&, AskFor<P...>>) {
    return name_it(AskFor<P...>{});
  } else {
    return nullptr;
  }
}
template <class NameIt, class... P, class Next, class... Rest>
auto function_with(NameIt& name_it, AnyFunction<P...>, AnyFunction<Next, Rest...>) {
  const auto found = function_with(name_it, AnyFunction<P..., Next>{}, AnyFunction<Rest...>{});
  constexpr bool kIsFinal = std::is_same_v<Next, WithConst<Next>>;
  if constexpr (!kIsFinal && std::is_null_pointer_v<std::remove_const_t<decltype(found)>>) {
    return function_with(name_it, AnyFunction<P..., WithConst<Next>>{}, AnyFunction<Rest...>{});
  } else {
    return found;
  }
}
/// Objects that are not passed themselves need the function; for others any does.
template <class NameIt, class... P>
auto find_function([[maybe_unused]] NameIt& name_it, AnyFunction<P...> any) {
  if constexpr ((kIsPassedItself<P> && ...)) {
    return any;
  } else {
    const auto found = function_with(name_it, AnyFunction<>{}, any);
    if constexpr (std::is_null_pointer_v<std::remove_const_t<decltype(found)>>) {
      return any;
    } else {
      return found;
    }
  }
}

/// What an argument is to such a kernel. An object that owns memory and cannot be copied, but
/// becomes a pointer by itself, is that pointer, as it is to nvcc.
template <class T>
decltype(auto) as_argument(T&& argument) {
  if constexpr (std::is_class_v<std::decay_t<T>> &&
                !std::is_copy_constructible_v<std::decay_t<T>>) {
    return &*argument;
  } else {
    return std::forward<T>(argument);
  }
}

/// What parameters arguments may become: a reference, where a value does not do for the call.
template <class Bound, std::size_t kAt, class Argument, class... All, std::size_t... kNumbers>
auto parameter_for(std::index_sequence<kNumbers...>) {
  using Value = std::decay_t<Argument>;
  constexpr bool kMayBeReference =
      std::is_lvalue_reference_v<Argument> && !std::is_pointer_v<Value>;
  if constexpr (kMayBeReference &&
                !std::is_invocable_v<Bound&, std::conditional_t<kNumbers == kAt, std::decay_t<All>,
                                                                std::decay_t<All>&>...>) {
    return Itself<Argument>{};
  } else {
    return Itself<Value>{};
  }
}
template <class Bound, class... Arguments, std::size_t... kNumbers>
auto any_function(std::index_sequence<kNumbers...> numbers) {
  return AnyFunction<typename decltype(parameter_for<Bound, kNumbers, Arguments, Arguments...>(
      numbers))::type...>{};
}

/// Evaluates the arguments anew in every CUDA thread: for argument lists that cannot be copied
/// first, such as braced initialisers or a literal 0 for a pointer.
template <class Plain>
void launch(const LaunchConfig& config, const LaunchedKernel& launched, Plain plain) {
  run_grid_now(config, launched,
               KernelCall{&plain, [](void* closure) { (*static_cast<Plain*>(closure))(); }});
}

template <class NameIt, class... Arguments>
constexpr bool names_one_function() {
  if constexpr (std::is_invocable_v<NameIt&, AskAny>) {
    using Named = std::invoke_result_t<NameIt&, AskAny>;
    return std::is_invocable_v<decltype(Named::kernel), Arguments...>;
  } else {
    return false;
  }
}
template <class NameIt>
const void* address_of_named(NameIt& name_it) {
  if constexpr (std::is_invocable_v<NameIt&, AskAny>) {
    return reinterpret_cast<const void*>(name_it(AskAny{}).kernel);
  } else {
    return nullptr;
  }
}

/// `plain` is the call as written, for the compiler's messages; `bound` makes the same call with
/// parameters that were made of the arguments at the launch, as in CUDA. `name_it` hands the kernel
/// to its own parameter, if it can.
template <class Plain, class Bound, class NameIt, class... Arguments>
void launch(const LaunchConfig& config, const LaunchedKernel& launched, Plain plain, Bound bound,
            NameIt name_it, Arguments&&... arguments) {
  const void* const address = address_of_named(name_it);
  const LaunchedKernel named = with_own_name(launched, address);
  if constexpr (names_one_function<NameIt, Arguments...>()) {
    enqueue_call(config, named, address, bound, name_it(AskAny{}),
                 std::forward<Arguments>(arguments)...);
  } else if constexpr (std::is_invocable_v<Bound&,
                                           std::decay_t<decltype(as_argument(arguments))>&...>) {
    const auto any =
        any_function<Bound, decltype(as_argument(std::forward<Arguments>(arguments)))...>(
            std::index_sequence_for<Arguments...>{});
    enqueue_call(config, named, address, bound, find_function(name_it, any),
                 as_argument(std::forward<Arguments>(arguments))...);
  } else {
    launch(config, launched, std::move(plain));
  }
}

/// The parameter that lies at `place`; of a reference that is an address.
template <class P>
Kept<P> kept_at(void* place) {
  using T = std::remove_reference_t<P>;
  if constexpr (std::is_reference_v<P>) {
    return Kept<P>(**static_cast<T**>(place));
  } else {
    return Kept<P>(*static_cast<T*>(place));
  }
}

/// The arguments as an array of pointers to them, of which there are as many as positions. They
/// are copied byte by byte.
template <class... P, std::size_t... kPositions>
int launch_function(const LaunchConfig& config, const LaunchedKernel& launched,
                    void (*kernel)(P...), [[maybe_unused]] void** arguments,
                    std::index_sequence<kPositions...>) {
  if (sizeof...(P) > 0 && arguments == nullptr) return cudaErrorInvalidValue;
  return enqueue_kept(config, launched, reinterpret_cast<const void*>(kernel), kernel,
                      Function<P...>{kernel}, kept_at<P>(arguments[kPositions])...);
}

}  // namespace cuda_cpu
