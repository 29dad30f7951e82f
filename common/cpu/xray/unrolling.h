// SPDX-License-Identifier: MIT
// What becomes of a warp's requests where nvcc unrolls the loop that they stand in.
#pragma once

#include <cstdint>
#include <vector>

#include "grouping.h"

namespace xray {

/// How many requests more these would be if nvcc unrolled the loop that they stand in. None where
/// the lanes' turns differ by one at most: so do those of a strided loop, which is not unrolled
/// that way.
std::uint32_t more_if_unrolled(const std::vector<Group>& groups);

}  // namespace xray
