// SPDX-License-Identifier: MIT
// Barriers of the program's own, in shared memory (cuda::barrier). Threads arrive; when as many
// have arrived as the barrier expects, its phase ends and the next one begins. Any thread may wait
// for the end of a phase, also one that does not arrive. Asynchronous copies can belong to a phase,
// and are made when somebody has waited for it.
//
// An mbarrier (PTX) is the same, and counts bytes as well: its phase ends when all that were
// expected have come. The bulk copies that bring them come as late as they may: when the arrivals
// are complete and somebody waits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../state/block.h"
#include "../state/phase_barrier.h"

namespace cuda_cpu {

struct UncountedCopies;

/// A call in the program, for reports.
struct PhaseCall {
  const char* name;  // "cuda::barrier::wait"; that of an mbarrier begins "mbarrier" or "cp.async"
  const char* file;
  int line;
};

/// cuda::barrier's init. `object` has 8 bytes.
void make_phase_barrier(void* object, std::ptrdiff_t expected, const PhaseCall& call);

/// Arrives `times` times; returns the phase. `drops`: one arrival less is expected from the next
/// phase on.
/// `bytes`: that an mbarrier expects from now on.
std::uint32_t arrive_at_phase(const void* object, std::ptrdiff_t times, bool drops,
                              const PhaseCall& call, unsigned bytes = 0);

/// Waits until the phase has ended.
void wait_for_phase(const void* object, std::uint32_t phase, const PhaseCall& call);

/// Whether it has; other threads run if it has not.
bool phase_has_ended(const void* object, std::uint32_t phase, const PhaseCall& call);

/// Waits until the latest phase with an odd or even number has ended: the one that goes on, or the
/// one before it, also that before the first.
void wait_for_parity(const void* object, bool odd, const PhaseCall& call);

/// The copies of the running thread's open commit group belong to the barrier's phase from now on.
void hand_copies_to_phase(const void* object, const PhaseCall& call);

/// What follows an mbarrier's init, so that bulk copies see it: for all of the running block.
void fence_phase_barriers();

/// A bulk copy of so many bytes begins, in these pieces, for the phase that goes on. Where a piece
/// reads less than it writes, zeros follow.
void begin_bulk_copy(const void* object, std::size_t bytes, UncountedCopies pieces,
                     const PhaseCall& call);

/// Waits for the other threads of a tile of several warps: those of its block from `first` on.
/// `threads`: that there are, of `size`. Returns what each of them brought; it stays until they
/// meet to bring something else.
const void* const* sync_large_tile(unsigned size, unsigned first, unsigned threads,
                                   const PhaseCall& call, const void* brings = nullptr);

/// Before every block.
void begin_phase_barriers(Block* block);

}  // namespace cuda_cpu
