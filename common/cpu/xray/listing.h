// SPDX-License-Identifier: MIT
// The counts as text: beside the source for people, as CSV for programs.
#pragma once

#include <string>
#include <vector>

#include "counted.h"

namespace xray {

/// As much of a source line, without its indentation, as there is room for; "" if it
/// cannot be read.
std::string code_of(const std::string& file, int line);

/// The kernels' source with the counts beside the lines. `colour`: with a terminal's escapes.
std::string listing_of(const std::vector<Launch>& launches, bool colour);

/// One row for each access of each launch; the first line names the columns. `offsets` holds the
/// 32 lanes of the first request: bytes from the start of the array, or - for an idle lane.
/// `passes`: of a load or store, the pass through the banks that serves each of these lanes, from
/// 1; 1 alone where one pass serves all.
std::string csv_of(const std::vector<Launch>& launches);

/// One row for each passage of each launch, in the same form; at least one for each launch.
std::string passages_csv_of(const std::vector<Launch>& launches);

}  // namespace xray
