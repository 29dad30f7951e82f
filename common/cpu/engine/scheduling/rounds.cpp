// SPDX-License-Identifier: MIT
#include "rounds.h"

#include <cstdint>
#include <utility>

#include "../state/block.h"
#include "../state/worker.h"
#include "random_order.h"

namespace cuda_cpu {

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

}  // namespace cuda_cpu
