// SPDX-License-Identifier: MIT
#include "unrolling.h"

#include <algorithm>

namespace xray {
namespace {

/// nvcc may unroll a loop whose number of turns is known when it begins. What it makes of it has
/// been seen in the machine code: first the turns that are no multiple of four, then 16 at a time
/// while more than 12 are left, then 8, then 4. Lanes are together in each of these parts, not in
/// each turn.
std::uint32_t turns_if_unrolled(const std::uint32_t* turns_of_lane) {
  std::uint32_t most_single = 0, most_sixteens = 0;
  bool any_eight = false, any_four = false;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t single = turns_of_lane[lane] % 4, rest = turns_of_lane[lane] - single;
    const std::uint32_t sixteens = rest > 12 ? (rest + 3) / 16 : 0;
    const std::uint32_t left = rest - std::min(rest, 16 * sixteens);
    most_single = std::max(most_single, single);
    most_sixteens = std::max(most_sixteens, sixteens);
    any_eight = any_eight || left > 4;
    any_four = any_four || left == 4 || left == 12;
  }
  return most_single + 16 * most_sixteens + 8 * any_eight + 4 * any_four;
}

}  // namespace

std::uint32_t more_if_unrolled(const std::vector<Group>& groups) {
  const auto turns = static_cast<std::uint32_t>(groups.size());
  if (turns < 4 || groups[0].mask == groups[turns - 1].mask) return 0;
  std::uint32_t of_lane[kLanes] = {}, least = turns;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    while (of_lane[lane] < turns && (groups[of_lane[lane]].mask >> lane & 1) != 0) ++of_lane[lane];
    if ((groups[0].mask >> lane & 1) != 0) least = std::min(least, of_lane[lane]);
  }
  if (turns - least <= 1) return 0;
  const std::uint32_t unrolled = turns_if_unrolled(of_lane);
  return unrolled - std::min(unrolled, turns);
}

}  // namespace xray
