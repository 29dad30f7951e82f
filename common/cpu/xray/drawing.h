// SPDX-License-Identifier: MIT
// The first request of an access as SVG: the 32 lanes of a warp on top, a line from each to the
// bytes that it wants, and below them what the memory system makes of it: sectors of global and
// host memory, passes through the banks of shared memory, fetches from constant memory.
#pragma once

#include <string>

#include "counts.h"

namespace xray {

std::string drawing_of(const Launch& launch, const Access& access);

}  // namespace xray
