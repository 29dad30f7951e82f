// SPDX-License-Identifier: MIT
// The blocks that a worker has at one time: a single one, unless blocks wait for each other.
#pragma once

namespace cuda_cpu {

struct Block;
struct Worker;

/// The next thread of the block to look at is the first of the order, which is a new one where it
/// is random.
void new_round(const Worker* worker, Block* block);

/// One more resident block for the worker, made current. False: the grid has none left.
bool add_block(Worker* worker);

/// The current block is done. Makes another one current; false when the grid has none for this
/// worker.
bool finish_block(Worker* worker);

/// The current block waits for other blocks: the next resident one has its turn, then a new one if
/// there is room, as on a multiprocessor; at last other workers.
void rotate_blocks(Worker* worker);

}  // namespace cuda_cpu
