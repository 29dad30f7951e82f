// SPDX-License-Identifier: MIT
#include "warp.h"

#include <algorithm>
#include <string>
#include <utility>

#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"
#include "../scheduling/random_order.h"
#include "../scheduling/scheduler.h"
#include "../state/block.h"
#include "../state/current.h"
#include "../state/leaving.h"
#include "../state/observer.h"
#include "../state/settings.h"
#include "../state/worker.h"

namespace cuda_cpu {

namespace {

// A shuffle from a lane that takes no part reads this: CUDA leaves it undefined. As a float it is
// NaN.
constexpr std::uint64_t kNothingDefined = ~std::uint64_t{0};

[[noreturn]] void refuse_operation(const char* headline, std::string detail, std::string help,
                                   const char* file, int line, const Thread* culprit = nullptr) {
  Report r = report_here(headline, {file, line}, cudaErrorLaunchFailure, {std::move(detail)},
                         std::move(help));
  if (culprit != nullptr) r.where = where_is(current_block, culprit);
  stop_grid(r);
}

// The lanes that this warp has: the last warp of a block may be short.
std::uint32_t existing_lanes(const Block* block, unsigned warp) {
  const std::uint32_t lanes = block->count - warp * 32;
  return lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
}

template <class T, class Combine>
std::uint64_t reduce(const WarpSlot& slot, Combine combine) {
  T total = from_bits<T>(slot.value[__builtin_ctz(slot.arrived)]);
  for (std::uint32_t rest = slot.arrived & (slot.arrived - 1); rest != 0; rest &= rest - 1) {
    total = combine(total, from_bits<T>(slot.value[__builtin_ctz(rest)]));
  }
  return to_bits(total);
}

std::uint32_t lanes_with_value(const WarpSlot& slot, std::uint64_t value) {
  std::uint32_t lanes = 0;
  for (std::uint32_t rest = slot.arrived; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (slot.value[lane] == value) lanes |= 1u << lane;
  }
  return lanes;
}

// The result of an operation that gives every lane the same. Sums wrap around as on the GPU, signed
// ones too.
std::uint64_t common_result(const WarpSlot& slot) {
  using U = std::uint32_t;
  using S = std::int32_t;
  switch (slot.operation) {
    case WarpOperation::kAll:
      return lanes_with_value(slot, 0) == 0;
    case WarpOperation::kAny:
      return lanes_with_value(slot, 0) != slot.arrived;
    case WarpOperation::kMatchAll: {
      const std::uint64_t first = slot.value[__builtin_ctz(slot.arrived)];
      return lanes_with_value(slot, first) == slot.arrived ? slot.mask : 0;
    }
    case WarpOperation::kBallot:
      return slot.arrived & ~lanes_with_value(slot, 0);
    case WarpOperation::kReduceAddSigned:
    case WarpOperation::kReduceAddUnsigned:
      return reduce<U>(slot, [](U a, U b) { return a + b; });
    case WarpOperation::kReduceMinSigned:
      return reduce<S>(slot, [](S a, S b) { return std::min(a, b); });
    case WarpOperation::kReduceMinUnsigned:
      return reduce<U>(slot, [](U a, U b) { return std::min(a, b); });
    case WarpOperation::kReduceMaxSigned:
      return reduce<S>(slot, [](S a, S b) { return std::max(a, b); });
    case WarpOperation::kReduceMaxUnsigned:
      return reduce<U>(slot, [](U a, U b) { return std::max(a, b); });
    case WarpOperation::kReduceAnd:
      return reduce<U>(slot, [](U a, U b) { return a & b; });
    case WarpOperation::kReduceOr:
      return reduce<U>(slot, [](U a, U b) { return a | b; });
    case WarpOperation::kReduceXor:
      return reduce<U>(slot, [](U a, U b) { return a ^ b; });
    default:  // of a matrix; nobody asks for that of __syncwarp
      return slot.value[0];
  }
}

bool is_shuffle(WarpOperation operation) {
  return operation == WarpOperation::kShuffle || operation == WarpOperation::kShuffleUp ||
         operation == WarpOperation::kShuffleDown || operation == WarpOperation::kShuffleXor;
}

unsigned difference(unsigned a, unsigned b) { return a > b ? a - b : b - a; }

// A tree of shuffles halves the distance, a scan doubles it. Anything else begins with new values.
bool continues(const UndefinedLanes& before, const WarpSlot& slot, unsigned distance, int line) {
  if (before.lanes == 0 || before.mask != slot.mask || before.line != line) return false;
  const bool is_scan = slot.operation == WarpOperation::kShuffleUp;
  return is_scan ? distance > before.distance : distance != 0 && distance < before.distance;
}

[[noreturn]] void refuse_shuffle(const Block* block, unsigned warp, const WarpSlot& slot,
                                 const UndefinedLanes& undefined, const char* file, int line) {
  const std::uint32_t existing = existing_lanes(block, warp);
  const bool exists = (existing >> undefined.source & 1) != 0;
  refuse_operation(
      "a shuffle reads a lane that takes no part",
      std::string(name_of(slot.operation)) + ": lane " + std::to_string(undefined.reader) +
          " reads lane " + std::to_string(undefined.source) +
          (exists ? ", which mask " + mask_text(slot.mask) + " does not name"
                  : "; the block ends with lane " + std::to_string(31 - __builtin_clz(existing)) +
                        " of this warp"),
      "its value is undefined: read only lanes of the mask, or keep the value aside and use it "
      "where the source exists",
      file, line, &block->threads[warp * 32 + undefined.reader]);
}

// Called when lanes read others that take no part, or did so before. It is a mistake when all read
// one such lane, when its value goes right into memory, and when it reaches the lane that holds the
// result of a tree or scan.
void judge_undefined(Block* block, unsigned warp, const WarpSlot& slot, std::uint32_t outside,
                     const char* file, int line) {
  const auto lowest = static_cast<unsigned>(__builtin_ctz(slot.arrived));
  const auto highest = 31 - static_cast<unsigned>(__builtin_clz(slot.arrived));
  const bool is_scan = slot.operation == WarpOperation::kShuffleUp;
  const unsigned result_lane = is_scan ? highest : lowest;
  const unsigned distance = difference(slot.operand[result_lane], result_lane);

  UndefinedLanes now{0, slot.mask, line, distance, 0, 0};
  UndefinedLanes& before = block->warps[warp].undefined;
  const bool goes_on = continues(before, slot, distance, line);
  bool one_source = true;
  for (std::uint32_t rest = slot.arrived; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const unsigned source = slot.operand[lane];
    one_source = one_source && source == slot.operand[lowest];
    const bool inherits =
        goes_on && ((before.lanes >> source & 1) != 0 || (before.lanes >> lane & 1) != 0);
    if ((outside >> lane & 1) == 0 && !inherits) continue;
    if (now.lanes == 0 && outside != 0) {
      now.reader = static_cast<unsigned>(__builtin_ctz(outside));
      now.source = slot.operand[now.reader];
    }
    now.lanes |= 1u << lane;
  }
  if (goes_on) now.reader = before.reader, now.source = before.source;
  const bool is_one_broadcast =
      slot.operation == WarpOperation::kShuffle && one_source && outside == slot.arrived;
  const bool reaches_result = slot.use != Use::kUnknown && (now.lanes >> result_lane & 1) != 0;
  if (is_one_broadcast || reaches_result || (slot.use == Use::kMemory && outside != 0)) {
    refuse_shuffle(block, warp, slot, now, file, line);
  }
  before = slot.use == Use::kExpression ? now : UndefinedLanes{};
}

// An operation of a tensor core.
void do_for_all(const WarpSlot& slot, const char* file, int line) {
  const auto work_of = [](std::uint64_t lane) {
    return reinterpret_cast<const LanesWork*>(static_cast<std::uintptr_t>(lane))->for_all;
  };
  const auto work = work_of(slot.value[0]);
  for (const std::uint64_t lane : slot.value) {
    if (work_of(lane) == work) continue;
    refuse_operation(
        "lanes of a warp call different instructions",
        std::string("all are an ") + name_of(slot.operation) + ", of different shapes or types",
        "all 32 lanes make the same call", file, line);
  }
  work(slot.value);
}

// All lanes are here: computes each one's result and releases them.
void complete(Block* block, unsigned warp, WarpSlot* slot, const char* file, int line) {
  Thread* const lanes = block->threads + warp * 32;
  const std::uint32_t arrived = slot->arrived;
  const WarpOperation operation = slot->operation;
  switch (operation) {
    case WarpOperation::kShuffle:
    case WarpOperation::kShuffleUp:
    case WarpOperation::kShuffleDown:
    case WarpOperation::kShuffleXor: {
      std::uint32_t outside = 0;
      for (std::uint32_t rest = arrived; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const std::uint32_t source = slot->operand[lane];
        const bool defined = (arrived >> source & 1) != 0;
        lanes[lane].result = defined ? slot->value[source] : kNothingDefined;
        outside |= defined ? 0 : 1u << lane;
      }
      if ((outside | block->warps[warp].undefined.lanes) != 0) {
        judge_undefined(block, warp, *slot, outside, file, line);
      }
      break;
    }
    case WarpOperation::kMatchAny:
      for (std::uint32_t rest = arrived; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        lanes[lane].result = lanes_with_value(*slot, slot->value[lane]);
      }
      break;
    case WarpOperation::kTensorLoad:
    case WarpOperation::kTensorStore:
    case WarpOperation::kTensorMultiply:
      do_for_all(*slot, file, line);
      break;
    default: {
      const std::uint64_t common = common_result(*slot);
      for (std::uint32_t rest = arrived; rest != 0; rest &= rest - 1) {
        lanes[__builtin_ctz(rest)].result = common;
      }
    }
  }
  if (operation == WarpOperation::kSync && block->observation != nullptr) {
    observer->lanes_met(*block, warp, arrived);
  }
  slot->arrived = 0;
  slot->use = Use::kUnknown;
  ++slot->generation;
}

bool coin() { return next_random(&current_block->random_state) >> 63 != 0; }

// The pending operation of this mask, else a slot for a new one.
WarpSlot* slot_for(const Block* block, unsigned number, std::uint32_t mask) {
  Warp* const warp = &block->warps[number];
  WarpSlot* unused = nullptr;
  for (unsigned i = 0; i < warp->used; ++i) {
    WarpSlot* const slot = &warp->slot[i];
    if (slot->mask == mask) return slot;
    if (slot->arrived == 0) unused = slot;
  }
  // A slot is free, since at most 31 other lanes wait, each in one slot.
  if (unused == nullptr) unused = &warp->slot[warp->used++];
  unused->mask = mask;
  unused->lanes = mask & existing_lanes(block, number);
  return unused;
}

// The next to run is the first lane of this warp, not the next warp: its stacks are in the cache.
// But not for ever, or a warp that polls would keep the others from running.
void stay_with_warp(Block* block, unsigned warp) {
  constexpr unsigned kTurns = 64;
  const Schedule::Kind kind = schedule().kind;
  if (kind == Schedule::Kind::kRandom || block->warp_turns == kTurns) return;
  ++block->warp_turns;
  const std::uint32_t begin = warp * 32, end = std::min(begin + 32, block->count);
  const std::uint32_t first = kind == Schedule::Kind::kForward ? begin : block->count - end;
  block->position = first - 1;
}

}  // namespace

std::uint64_t warp_collective(WarpOperation operation, unsigned mask, std::uint64_t value,
                              unsigned operand, const char* file, int line) {
  Thread* const self = current_thread;
  if (self == nullptr) die("%s called outside of a kernel", name_of(operation));
  Block* const block = current_block;
  leave_step(block);
  const auto number = static_cast<unsigned>(self - block->threads);
  const unsigned lane = number % 32;
  if ((mask >> lane & 1) == 0) {
    refuse_operation("a lane calls a warp operation with a mask that does not name it",
                     std::string(name_of(operation)) + ": lane " + std::to_string(lane) +
                         ", mask " + mask_text(mask),
                     "the mask names every lane that makes the call, and only those", file, line);
  }
  WarpSlot* const slot = slot_for(block, number / 32, mask);
  if (slot->arrived == 0) {
    slot->operation = operation;
  } else if (slot->operation != operation) {
    refuse_operation("lanes of one mask call different warp operations",
                     "mask " + mask_text(mask) + ": " + name_of(operation) + " here, " +
                         name_of(slot->operation) + " by other lanes",
                     "all lanes that a mask names must make the same call", file, line);
  }
  if (block->observation != nullptr) observer->thread_meets(*block, mask);
  slot->value[lane] = value;
  slot->operand[lane] = operand;
  slot->arrived |= 1u << lane;
  if (is_shuffle(operation)) {
    slot->use = std::max(slot->use, self->use);
    self->use = Use::kUnknown;
  }
  if (slot->arrived == slot->lanes) {
    complete(block, number / 32, slot, file, line);
    stay_with_warp(block, number / 32);
  } else {
    self->begin_wait(Wait::kWarp, &slot->generation, slot->generation, file, line);
    run_others(block, self);
  }
  return self->result;
}

std::uint64_t whole_warp_collective(WarpOperation operation, std::uint64_t value, const char* file,
                                    int line) {
  if (current_thread != nullptr) {
    const std::uint32_t left = current_block->count - number_in_block() / 32 * 32;
    if (left < 32) {
      refuse_operation(
          "a matrix operation of a warp that is not whole",
          std::string(name_of(operation)) + ": this warp has " + std::to_string(left) + " threads",
          "make the block a multiple of 32 threads", file, line);
    }
  }
  return warp_collective(operation, 0xffffffffu, value, 0, file, line);
}

void check_matrix_memory(WarpOperation operation, const void* pointer, unsigned ldm,
                         std::size_t element_size, const char* file, int line) {
  const char* const name = name_of(operation);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (address % 32 != 0) {
    refuse_operation(
        "a matrix must begin at a multiple of 32 bytes",
        format("%s: %p is no multiple of 32", name, pointer),
        "in shared memory: alignas(32), and tiles whose size is a multiple of 32 bytes", file,
        line);
  }
  if ((element_size == 2 || element_size == 4) && ldm * element_size % 16 != 0) {
    refuse_operation("rows of a matrix must be a multiple of 16 bytes apart",
                     format("%s: ldm is %u elements of %zu bytes", name, ldm, element_size),
                     "make ldm a multiple of 8 for __half, of 4 for float", file, line);
  }
  const std::uint64_t mine = address ^ static_cast<std::uint64_t>(ldm) << 48;
  if (whole_warp_collective(operation, mine, file, line) == mine) return;
  refuse_operation("lanes of a warp name different matrices",
                   format("%s: lane %u has %p with ldm %u, lane 0 others", name,
                          number_in_block() % 32, pointer, ldm),
                   "the pointer depends on the warp, never on the lane", file, line);
}

unsigned shuffle_source(WarpOperation operation, unsigned distance, int width, const char* file,
                        int line) {
  const auto segment = static_cast<unsigned>(width);
  if (segment == 0 || segment > 32 || (segment & (segment - 1)) != 0) {
    refuse_operation("the width of a shuffle must be 1, 2, 4, 8, 16 or 32",
                     std::string(name_of(operation)) + ": width " + std::to_string(width), "", file,
                     line);
  }
  if (current_thread == nullptr) return 0;
  const unsigned lane = number_in_block() % 32;
  const unsigned begin = lane & ~(segment - 1), end = begin + segment;
  distance &= 31;
  switch (operation) {
    case WarpOperation::kShuffleUp:
      return lane >= begin + distance ? lane - distance : lane;
    case WarpOperation::kShuffleDown:
      return lane + distance < end ? lane + distance : lane;
    case WarpOperation::kShuffleXor:  // an earlier segment may be read, a later one may not
      return (lane ^ distance) < end ? lane ^ distance : lane;
    default:
      return begin + (distance & (segment - 1));
  }
}

unsigned active_mask(const char* file, int line) {
  Thread* const self = current_thread;
  if (self == nullptr) die("__activemask called outside of a kernel");
  self->begin_wait(Wait::kActiveMask, &kNeverRunnable, 0, file, line);
  reschedule(self);
  return static_cast<unsigned>(self->result);
}

bool release_active_mask(Block* block) {
  const bool split = schedule().kind == Schedule::Kind::kRandom;
  bool any = false;
  for (unsigned i = 0; i < block->count; ++i) {
    Thread* const first = &block->threads[i];
    if (!waits(*first, Wait::kActiveMask)) continue;
    any = true;
    // The lanes of its warp that wait at its line; under a random order each joins by chance.
    std::uint32_t group = 0;
    const unsigned warp = i / 32;
    for (unsigned j = i; j < block->count && j < warp * 32 + 32; ++j) {
      const Thread& other = block->threads[j];
      if (!waits(other, Wait::kActiveMask)) continue;
      if (other.line != first->line || other.file != first->file) continue;
      if (split && j != i && coin()) continue;
      group |= 1u << (j % 32);
    }
    for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
      Thread* const thread =
          &block->threads[warp * 32 + static_cast<unsigned>(__builtin_ctz(rest))];
      thread->result = group;
      thread->generation = &kAlwaysRunnable;
    }
  }
  return any;
}

}  // namespace cuda_cpu
