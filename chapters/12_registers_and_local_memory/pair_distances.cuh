// SPDX-License-Identifier: MIT
// Chapter 12, --sweep registers: 64 values that a thread needs again and again, and ever fewer
// registers to hold them in. Included by other_rows.cuh.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "blocks_per_sm.cuh"

constexpr unsigned kHeld = 64;           // ints that a thread holds
constexpr unsigned kHoldingBlock = 128;  // threads per block

// The sum of |a - b| over all pairs of this thread's values: 2016 pairs, so that every value is
// read 63 times. The second launch bound promises that an SM is to hold kBlocks such blocks. The
// compiler keeps the promise by using no more registers than they leave each thread.
template <unsigned kBlocks>
__global__ void __launch_bounds__(kHoldingBlock, kBlocks* kHoldingBlock <= kThreadsPerMultiprocessor
                                                     ? kBlocks
                                                     : kThreadsPerMultiprocessor / kHoldingBlock)
    sum_pair_distances(const int* x, std::size_t n, int* sums) {
  int held[kHeld];
#pragma unroll
  for (unsigned k = 0; k < kHeld; ++k) {
    const std::size_t i =
        (static_cast<std::size_t>(blockIdx.x) * kHeld + k) * blockDim.x + threadIdx.x;
    held[k] = i < n ? x[i] : 0;  // past the end there are zeros
  }
  int sum = 0;
#pragma unroll
  for (unsigned a = 0; a < kHeld; ++a) {
#pragma unroll
    for (unsigned b = a + 1; b < kHeld; ++b) sum += abs(held[a] - held[b]);
  }
  sums[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

namespace pair_distances {

// What a thread may use at most when an SM of 65536 registers is to hold so many blocks, in steps
// of eight.
constexpr unsigned registers_left(unsigned blocks) {
  const unsigned each = 65536 / (blocks * kHoldingBlock) / 8 * 8;
  return each > 255 ? 255 : each;
}

struct LimitedVersion {
  unsigned blocks;
  void (*kernel)(const int* x, std::size_t n, int* sums);

  std::string name() const { return "registers<=" + std::to_string(registers_left(blocks)); }
};
const LimitedVersion kVersions[] = {
    {1, sum_pair_distances<1>},   {3, sum_pair_distances<3>},   {4, sum_pair_distances<4>},
    {5, sum_pair_distances<5>},   {6, sum_pair_distances<6>},   {7, sum_pair_distances<7>},
    {8, sum_pair_distances<8>},   {9, sum_pair_distances<9>},   {10, sum_pair_distances<10>},
    {12, sum_pair_distances<12>}, {16, sum_pair_distances<16>},
};

struct Distances {
  explicit Distances(const std::vector<int>& values)
      : x(values),
        grid(static_cast<unsigned>(
            std::max<std::size_t>(1, div_up(values.size(), kHeld * kHoldingBlock)))),
        sums(std::size_t{grid} * kHoldingBlock) {}

  void launch(const LimitedVersion& v) const {
    v.kernel<<<grid, kHoldingBlock>>>(x.get(), x.size(), sums.get());
  }

  DeviceArray<int> x;
  unsigned grid;
  DeviceArray<int> sums;
};

// By another way: sorted, value k is the larger one in k pairs and the smaller one in the others.
std::vector<int> reference(const std::vector<int>& x, const Distances& d) {
  std::vector<int> sums(d.sums.size());
  for (std::size_t thread = 0; thread < sums.size(); ++thread) {
    std::vector<long long> held(kHeld, 0);
    const std::size_t first =
        thread / kHoldingBlock * kHeld * kHoldingBlock + thread % kHoldingBlock;
    for (std::size_t k = 0; k < kHeld && first + k * kHoldingBlock < x.size(); ++k) {
      held[k] = x[first + k * kHoldingBlock];
    }
    std::sort(held.begin(), held.end());
    long long sum = 0;
    for (long long k = 0; k < kHeld; ++k) sum += (2 * k - (kHeld - 1)) * held[k];
    sums[thread] = static_cast<int>(sum);
  }
  return sums;
}

bool check(const std::string& name, const Distances& d, const std::vector<int>& expected) {
  return all_equal(name, d.sums.download().data(), expected.data(), expected.size());
}

void name_rows(Options& opt) {
  for (const LimitedVersion& v : kVersions) {
    opt.version(v.name(), "as few as " + std::to_string(v.blocks) + " blocks leave each thread");
  }
}

// Sweep "registers". A row is right when its sums are and when the blocks were predicted.
void add_rows(ResultTable& table, const Device& device, std::size_t n) {
  const std::vector<int> x = random_ints(n, -1000, 1000, table.options().seed);
  const Distances d(x);
  const std::vector<int> expected = reference(x, d);
  for (const LimitedVersion& v : kVersions) {
    const std::string name = v.name();
    if (!table.options().wants(name)) continue;
    const BlocksHeld held = blocks_per_sm(device, v.kernel, kHoldingBlock, 0);
    std::vector<std::string> cells = frame_cells(v.kernel);
    cells.insert(cells.end(), {std::to_string(held.predicted), std::to_string(held.by_api)});
    table.next_row_has(cells);
    add_measured_row(
        table, name, static_cast<double>(d.x.bytes()), [&] { d.sums.poison(); },
        [&] { d.launch(v); }, [&] { return check(name, d, expected) && held.equal(); });
  }
}

}  // namespace pair_distances
