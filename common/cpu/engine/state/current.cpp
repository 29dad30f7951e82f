// SPDX-License-Identifier: MIT
#include "current.h"

#include "block.h"
#include "worker.h"

namespace cuda_cpu {

__thread Thread* current_thread = nullptr;
__thread Block* current_block = nullptr;
__thread Worker* current_worker = nullptr;

__thread uint3 running_thread_index;
__thread uint3 running_block_index;
__thread dim3 running_block_dim;
__thread dim3 running_grid_dim;

bool in_kernel() { return current_thread != nullptr; }

unsigned number_in_block() {
  return static_cast<unsigned>(current_thread - current_block->threads);
}

Where where_is(const Block* block, const Thread* thread) {
  const GridLaunch* const launch = current_worker->grid->launch;
  return Where{true, launch->kernel, launch->grid, launch->block, block->index, thread->index};
}

Where where() {
  if (!in_kernel()) return Where{};
  return where_is(current_block, current_thread);
}

}  // namespace cuda_cpu
