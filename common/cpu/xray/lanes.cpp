// SPDX-License-Identifier: MIT
#include "lanes.h"

#include <algorithm>

#include "../engine/memory/memory.h"
#include "../engine/state/block.h"
#include "../engine/state/current.h"

namespace xray {
namespace {

BlockLanes* running_block() {
  const cuda_cpu::Block* const block = cuda_cpu::current_block;
  if (block == nullptr || cuda_cpu::current_thread == nullptr) return nullptr;
  return static_cast<BlockLanes*>(block->observation);
}

/// The running block if what its lanes do is kept.
BlockLanes* counted_block() {
  BlockLanes* const block = running_block();
  return block != nullptr && block->is_counted ? block : nullptr;
}

/// The lane of the running CUDA thread; `block` is the running block.
Lane& running_lane(BlockLanes* block) {
  const cuda_cpu::Thread* const first = cuda_cpu::current_block->threads;
  return block->lanes[static_cast<std::size_t>(cuda_cpu::current_thread - first)];
}

}  // namespace

CallTree::Chain CallTree::enter(Chain caller, const void* from) {
  Chain callee = nodes_[caller].first_callee;
  while (callee != 0 && nodes_[callee].from != from) callee = nodes_[callee].next_callee;
  if (callee == 0) {
    callee = static_cast<Chain>(nodes_.size());
    nodes_.push_back(Node{from, caller, 0, nodes_[caller].first_callee});
    nodes_[caller].first_callee = callee;
  }
  return callee;
}

void note_local_array(const void* address, std::size_t bytes, const cuda_cpu::LocalArray* array) {
  BlockLanes* const block = counted_block();
  if (block == nullptr) return;
  std::uint32_t number = 0;
  while (number < block->arrays.size() && block->arrays[number] != array) ++number;
  if (number == block->arrays.size()) block->arrays.push_back(array);
  const OwnArray own{reinterpret_cast<std::uintptr_t>(address), bytes, number};
  std::vector<OwnArray>& arrays = running_lane(block).arrays;
  const auto is_over = [&](const OwnArray& other) {
    return other.begin < own.begin + own.bytes && own.begin < other.begin + other.bytes;
  };
  arrays.erase(std::remove_if(arrays.begin(), arrays.end(), is_over), arrays.end());
  arrays.push_back(own);
  // Its initialiser has been executed by now.
  std::vector<LaneEvent>& events = running_lane(block).events;
  for (auto last = events.rbegin(); last != events.rend() && last->is_access(); ++last) {
    const std::uintptr_t offset = last->address() - own.begin;
    if (offset >= bytes) break;
    last->set_address(LocalPlace(number, offset).address());
  }
}

void note_access(const void* address, const Instruction& instruction) {
  BlockLanes* const block = running_block();
  if (block == nullptr) return;
  Lane& lane = running_lane(block);
  if (instruction.is_access()) ++lane.accesses;
  if (!block->is_counted) return;
  for (const OwnArray& array : lane.arrays) {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - array.begin;
    if (offset >= array.bytes) continue;
    address = LocalPlace(array.number, offset).address();
    break;
  }
  // A loop that never ends must not take all memory before the watchdog ends it.
  if (lane.events.size() >= kMostEvents) {
    block->too_many = true;
    return;
  }
  lane.events.push_back(LaneEvent(address, instruction, lane.calls));
}

void note_copied_load(const void* from, const void* to, const void* place) {
  cuda_cpu::MemoryRange array;
  const bool is_known = cuda_cpu::find_live_range(to, &array);
  const std::size_t landing = is_known ? reinterpret_cast<std::uintptr_t>(to) - array.base : 0;
  note_access(CopyPlace(from, landing).address(),
              Instruction{place, Operation::kLoad, 16, Form::kCopied});
}

void note_others_copy() {
  if (BlockLanes* const block = running_block()) block->has_others_copy = true;
}

void note_place(const void* place) {
  note_access(nullptr, Instruction{place, Operation::kLoad, 0, Form::kPlain});
}

void note_unused_result() {
  BlockLanes* const block = counted_block();
  if (block == nullptr) return;
  std::vector<LaneEvent>& events = running_lane(block).events;
  for (auto last = events.rbegin(); last != events.rend(); ++last) {
    if (last->is_atomic()) return last->result_is_unused();
  }
}

void note_entry(const void* from) {
  BlockLanes* const block = counted_block();
  if (block == nullptr) return;
  Lane& lane = running_lane(block);
  lane.calls = block->call_tree.enter(lane.calls, from);
}

void note_exit() {
  BlockLanes* const block = counted_block();
  if (block == nullptr) return;
  Lane& lane = running_lane(block);
  lane.calls = block->call_tree.caller_of(lane.calls);
}

}  // namespace xray
