// SPDX-License-Identifier: MIT
// By these functions device code tells X-ray and the race detector, in programs that are built for
// them, what the compiler does not: atomics, cached loads, copies, fences, local arrays.
#pragma once

#include <cstddef>
#include <cstring>

#include "../../types/site.h"

namespace cuda_cpu {

enum class AtomicKind { kIncrement, kCompareAndSwap, kExchange, kOther };

/// An atomic is one access, whatever it does inside. An increment adds the constant 1.
/// `block_only`: its scope is the block.
void atomic_begins(const void* address, std::size_t bytes, AtomicKind kind,
                   bool block_only = false);

/// A load that sees what other threads store by atomics (__ldcg, __ldcv, cuda::atomic_ref::load).
void fresh_load_begins(const void* address, std::size_t bytes);
/// cuda::atomic_ref::store.
void strong_store_begins(const void* address, std::size_t bytes);
/// __ldg: the next load of this thread at `address` goes through the path of constants. Returns the
/// address. "Pure", so that it does not keep the compiler from loading other things once only.
__attribute__((pure)) const void* read_as_constant(const void* address);

/// The texels that a texture fetch read: the race detector takes them for loads. X-ray does not
/// count them, since they go another way than loads of memory.
struct TexelsRead;
void texels_are_read(const TexelsRead& read);
/// The same for the memory that a read or write of a surface uses, and for a call of cuda::barrier,
/// whose init writes: a use before or beside that is a race.
void uncounted_use_begins(const void* address, std::size_t bytes, bool writes);

/// An asynchronous copy begins: it will write `bytes` of shared memory, and read `read` bytes for
/// that. (engine/state/observer.h tells when.)
void async_copy_begins(const void* to, std::size_t bytes, const void* from, std::size_t read);

/// The same for copies that X-ray does not count. Some only read (`to` is null). Of others the
/// write is told as the thread's own.
struct UncountedCopy {
  const void* to;
  std::size_t bytes;
  const void* from;
  std::size_t read;
  bool writes_itself;
};
struct UncountedCopies {
  const UncountedCopy* begin;
  std::size_t count;
};
void uncounted_copies_begin(UncountedCopies copies);

/// The order of the atomic that was just executed at `address`.
void order_is_made(const void* address, bool acquires, bool releases, bool block_only);

/// __threadfence() or one of its variants.
void make_fence(bool block_only);

/// Programmatic dependent launch: the running thread has waited for the launch before its own, or
/// lets the next one start.
void launch_before_is_waited_for();
void next_launch_may_start();

/// An array that is declared in a device function.
struct LocalArray {
  const char* name;
  /// It is indexed with a value that nvcc does not know. If not, it is passed to functions, which
  /// may index it in any way.
  bool has_unknown_index;
  bool is_guarded;  ///< it is the value of a Guarded
  std::size_t element_bytes;
  Site declared;
};

/// The running thread reaches the declaration.
void local_array_begins(void* address, std::size_t bytes, const LocalArray* array);
/// The running thread reaches the end of the array's block; only for guarded arrays.
void local_array_ends(const volatile void* address);

/// Stands before and after a local array: while races are looked for no access may touch it.
struct Guard {
  Guard() {}  // NOLINT: nothing is stored
  char bytes[32];
};
template <class T>
struct Guarded {
  alignas(16) Guard before;
  T value;
  Guard after;
  ~Guarded() { local_array_ends(&value); }
};
/// The same without an initialiser.
template <class T>
struct GuardedRoom : Guarded<T> {
  GuardedRoom() {}  // NOLINT: the value stays as it is
};

/// Nobody uses what the last atomic of this thread returned. The pre-pass calls it.
void result_is_unused();

// The compiler's own names of functions that copy. It makes loads and stores of these, and tells of
// none; calls of the C library are seen. They have a namespace of their own, since those who call
// them with pointers to the backend's types would find these; and clang takes a constexpr function
// that is never constant only for a template.
namespace seen {
#define CUDA_CPU_COPY(name, Value)                                                       \
  template <class = void>                                                                \
  __attribute__((always_inline)) constexpr void* __builtin_##name(void* to, Value value, \
                                                                  std::size_t bytes) {   \
    return __builtin_is_constant_evaluated() ? ::__builtin_##name(to, value, bytes)      \
                                             : ::name(to, value, bytes);                 \
  }
CUDA_CPU_COPY(memcpy, const void*)
CUDA_CPU_COPY(memmove, const void*)
CUDA_CPU_COPY(memset, int)
#undef CUDA_CPU_COPY
}  // namespace seen

}  // namespace cuda_cpu

// The pre-pass puts it before these names; without this file it stands for nothing.
#undef CUDA_CPU_SEEN
#define CUDA_CPU_SEEN ::cuda_cpu::seen::
