// SPDX-License-Identifier: MIT
// The functions that the compiler calls before every load and store of a program that is compiled
// with -fsanitize=thread. The program is not linked with the race checker; these functions take the
// race checker's place. Their names and types are the compiler's. X-ray or our own race detector
// (../races) is told, whichever watches.
#include "../engine/state/hooks.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../engine/memory/unwritten.h"
#include "../engine/scheduling/yielding.h"
#include "../engine/state/current.h"
#include "../engine/state/observer.h"
#include "../libs/textures/fetches.h"
#include "../races/detector.h"
#include "../races/locals.h"
#include "../xray/lanes.h"

// The place after the access in the code.
#define PLACE __builtin_return_address(0)

namespace {

using xray::Operation;

constexpr unsigned use_of(Operation operation) {
  return operation == Operation::kLoad ? unsigned{races::kReads}
         : operation == Operation::kStore
             ? unsigned{races::kWrites}
             : unsigned{races::kReads} | races::kWrites | races::kStrong;
}

__attribute__((noinline)) void note_for_xray(const void* address, std::size_t bytes,
                                             Operation operation, const void* place,
                                             xray::Form form) {
  xray::note_access(address,
                    xray::Instruction{place, operation, static_cast<std::uint8_t>(bytes), form});
}

/// `more`: bits of races::Use besides those that the operation brings.
void note(const void* address, std::size_t bytes, Operation operation, const void* place,
          unsigned more = 0, xray::Form form = xray::Form::kPlain) {
  if (races::launch_is_passed_over) return;
  if (races::are_looked_for) {
    races::note_access(address, bytes, use_of(operation) | more, place);
  } else {
    note_for_xray(address, bytes, operation, place, form);
  }
}

/// A plain load or store that is aligned; there are more of these than of all others.
__attribute__((always_inline)) inline void note_plain(const void* address, std::size_t bytes,
                                                      Operation operation, const void* place) {
  if (races::launch_is_passed_over) return;
  if (races::are_looked_for && races::is_own_local(address, operation != Operation::kLoad, place)) {
    return;
  }
  if (cuda_cpu::current_thread == nullptr) {
    if (cuda_cpu::host_is_behind) races::note_host(address, bytes, use_of(operation), place);
    return;
  }
  if (races::Shadow::is_ignored(address)) return;  // only while races are looked for
  if (!races::are_looked_for) {
    note_for_xray(address, bytes, operation, place, xray::Form::kPlain);
  } else if (bytes == 4 && operation == Operation::kLoad) {
    races::note_word_read(address, place);
  } else if (bytes >= 4) {
    races::note_words(address, bytes, use_of(operation), place);
  } else {
    races::note_access(address, bytes, use_of(operation), place);
  }
}

// The largest pieces in which nvcc can copy a structure of this size: its alignment divides its
// size.
std::size_t largest_piece(std::size_t bytes) {
  std::size_t piece = 16;
  while (bytes % piece != 0) piece /= 2;
  return piece;
}

void note_pieces(const void* range, std::size_t bytes, std::size_t largest, Operation operation,
                 const void* place) {
  auto* address = static_cast<const char*>(range);
  while (bytes > 0) {
    std::size_t piece = largest;
    while (piece > bytes || reinterpret_cast<std::uintptr_t>(address) % piece != 0) piece /= 2;
    note(address, piece, operation, place);
    address += piece;
    bytes -= piece;
  }
}

// An aligned access of 2, 4, 8 or 16 bytes is never reported as a range. So a range of such a size
// is aligned to less than its size; it is taken to be aligned to 4 bytes at most.
void note_range(const void* range, std::size_t bytes, Operation operation, const void* place) {
  std::size_t largest = largest_piece(bytes);
  if (largest == bytes && bytes > 1) largest = bytes >= 8 ? 4 : bytes / 2;
  note_pieces(range, bytes, largest, operation, place);
}

// A call of memcpy, memmove or memset in device code, or a structure that clang copies so. Noting
// an access may copy memory, too; the host's own copies are nobody's concern here. `from`: null for
// memset.
void note_copy(const void* to, const void* from, std::size_t bytes, const void* place) {
  static __thread bool inside;
  if (inside || bytes == 0) return;
  if (cuda_cpu::current_thread == nullptr && cuda_cpu::host_is_behind) {
    if (from != nullptr) races::note_host(from, bytes, races::kReads, place);
    races::note_host(to, bytes, races::kWrites, place);
  }
  if (!cuda_cpu::in_kernel()) return;
  inside = true;
  if (from != nullptr) note_pieces(from, bytes, largest_piece(bytes), Operation::kLoad, place);
  note_pieces(to, bytes, largest_piece(bytes), Operation::kStore, place);
  inside = false;
}

constexpr unsigned kVolatileUse = races::kStrong | races::kVolatile;

/// An atomic of C++, with what its order does (the compiler's numbers for std::memory_order).
void note_atomic(const volatile void* address, std::size_t bytes, Operation operation, int order,
                 const void* place) {
  auto* const plain = const_cast<const void*>(address);
  note(plain, bytes, operation, place, races::kStrong);
  const bool both = order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
  cuda_cpu::order_is_made(plain, both || order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME,
                          both || order == __ATOMIC_RELEASE, false);
}

template <class T>
bool exchange_if_equal(volatile T* address, T* expected, T desired) {
  return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}

}  // namespace

namespace cuda_cpu {

__attribute__((noinline)) void atomic_begins(const void* address, std::size_t bytes,
                                             AtomicKind kind, bool block_only) {
  const bool swaps = kind == AtomicKind::kCompareAndSwap;
  // It may be what sets the word for the first time.
  if (kind == AtomicKind::kExchange) set_unwritten(address, bytes, false);
  note(address, bytes, Operation::kAtomic, PLACE,
       (block_only ? unsigned{races::kBlockOnly} : 0u) | (swaps ? unsigned{races::kSwap} : 0u),
       kind == AtomicKind::kIncrement ? xray::Form::kIncrement
       : swaps                        ? xray::Form::kCompareAndSwap
                                      : xray::Form::kPlain);
}

__attribute__((noinline)) void fresh_load_begins(const void* address, std::size_t bytes) {
  note(address, bytes, Operation::kLoad, PLACE, races::kStrong);
}

__attribute__((noinline)) void strong_store_begins(const void* address, std::size_t bytes) {
  note(address, bytes, Operation::kStore, PLACE, races::kStrong);
}

__attribute__((noinline)) void texels_are_read(const TexelsRead& read) {
  if (!races::are_looked_for) return;
  for (int i = 0; i < read.count; ++i) {
    races::note_access(read.address[i], static_cast<std::size_t>(read.bytes),
                       races::kTexel | races::kReads, PLACE);
  }
}

__attribute__((noinline)) void async_copy_begins(const void* to, std::size_t bytes,
                                                 const void* from, std::size_t read) {
  if (races::are_looked_for) {
    races::note_async_copy(to, bytes, from, read, PLACE);
    return;
  }
  // A load and a store, as in two instructions. The one instruction that does both (LDGSTS) counts
  // as a load from global memory, and has counters of its own for what it stores. Wavefronts of the
  // store follow from where it lands alone; where that does not lie as the source does, or the
  // source is scattered, an H200 takes more.
  if (read > 0 && bytes == 16) {
    xray::note_copied_load(from, to, PLACE);
  } else if (read > 0) {
    note_for_xray(from, bytes, Operation::kLoad, PLACE, xray::Form::kPlain);
  }
  note_for_xray(to, bytes, Operation::kStore, PLACE, xray::Form::kPlain);
}

__attribute__((noinline)) void uncounted_copies_begin(UncountedCopies copies) {
  if (!races::are_looked_for) return xray::note_others_copy();
  for (std::size_t i = 0; i < copies.count; ++i) {
    const UncountedCopy& one = copies.begin[i];
    races::note_async_copy(one.writes_itself ? nullptr : one.to, one.writes_itself ? 0 : one.bytes,
                           one.from, one.read, PLACE);
    if (one.writes_itself) races::note_access(one.to, one.bytes, races::kWrites, PLACE);
  }
}

__attribute__((noinline)) void uncounted_use_begins(const void* address, std::size_t bytes,
                                                    bool writes) {
  if (!races::are_looked_for) return;
  races::note_access(address, bytes, writes ? races::kWrites : races::kReads, PLACE);
}

const void* read_as_constant(const void* address) {
  if (races::are_looked_for) races::next_read_is_constant(address);
  return address;
}

void order_is_made(const void* address, bool acquires, bool releases, bool block_only) {
  if (races::are_looked_for) races::note_order(address, acquires, releases, block_only);
}

void make_fence(bool block_only) {
  if (races::are_looked_for) races::note_fence(block_only);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void launch_before_is_waited_for() {
  if (races::are_looked_for) races::note_wait_for_launch_before();
}

void next_launch_may_start() {
  if (races::are_looked_for) races::note_start_of_next_launch();
}

void local_array_begins(void* address, std::size_t bytes, const LocalArray* array) {
  if (!races::are_looked_for) {
    xray::note_local_array(address, bytes, array);
  } else if (array->is_guarded && !races::launch_is_passed_over) {
    races::guard(address, bytes, array);
  }
}

void local_array_ends(const volatile void* address) {
  if (races::are_looked_for && !races::launch_is_passed_over) {
    races::unguard(const_cast<const void*>(address));
  }
}

void result_is_unused() {
  if (!races::are_looked_for) xray::note_unused_result();
}

}  // namespace cuda_cpu

extern "C" {

void __tsan_init() {}
// Called by every function that is not inlined; `from` is the place that called it.
void __tsan_func_entry(void* from) {
  if (!races::are_looked_for) xray::note_entry(from);
}
void __tsan_func_exit() {
  if (!races::are_looked_for) xray::note_exit();
}
// -fsanitize-coverage=trace-pc: at the beginning of every piece of code between jumps. So a loop is
// seen to turn even where it makes no access.
void __sanitizer_cov_trace_pc() {
  if (!races::are_looked_for) xray::note_place(PLACE);
}
// A constructor stores where the virtual functions are; the first word of the object is written.
void __tsan_vptr_update(void** p, void*) { note_plain(p, sizeof *p, Operation::kStore, PLACE); }
void __tsan_vptr_read(void**) {}

// Unaligned: the type is aligned to less than its size.
#define XRAY_PLAIN(bytes)                                                                         \
  void __tsan_read##bytes(void* p) { note_plain(p, bytes, Operation::kLoad, PLACE); }             \
  void __tsan_write##bytes(void* p) { note_plain(p, bytes, Operation::kStore, PLACE); }           \
  void __tsan_unaligned_read##bytes(void* p) { note_range(p, bytes, Operation::kLoad, PLACE); }   \
  void __tsan_unaligned_write##bytes(void* p) { note_range(p, bytes, Operation::kStore, PLACE); } \
  void __tsan_volatile_read##bytes(void* p) {                                                     \
    cuda_cpu::count_volatile_read(PLACE);                                                         \
    note(p, bytes, Operation::kLoad, PLACE, kVolatileUse);                                        \
  }                                                                                               \
  void __tsan_volatile_write##bytes(void* p) {                                                    \
    note(p, bytes, Operation::kStore, PLACE, kVolatileUse);                                       \
  }

XRAY_PLAIN(1)
XRAY_PLAIN(2)
XRAY_PLAIN(4)
XRAY_PLAIN(8)
XRAY_PLAIN(16)

void __tsan_read_range(void* p, std::size_t bytes) {
  note_range(p, bytes, Operation::kLoad, PLACE);
}
void __tsan_write_range(void* p, std::size_t bytes) {
  note_range(p, bytes, Operation::kStore, PLACE);
}

// Named so by clang 16 and later; for other compilers the linker replaces the program's calls.
#define XRAY_COPIES(prefix)                                              \
  void* prefix##memcpy(void* to, const void* from, std::size_t bytes) {  \
    note_copy(to, from, bytes, PLACE);                                   \
    return std::memmove(to, from, bytes);                                \
  }                                                                      \
  void* prefix##memmove(void* to, const void* from, std::size_t bytes) { \
    note_copy(to, from, bytes, PLACE);                                   \
    return std::memmove(to, from, bytes);                                \
  }                                                                      \
  void* prefix##memset(void* to, int value, std::size_t bytes) {         \
    note_copy(to, nullptr, bytes, PLACE);                                \
    return std::memset(to, value, bytes);                                \
  }

XRAY_COPIES(__tsan_)
XRAY_COPIES(__wrap_)

// Atomic operations of C++; CUDA's own call atomic_begins. They are sequentially consistent,
// whichever order the program asks for: stronger is always allowed.
#define XRAY_ATOMIC(bits, T)                                                        \
  T __tsan_atomic##bits##_load(const volatile T* p, int order) {                    \
    note_atomic(p, sizeof(T), Operation::kLoad, order, PLACE);                      \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                    \
  }                                                                                 \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int order) {                 \
    note_atomic(p, sizeof(T), Operation::kStore, order, PLACE);                     \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                       \
  }                                                                                 \
  XRAY_UPDATE(bits, T, exchange, exchange_n)                                        \
  XRAY_UPDATE(bits, T, fetch_add, fetch_add)                                        \
  XRAY_UPDATE(bits, T, fetch_sub, fetch_sub)                                        \
  XRAY_UPDATE(bits, T, fetch_and, fetch_and)                                        \
  XRAY_UPDATE(bits, T, fetch_or, fetch_or)                                          \
  XRAY_UPDATE(bits, T, fetch_xor, fetch_xor)                                        \
  XRAY_UPDATE(bits, T, fetch_nand, fetch_nand)                                      \
  XRAY_SWAP(bits, T, strong)                                                        \
  XRAY_SWAP(bits, T, weak)                                                          \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T c, T v, int, int) { \
    note(const_cast<const T*>(p), sizeof(T), Operation::kAtomic, PLACE);            \
    exchange_if_equal(p, &c, v);                                                    \
    return c;                                                                       \
  }

#define XRAY_UPDATE(bits, T, name, builtin)                       \
  T __tsan_atomic##bits##_##name(volatile T* p, T v, int order) { \
    note_atomic(p, sizeof(T), Operation::kAtomic, order, PLACE);  \
    return __atomic_##builtin(p, v, __ATOMIC_SEQ_CST);            \
  }

#define XRAY_SWAP(bits, T, strength)                                                          \
  bool __tsan_atomic##bits##_compare_exchange_##strength(volatile T* p, T* c, T v, int order, \
                                                         int) {                               \
    note_atomic(p, sizeof(T), Operation::kAtomic, order, PLACE);                              \
    return exchange_if_equal(p, c, v);                                                        \
  }

XRAY_ATOMIC(8, std::uint8_t)
XRAY_ATOMIC(16, std::uint16_t)
XRAY_ATOMIC(32, std::uint32_t)
XRAY_ATOMIC(64, std::uint64_t)

void __tsan_atomic_thread_fence(int) { cuda_cpu::make_fence(false); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}
