// SPDX-License-Identifier: MIT
// The counts as text: beside the source for people, as CSV for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "counted.h"

namespace xray {

/// As much of a source line, without its indentation, as there is room for; "" if it
/// cannot be read.
std::string code_of(const std::string& file, int line);

/// What costs more than it must in a line: of which of its accesses this is said ("" of a line that
/// has one), the cause and the remedy, and whether the launch's worst access is among them.
struct Said {
  std::string which, sentence;
  bool of_worst = false;
};

/// Accesses of the line share a sentence if it fits them all. `all_requests`: of the launch.
std::vector<Said> said_of(const std::vector<const Access*>& line, const Access* worst,
                          std::uint64_t all_requests);

/// The access that costs a launch most beyond its ideal; null if none does.
const Access* worst_of(const Launch& launch);

/// The line that a launch's warps go through with most lanes missing, in all passes together; null
/// if there is none.
const Passage* emptiest_of(const Launch& launch);

/// "16.0 of 32 lanes, 4 passes"
std::string lanes_text(const Passage& passage);

/// The kernels' source with the counts beside the lines, in the order of launches; those that make
/// a single request come last. `colour`: with a terminal's escapes.
std::string listing_of(std::vector<Launch> launches, bool colour);

/// One row for each access of each launch; the first line names the columns. `offsets` holds the
/// 32 lanes of the first request: bytes from the start of the array, or - for an idle lane.
/// `passes`: of a load or store, the pass through the banks that serves each of these lanes, from
/// 1; 1 alone where one pass serves all.
std::string csv_of(const std::vector<Launch>& launches);

/// One row for each passage of each launch, in the same form; at least one for each launch.
std::string passages_csv_of(const std::vector<Launch>& launches);

}  // namespace xray
