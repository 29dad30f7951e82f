// SPDX-License-Identifier: MIT
// Hears from scheduling what becomes of blocks and threads.
#include "../scheduling/meetings.h"
#include "async_copies.h"
#include "phase_barriers.h"
#include "warp.h"

namespace cuda_cpu {

namespace {

void block_begins(Block* block) {
  begin_async_copies(block);
  begin_phase_barriers(block);
}

__attribute__((constructor(101))) void listen_to_scheduling() {
  meetings = {block_begins, finish_async_copies, release_active_mask};
}

}  // namespace

}  // namespace cuda_cpu
