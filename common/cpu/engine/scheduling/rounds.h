// SPDX-License-Identifier: MIT
// The order in which a worker looks at the threads of a block, round by round.
#pragma once

namespace cuda_cpu {

struct Block;
struct Worker;

/// The next thread to look at is the first of the order, which is a new one where it is random.
void new_round(const Worker* worker, Block* block);

}  // namespace cuda_cpu
