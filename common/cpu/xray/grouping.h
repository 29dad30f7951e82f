// SPDX-License-Identifier: MIT
// Puts together to groups of a warp what its lanes did one by one: accesses, and pieces of code
// that they came by.
#pragma once

#include <functional>

#include "lanes.h"

namespace xray {

using OnGroup = std::function<void(const Instruction&, const Group&)>;

/// Groups what the lanes of one warp have done since the last barrier of their block. Hands on each
/// group, in the order in which the first lane comes to each instruction, and what would change if
/// nvcc unrolled a loop. `count`: how many lanes the warp has. `at_end`: they have ended; else they
/// wait at a barrier.
void group_warp(const Lane* lanes, unsigned count, bool at_end, const OnGroup& on_group);

}  // namespace xray
