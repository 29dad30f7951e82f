// SPDX-License-Identifier: MIT
// Hears from the engine when blocks begin and end, and when bulk copies come.
#include "../../engine/meeting/async_copies.h"
#include "../../engine/scheduling/meetings.h"
#include "bulk_copies.h"
#include "tensor_work.h"
#include "warp_groups.h"

namespace cuda_cpu {

namespace {

Meetings before;

void block_begins(Block* block) {
  if (block->tensors != nullptr) {
    block->tensors->proxy.clear();
    block->tensors->groups.clear();
    block->tensors->stores.clear();
  }
  before.block_begins(block);
}

int block_ends(Block* block) {
  if (block->tensors != nullptr) {
    for (const auto& group : block->tensors->groups) {
      const int error = group == nullptr ? 0 : finish_products(*block, *group);
      if (error != 0) return error;
    }
    if (const int error = finish_stores(*block, block->tensors->stores)) return error;
  }
  return before.block_ends(block);
}

void piece_has_come(Block* block, const AsyncCopy& copy) {
  if (block->tensors != nullptr) block->tensors->proxy.has_written(*block, copy.to, copy.bytes);
}

/// After meeting/listening.cpp.
__attribute__((constructor(102))) void listen_to_blocks() {
  before = meetings;
  meetings.block_begins = block_begins;
  meetings.block_ends = block_ends;
  bulk_piece_has_come = piece_has_come;
}

}  // namespace

}  // namespace cuda_cpu
