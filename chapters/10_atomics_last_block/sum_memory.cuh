// SPDX-License-Identifier: MIT
// Chapter 10: what the experiments with one sum by one grid share beside their kernels: sizes,
// the ints, and where the blocks meet.
#pragma once

#include "../../common/common.cuh"

constexpr unsigned kWarp = 32, kMaxBlock = 1024, kAllLanes = 0xffffffffu;

using Sum = unsigned long long;  // the 64-bit integer that atomicAdd takes

// One sum by one grid: what the blocks read, and where they meet.
struct GridSum {
  const int* x;  // n values, 16-byte aligned
  std::size_t n;
  unsigned grid, block;  // block: whole warps
  Sum* partials;         // one per block
  unsigned* ticket;      // 0 before the first launch; every launch leaves it at 0
  Sum* result;           // one value
};

// The memory of a GridSum: beside x less than 2 MiB. The ticket is set once, for all launches.
struct SumMemory {
  double amount() const { return static_cast<double>(x.bytes()); }
  void poison() const { partials.poison(), result.poison(); }

  Sum expected() const {
    Sum squares = 0;
    for (const long long v : host_x) squares += static_cast<Sum>(v * v);
    return squares;
  }
  // The ticket must be back at 0, or the next launch would go wrong.
  bool is_right(const std::string& version) const {
    return equals(version, result.download()[0], expected()) &&
           equals(version + ", the ticket", ticket.download()[0], 0u);
  }

  std::vector<int> host_x;
  unsigned grid, block;
  DeviceArray<int> x{host_x};
  DeviceArray<Sum> partials{grid}, result{1};
  DeviceArray<unsigned> ticket{std::vector<unsigned>{0}};
  DeviceArray<char> scratch{1_Mi};  // what CUB wants for itself, and more
  GridSum sum{x, x.size(), grid, block, partials, ticket, result};
};
