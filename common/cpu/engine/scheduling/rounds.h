// SPDX-License-Identifier: MIT
// The order in which a worker looks at the threads of a block, round by round.
#pragma once

namespace cuda_cpu {

struct Block;
struct Worker;

/// The next thread to look at is the first of the order.
void new_round(Worker* worker, Block* block);

/// Puts the threads of a block into a random order.
void shuffle_order(Worker* worker, Block* block);

}  // namespace cuda_cpu
