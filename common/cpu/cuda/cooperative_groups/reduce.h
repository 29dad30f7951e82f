// SPDX-License-Identifier: MIT
// Stands in for <cooperative_groups/reduce.h>: reductions over a tile or a coalesced group.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
  T operator()(T a, T b) const { return static_cast<T>(a + b); }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

/// Combines the values of all threads of the group; every thread gets the result. Like a GPU, it
/// promises no order, so float results may differ from one device to another.
template <class Group, class T, class Operation>
inline T reduce(const Group& group, T value, Operation operation, CUDA_CPU_HERE) {
  const unsigned mask = group.cuda_cpu_mask();
  const auto lanes = static_cast<unsigned>(__popc(mask));
  if ((lanes & (lanes - 1)) == 0) {
    // Partners at distance 1, 2, 4, ...: all lanes end with the same value, since a + b is b + a.
    const unsigned rank = details::rank_in(mask);
    for (unsigned step = 1; step < lanes; step *= 2) {
      const unsigned source = details::lane_of(mask, rank ^ step);
      value = operation(value, details::read_lane(mask, value, source, file, line));
    }
    return value;
  }
  T result = value;
  for (unsigned rank = 0; rank < lanes; ++rank) {
    const T other = details::read_lane(mask, value, details::lane_of(mask, rank), file, line);
    result = rank == 0 ? other : static_cast<T>(operation(result, other));
  }
  return result;
}

/// The same for a tile of several warps.
template <unsigned Size, class Parent, class T, class Operation>
inline std::enable_if_t<(Size > 32), T> reduce(const thread_block_tile<Size, Parent>& tile, T value,
                                               Operation operation, CUDA_CPU_HERE) {
  T result = value;
  tile.for_each(value, {"reduce() of a tile", file, line}, [&](unsigned rank, const T& other) {
    result = rank == 0 ? other : static_cast<T>(operation(result, other));
  });
  return result;
}

}  // namespace cooperative_groups
