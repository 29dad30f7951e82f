// SPDX-License-Identifier: MIT
// From accesses of lanes to what the lanes of a warp do together.
#pragma once

#include <cstdint>
#include <functional>

#include "lanes.h"
#include "model.h"

namespace xray {

/// What lanes of one warp did with the same instruction, on the same visit to it.
struct Group {
  std::uint32_t mask = 0;
  std::uintptr_t address[kLanes];  // of the lanes in the mask
};

using OnGroup = std::function<void(const Instruction&, const Group&)>;

/// Puts together what the lanes of one warp have done since the last barrier of their block, and
/// hands on each group, in the order in which the first lane comes to each instruction. `count`:
/// how many lanes the warp has.
void group_warp(const Lane* lanes, unsigned count, const OnGroup& on_group);

}  // namespace xray
