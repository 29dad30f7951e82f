// SPDX-License-Identifier: MIT
// The three forms in which X-ray shows what it counted.
#pragma once

#include <string>
#include <vector>

#include "../xray.h"

namespace xray {

/// The kernels' source with the counts beside the lines, for a terminal. `colour`: with escapes.
std::string listing_of(const std::vector<Launch>& launches, bool colour);

/// One row per launch and access, columns named in the first line. `offsets` holds the first
/// request's 32 lanes (bytes from the start of the array; - for an idle lane).
std::string csv_of(const std::vector<Launch>& launches);

/// The first request of an access: its lanes, and the sectors or banks that they go to.
std::string drawing_of(const Launch& launch, const Access& access);

}  // namespace xray
