// SPDX-License-Identifier: MIT
// Copies from global to shared memory that a thread begins and waits for later. Here each is made
// as late as it may be: when the thread waits for it, and never if nobody does. So a kernel that
// forgets the wait fails under every schedule. From its beginning until then the destination holds
// 0xff bytes. The source is read when the copy is made; a program that changes it before is wrong.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../state/block.h"
#include "../state/copy_queue.h"
#include "../state/hooks.h"
#include "../state/uninstrumented.h"

namespace cuda_cpu {

/// The queue of a thread.
CopyQueue& copy_queue_of(Block* block, const Thread* thread);

/// Makes the first of these copies, and tells the observer. `barrier`: whose phase it belonged to.
void make_first_copy(Block* block, AsyncCopies* copies, const void* barrier);

/// Told, if somebody wants to know, when a piece of a bulk copy has come.
inline void (*bulk_piece_has_come)(Block* block, const AsyncCopy& copy) = nullptr;

/// A copy of the running thread, whose destination is unknown from now on. It belongs to no queue.
AsyncCopy begin_unmade_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros,
                            Site site);

/// The running thread begins a copy that is part of its next commit group. Stops the kernel unless
/// `bytes` is 4, 8 or 16, both addresses are aligned to that, and they lie in shared and in global
/// memory.
void begin_async_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros, Site site);

/// The same for a piece of a larger copy: of 1, 2, 4, 8 or 16 bytes, between any kinds of memory.
void begin_piece(void* to, const void* from, std::size_t bytes, Site site);

/// Stops the kernel unless both addresses and the number of bytes are multiples of `alignment`, as
/// the program says.
void check_copy_is_aligned(const void* to, const void* from, std::size_t bytes,
                           std::size_t alignment, Site site);

/// Closes the running thread's commit group, even an empty one.
void commit_async_copies();

/// Makes the copies of all commit groups that the running thread has closed but the last `left`.
void wait_for_async_copies(std::size_t left);

/// Before every block: forgets what an abandoned one has left. After every block: reports copies
/// that were never waited for, and returns a CUDA error code.
void begin_async_copies(Block* block);
int finish_async_copies(Block* block);

/// Begins the running thread's part of what `threads` threads copy together: pieces as large as the
/// addresses and the number of bytes allow, one after the other. (A GPU may take larger ones, and
/// copy what is left of an odd number byte by byte.)
CUDA_CPU_TELLING void begin_part_of_copy(unsigned rank, unsigned threads, void* to,
                                         const void* from, std::size_t bytes, Site site) {
  const std::uintptr_t all =
      reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes | 16;
  const std::size_t piece = all & (~all + 1);
  for (std::size_t at = rank * piece; at < bytes; at += threads * piece) {
    begin_piece(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, piece, site);
#if defined(CUDA_CPU_XRAY)
    async_copy_begins(static_cast<char*>(to) + at, piece, static_cast<const char*>(from) + at,
                      piece);
#endif
  }
}

}  // namespace cuda_cpu

/// Begins a copy of 4, 8 or 16 bytes from global to shared memory; the last `zfill` bytes are not
/// read but become 0.
CUDA_CPU_TELLING void __pipeline_memcpy_async(void* to_shared, const void* from_global,
                                              std::size_t bytes, std::size_t zfill = 0,
                                              CUDA_CPU_HERE) {
  cuda_cpu::begin_async_copy(to_shared, from_global, bytes, zfill, {file, line});
#if defined(CUDA_CPU_XRAY)
  cuda_cpu::async_copy_begins(to_shared, bytes, from_global, bytes - zfill);
#endif
}

/// The copies since the last call become a commit group.
inline void __pipeline_commit() { cuda_cpu::commit_async_copies(); }

/// Waits for the running thread's commit groups but the last `prior`, which CUDA counts up to 8.
/// What other threads copy they wait for themselves; a barrier after that tells everybody.
inline void __pipeline_wait_prior(std::size_t prior) {
  cuda_cpu::wait_for_async_copies(prior < 8 ? prior : 8);
}
