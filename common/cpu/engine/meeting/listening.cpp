// SPDX-License-Identifier: MIT
// Hears from scheduling what becomes of blocks and threads.
#include "../scheduling/meetings.h"
#include "async_copies.h"
#include "barriers.h"
#include "phase_barriers.h"
#include "warp.h"

namespace cuda_cpu {

namespace {

void block_begins(Block* block) {
  begin_async_copies(block);
  begin_phase_barriers(block);
}

void thread_left(Block* block, unsigned thread) {
  open_barrier_without(block);
  complete_warp_operations_without(block, thread);
}

__attribute__((constructor(101))) void listen_to_scheduling() {
  meetings = {block_begins, finish_async_copies, release_active_mask, thread_left};
}

}  // namespace

}  // namespace cuda_cpu
