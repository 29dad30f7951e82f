// SPDX-License-Identifier: MIT
// Puts together to groups of a warp what its lanes did one by one: accesses, and pieces of code
// that they came by.
#pragma once

#include <cstdint>
#include <functional>

#include "lanes.h"
#include "model.h"

namespace xray {

/// What lanes of one warp did with the same instruction, on the same visit to it: an access, or
/// they came by a place.
struct Group {
  std::uint32_t mask = 0;
  std::size_t at = 0;  ///< how many events one of its lanes made before, at most, since the barrier
  /// Of the lanes in the mask: what they accessed; or, of a place, the one that they came by next,
  /// 0 where none followed.
  std::uintptr_t address[kLanes];
  /// Not 0: the lanes would do this (1), or would not (-1), if nvcc made something else of it.
  int change = 0;
  Way way = Way::kUnrolled;
};

using OnGroup = std::function<void(const Instruction&, const Group&)>;

/// Groups what the lanes of one warp have done since the last barrier of their block. Hands on each
/// group, in the order in which the first lane comes to each instruction, and what would change if
/// nvcc unrolled a loop. `count`: how many lanes the warp has. `at_end`: they have ended; else they
/// wait at a barrier.
void group_warp(const Lane* lanes, unsigned count, bool at_end, const OnGroup& on_group);

}  // namespace xray
