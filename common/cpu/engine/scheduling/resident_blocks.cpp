// SPDX-License-Identifier: MIT
#include "resident_blocks.h"

#include <sched.h>
#include <time.h>

#include <cstdlib>
#include <new>
#include <numeric>
#include <utility>

#include "../../report/diagnostics.h"
#include "../memory/shared.h"
#include "../memory/stacks.h"
#include "../state/block.h"
#include "../state/current.h"
#include "../state/device_limits.h"
#include "../state/leaving.h"
#include "../state/observer.h"
#include "../state/printing.h"
#include "../state/sanitizers.h"
#include "../state/worker.h"
#include "meetings.h"
#include "random_order.h"

namespace cuda_cpu {

namespace {

template <class T>
T* zeroed(std::size_t count) {
  // calloc: pages of threads and warps that no launch uses are never touched.
  auto* const memory = static_cast<T*>(std::calloc(count, sizeof(T)));
  if (memory == nullptr) die("out of memory");
  return memory;
}

Block* new_block() {
  auto* const block = new Block;
  void* threads = nullptr;
  if (posix_memalign(&threads, alignof(Thread), (kMaxThreadsPerBlock + 2) * sizeof(Thread)) != 0) {
    die("out of memory");
  }
  block->threads = static_cast<Thread*>(threads);
  block->order = zeroed<std::uint16_t>(kMaxThreadsPerBlock + 1);
  block->warps = zeroed<Warp>(kMaxThreadsPerBlock / kWarpSize);
  if (kAsan) block->stacks = zeroed<Stack*>(kMaxThreadsPerBlock);
  return block;
}

Block* spare_block(Worker* worker) {
  const Grid* const grid = worker->grid;
  if (worker->spare.empty()) worker->spare.push_back(new_block());
  Block* const block = worker->spare.back();
  worker->spare.pop_back();
  if (block->grid_serial == grid->serial) return block;
  block->grid_serial = grid->serial;
  const dim3 dim = grid->launch->block;
  block->count = grid->threads_per_block;
  for (std::uint32_t i = 0; i < block->count; ++i) {
    Thread* const thread = new (&block->threads[i]) Thread;
    thread->generation = &kNeverRunnable;
    thread->index = uint3{i % dim.x, i / dim.x % dim.y, i / (dim.x * dim.y)};
    block->order[i] = static_cast<std::uint16_t>(
        grid->schedule.kind == Schedule::Kind::kReverse ? block->count - 1 - i : i);
  }
  block->last = nullptr;
  if (!kAsan && block->count > 1 && grid->schedule.kind == Schedule::Kind::kForward) {
    block->last = &block->threads[block->count - 1];
  }
  // A mask may stand for other lanes now: the last warp of a block can be short.
  for (std::uint32_t i = 0; i < block->count; i += 32) {
    block->warps[i / 32].used = 0;
    block->warps[i / 32].undefined = UndefinedLanes{};
  }
  block->dynamic_shared_bytes = grid->launch->dynamic_shared_bytes;
  return block;
}

void begin_block(Worker* worker, Block* block, std::uint64_t number) {
  const Grid* const grid = worker->grid;
  const dim3 dim = grid->launch->grid;
  const std::uint64_t rest = number / dim.x;
  block->index = uint3{static_cast<unsigned>(number % dim.x), static_cast<unsigned>(rest % dim.y),
                       static_cast<unsigned>(rest / dim.y)};
  static_cast<BlockProgress&>(*block) = BlockProgress{};
  ++block->serial;
  if (grid->schedule.kind == Schedule::Kind::kRandom) {
    // The order comes from the block alone, so that runs repeat whatever worker gets it.
    std::iota(block->order, block->order + block->count, std::uint16_t{0});
    block->random_state = grid->schedule.seed * 0x9e3779b97f4a7c15u + number;
    new_round(worker, block);
  }
  block->observation =
      grid->observed ? observer->block_begins(*block, number, grid->blocks) : nullptr;
  meetings.block_begins(block);
}

// Gives `block` the next block of the grid to run; false when none is left.
bool take_block(Worker* worker, Block* block) {
  Grid* const grid = worker->grid;
  if (grid->next_block.load(std::memory_order_relaxed) >= grid->blocks) return false;
  const std::uint64_t turn = grid->next_block.fetch_add(1, std::memory_order_relaxed);
  if (turn >= grid->blocks) return false;
  std::uint64_t number = turn;
  if (grid->schedule.kind == Schedule::Kind::kReverse) number = grid->blocks - 1 - turn;
  if (grid->schedule.kind == Schedule::Kind::kRandom) {
    number = permuted(turn, grid->blocks, grid->schedule.seed);
  }
  begin_block(worker, block, number);
  return true;
}

void make_current(Worker* worker, std::size_t position) {
  worker->live_position = position;
  current_block = worker->live[position];
  running_block_index = current_block->index;
}

}  // namespace

void new_round(const Worker* worker, Block* block) {
  if (worker->grid->schedule.kind == Schedule::Kind::kRandom) {
    for (std::uint32_t i = block->count; i > 1; --i) {
      const std::uint64_t random = next_random(&block->random_state) >> 32;
      std::swap(block->order[i - 1], block->order[random * i >> 32]);
    }
  }
  block->position = ~0u;
  block->warp_turns = 0;
}

bool add_block(Worker* worker) {
  Block* const block = spare_block(worker);
  if (!take_block(worker, block)) {
    worker->spare.push_back(block);
    return false;
  }
  worker->live.push_back(block);
  make_current(worker, worker->live.size() - 1);
  return true;
}

bool finish_block(Worker* worker) {
  Block* const block = current_block;
  if (const int error = meetings.block_ends(block)) abandon_grid(error);
  if (const int error = finish_shared(block)) abandon_grid(error);
  if (const int error = worker->grid->error.load(std::memory_order_relaxed)) abandon_grid(error);
  put_into_rows(block);
  if (block->observation != nullptr) observer->block_ends(*block);
  ++worker->ended;
  std::vector<Block*>& live = worker->live;
  if (live.size() == 1 && take_block(worker, block)) {
    make_current(worker, 0);
    return true;
  }
  // Other blocks are resident: they go on before a new one starts.
  live.erase(live.begin() + static_cast<std::ptrdiff_t>(worker->live_position));
  worker->spare.push_back(block);
  if (live.empty()) return false;
  make_current(worker, worker->live_position % live.size());
  return true;
}

void rotate_blocks(Worker* worker) {
  const std::size_t live = worker->live.size();
  if (worker->live_position + 1 < live) {
    make_current(worker, worker->live_position + 1);
    return;
  }
  const Grid* const grid = worker->grid;
  const bool room =
      live < kMaxBlocksPerWorker && (live + 1) * grid->threads_per_block <= kMaxThreadsPerWorker;
  if (room && grid->next_block.load(std::memory_order_relaxed) < grid->blocks &&
      add_block(worker)) {
    return;
  }
  make_current(worker, 0);
  const bool is_fruitless = worker->progress() == worker->progress_last_turn;
  worker->progress_last_turn = worker->progress();
  worker->fruitless_turns = is_fruitless ? worker->fruitless_turns + 1 : 0;
  if (!is_fruitless) return;
  if (worker->fruitless_turns < 64) {
    sched_yield();
  } else {
    const timespec pause{0, 50'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace cuda_cpu
