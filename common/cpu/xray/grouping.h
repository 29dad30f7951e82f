// SPDX-License-Identifier: MIT
// Puts the accesses of single lanes together to groups of a warp.
#pragma once

#include <cstdint>
#include <functional>

#include "lanes.h"
#include "model.h"

namespace xray {

/// The accesses that lanes of one warp made with the same instruction, on the same visit to it.
struct Group {
  std::uint32_t mask = 0;
  std::uintptr_t address[kLanes];   // of the lanes in the mask
  std::uint32_t more_unrolled = 0;  // see Counts; of this group and those after it
};

using OnGroup = std::function<void(const Instruction&, const Group&)>;

/// Groups what the lanes of one warp have done since the last barrier of their block. Hands on each
/// group, in the order in which the first lane comes to each instruction. `count`: how many lanes
/// the warp has.
void group_warp(const Lane* lanes, unsigned count, const OnGroup& on_group);

}  // namespace xray
