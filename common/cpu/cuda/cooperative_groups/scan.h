// SPDX-License-Identifier: MIT
// Stands in for <cooperative_groups/scan.h>: prefix sums over a tile or a coalesced group.
#pragma once

#include "reduce.h"

namespace cooperative_groups {

namespace details {

// Combines the values of the ranks up to the caller's, its own included or not.
template <class Group, class T, class Operation>
inline T scan(const Group& group, T value, Operation operation, bool inclusive, const char* file,
              int line) {
  const unsigned mask = group.cuda_cpu_mask();
  T result{};
  bool first = true;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned source = lane_of(rest, 0);
    // Every lane takes part in every shuffle, whether it needs the value or not.
    const T other = read_lane(mask, value, source, file, line);
    if (source > lane() || (source == lane() && !inclusive)) continue;
    result = first ? other : static_cast<T>(operation(result, other));
    first = false;
  }
  return result;
}

}  // namespace details

template <class Group, class T, class Operation = plus<T>>
inline T inclusive_scan(const Group& group, T value, Operation operation = {}, CUDA_CPU_HERE) {
  return details::scan(group, value, operation, true, file, line);
}

/// The thread of rank 0 gets a zero value.
template <class Group, class T, class Operation = plus<T>>
inline T exclusive_scan(const Group& group, T value, Operation operation = {}, CUDA_CPU_HERE) {
  return details::scan(group, value, operation, false, file, line);
}

}  // namespace cooperative_groups
