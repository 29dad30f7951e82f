// SPDX-License-Identifier: MIT
#include "barriers.h"

#include <cstring>

#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"
#include "../diagnosis/stuck.h"
#include "../scheduling/resident_blocks.h"
#include "../scheduling/scheduler.h"
#include "../state/block.h"
#include "../state/current.h"
#include "../state/leaving.h"
#include "../state/observer.h"
#include "../state/worker.h"

namespace cuda_cpu {

namespace {

// A block may poll for what another block has to do, with a barrier in its loop. So it gives up its
// turn after this many barriers.
constexpr std::uint32_t kBarriersPerTurn = 4096;

// Whether threads of the block wait at another barrier than this one. Different pointers may name
// the same file.
bool barriers_differ(const Block* block, const char* file, int line, std::uint8_t which) {
  for (std::uint32_t i = 0; i < block->count; ++i) {
    const Thread& thread = block->threads[i];
    if (thread.finished) continue;
    if (thread.line != line || thread.which != which) return true;
    if (thread.file != file && std::strcmp(thread.file, file) != 0) return true;
  }
  return false;
}

// The last thread has arrived: the barrier opens and the threads go on in the schedule's order.
void open_barrier(Block* block) {
  // The report comes only now that all threads are here, so that it can say which waits where.
  if (block->lines_differ && barriers_differ(block, block->file, block->line, block->which)) {
    abandon_grid(report_stuck_block(block));
  }
  if (block->observation != nullptr) observer->barrier_opens(*block);
  block->lines_differ = false;
  block->votes_result = block->votes;
  block->voters = block->arrived;
  block->votes = 0;
  block->arrived = 0;
  ++block->epoch;
  ++current_worker->barriers;
  new_round(current_worker, block);
  block->step_line = block->last != nullptr && block->voters == block->count ? 0 : -1;
  if (block->epoch % kBarriersPerTurn == 0) rotate_blocks(current_worker);
}

__attribute__((noinline)) void open_and_run_others(Block* block, Thread* self) {
  open_barrier(block);
  run_others(current_block, self);
}

// The hot path of the engine. Each call in it comes last, so that it saves no registers besides
// those of the context switch.
inline void step_on(Thread* self) {
  Thread* const next = self + 1;
  // Much of what a switch costs is waiting for the other stack, so two further ones are on their
  // way by then. There is room for two more threads than a block can have.
  const void* const soon = next[2].context;
  __builtin_prefetch(soon);
  __builtin_prefetch(static_cast<const char*>(soon) + 64);
  current_thread = next;
  running_thread_index = next->index;
  cuda_cpu_switch_context(&self->context, next->context);
}

__attribute__((noinline)) void wait_at_barrier(Block* block, Thread* self, const char* file,
                                               int line, std::uint8_t which) {
  if (block->step_line == 0 && which == 0) {
    block->file = file;
    block->step_line = block->line = line;
    block->which = 0;
    return step_on(self);
  }
  if (block->step_line == line && block->file == file && which == 0) {
    block->arrived = block->count;
    return open_and_run_others(block, self);
  }
  leave_step(block);
  self->begin_wait(Wait::kBarrier, &block->epoch, block->epoch, file, line);
  self->which = which;
  if (block->arrived == 0) {
    block->file = file;
    block->line = line;
    block->which = which;
  } else if (block->line != line || block->file != file || block->which != which) {
    block->lines_differ = true;
  }
  if (++block->arrived == block->count) return open_and_run_others(block, self);
  run_others(block, self);
}

}  // namespace

void block_barrier(const char* file, int line, std::uint8_t which) {
  Thread* const self = current_thread;
  if (__builtin_expect(self == nullptr, 0)) die("__syncthreads called outside of a kernel");
  Block* const block = current_block;
  // Some thread between the first and the last, in step.
  if (block->step_line == line && block->file == file && which == 0 && self != block->last) {
    return step_on(self);
  }
  wait_at_barrier(block, self, file, line, which);
}

BarrierVotes block_barrier_vote(int predicate, const char* file, int line, std::uint8_t which) {
  if (current_thread == nullptr) die("__syncthreads_count called outside of a kernel");
  Block* const block = current_block;
  if (predicate != 0) ++block->votes;
  block_barrier(file, line, which);
  // The next barrier cannot open, and change the result, before this thread arrives there.
  const std::uint32_t votes = block->votes_result;
  return {static_cast<int>(votes), votes == block->voters, votes != 0};
}

void grid_sync(const char* file, int line, std::uint8_t which) {
  Thread* const self = current_thread;
  if (self == nullptr) die("the grid barrier called outside of a kernel");
  Block* const block = current_block;
  Grid* const grid = current_worker->grid;
  if (!grid->launch->cooperative) {
    stop_grid(report_here(
        "grid barrier in a launch that is not cooperative", {file, line}, cudaErrorLaunchFailure,
        {}, "launch with cudaLaunchCooperativeKernel, so that all blocks are resident together"));
  }
  if (block->observation != nullptr) observer->thread_meets(*block, ~0u);
  self->begin_wait(Wait::kGrid, &grid->epoch, __atomic_load_n(&grid->epoch, __ATOMIC_ACQUIRE), file,
                   line);
  self->which = which;
  if (++block->grid_arrived == block->count) {
    if (barriers_differ(block, file, line, which)) abandon_grid(report_stuck_block(block));
    block->grid_arrived = 0;
    ++current_worker->barriers;
    if (grid->blocks_arrived.fetch_add(1) + 1 == grid->blocks) {
      grid->blocks_arrived.store(0);
      if (grid->observed) observer->grid_barrier_opens();
      __atomic_fetch_add(&grid->epoch, 1, __ATOMIC_RELEASE);
    }
  }
  reschedule(self);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

bool grid_is_cooperative() { return in_kernel() && current_worker->grid->launch->cooperative; }

}  // namespace cuda_cpu
