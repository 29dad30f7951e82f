// SPDX-License-Identifier: MIT
#include "rounds.h"

#include <utility>

#include "../state/block.h"
#include "../state/worker.h"
#include "random_order.h"

namespace cuda_cpu {

void shuffle_order(Worker* worker, Block* block) {
  for (std::uint32_t i = block->count; i > 1; --i) {
    const auto j =
        static_cast<std::uint32_t>(((next_random(&worker->random_state) >> 32) * i) >> 32);
    std::swap(block->order[i - 1], block->order[j]);
  }
}

void new_round(Worker* worker, Block* block) {
  if (worker->grid->schedule.kind == Schedule::Kind::kRandom) shuffle_order(worker, block);
  block->position = ~0u;
  block->warp_turns = 0;
}

}  // namespace cuda_cpu
