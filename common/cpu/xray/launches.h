// SPDX-License-Identifier: MIT
// Decides which launches and which of their blocks are watched, and keeps what was counted.
#pragma once

#include <cstdint>
#include <vector>

#include "counted.h"

namespace xray {

/// From now on launches are watched; they are not until somebody asks for counts.
void watch();

/// How many blocks of each grid are counted: at most this many, spread evenly over it. Of the
/// others barriers, exchanges and accesses may be looked at, which takes little time; see Launch.
void sample_blocks(std::uint64_t at_most, bool looks_at_others = false);
constexpr std::uint64_t kAllBlocks = ~std::uint64_t{0};

/// From now on only this block of each grid is counted, and what happens in it is kept as events,
/// for the first launch of each kernel.
void keep_events_of(std::uint64_t block);

/// The launches counted since the last call, in their order.
std::vector<Launch> take_launches();

/// From now on take_launches() keeps what it returns as well, and kept_launches() has all of that.
void keep_launches();
std::vector<Launch> kept_launches();

}  // namespace xray
