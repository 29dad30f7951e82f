// SPDX-License-Identifier: MIT
// Draws the request of an access that costs most as SVG. The 32 lanes of a warp are on top, with a
// line from each to the bytes that it wants. Below is the memory system's work: sectors of global
// and host memory, passes through the banks of shared memory, fetches from constant memory.
#pragma once

#include <string>

#include "counted.h"

namespace xray {

std::string drawing_of(const Launch& launch, const Access& access);

}  // namespace xray
