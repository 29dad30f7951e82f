// SPDX-License-Identifier: MIT
// Reports about blocks that cannot go on: which threads wait, left or spin, and where.
#pragma once

namespace cuda_cpu {

struct Block;
struct Worker;

/// Nothing in the block can run any more. Returns the CUDA error.
int report_stuck_block(const Block* block);

/// The same for a worker that was stopped because it made no progress; `fault` holds its pc.
int report_no_progress(const Worker* worker);

}  // namespace cuda_cpu
