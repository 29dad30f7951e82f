// SPDX-License-Identifier: MIT
// Chapter 12, --sweep registers: ever fewer registers for the same kernel. Included by
// other_rows.cuh.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "blocks_per_sm.cuh"

constexpr unsigned kHoldingBlock = 128;  // threads per block

// For the second launch bound, which promises that an SM is to hold so many blocks: the compiler
// keeps the promise by using no more registers than they leave each thread. A GPU that does not
// hold so many threads gets the most that it does.
constexpr unsigned blocks_promised(unsigned wanted) {
  return wanted * kHoldingBlock <= kThreadsPerMultiprocessor
             ? wanted
             : kThreadsPerMultiprocessor / kHoldingBlock;
}

// Element k of this thread, or 0 past the end of x. Elements of neighbouring threads are
// neighbours.
template <unsigned kCount>
__device__ int element_or_zero(const int* x, std::size_t n, unsigned k) {
  const std::size_t i =
      (static_cast<std::size_t>(blockIdx.x) * kCount + k) * blockDim.x + threadIdx.x;
  return i < n ? x[i] : 0;
}

constexpr unsigned kHeld = 64;  // ints that a thread holds

// The sum of |a - b| over all pairs of a thread's values: 2016 pairs, every value is read 63 times.
template <unsigned kBlocks>
__global__ void __launch_bounds__(kHoldingBlock, blocks_promised(kBlocks))
    sum_pair_distances(const int* x, std::size_t n, unsigned* sums) {
  int held[kHeld];
#pragma unroll
  for (unsigned k = 0; k < kHeld; ++k) held[k] = element_or_zero<kHeld>(x, n, k);
  unsigned sum = 0;
#pragma unroll
  for (unsigned a = 0; a < kHeld; ++a) {
#pragma unroll
    for (unsigned b = a + 1; b < kHeld; ++b) sum += abs(held[a] - held[b]);
  }
  sums[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

constexpr unsigned kCells = 160;  // of a rod: more than half of the 255 registers
constexpr unsigned kRounds = 32;

// In every round each cell of a thread's rod becomes the sum of its neighbours; beyond the ends
// there are zeros. Leaves a sum in which every cell has a weight of its own.
template <unsigned kBlocks>
__global__ void __launch_bounds__(kHoldingBlock, blocks_promised(kBlocks))
    sum_neighbours(const int* x, std::size_t n, unsigned rounds, unsigned* sums) {
  unsigned cell[kCells];
#pragma unroll
  for (unsigned k = 0; k < kCells; ++k) cell[k] = element_or_zero<kCells>(x, n, k);
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    unsigned left = 0;
#pragma unroll
    for (unsigned k = 0; k < kCells; ++k) {
      const unsigned before = cell[k];
      cell[k] = left + (k + 1 < kCells ? cell[k + 1] : 0);
      left = before;
    }
  }
  unsigned sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kCells; ++k) sum += (k + 1) * cell[k];
  sums[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

namespace launch_bounds {

// Ints, and a place for the sum of each thread that holds `held` of them.
struct HeldInts {
  HeldInts(const std::vector<int>& values, unsigned held_by_a_thread)
      : x(values),
        held(held_by_a_thread),
        grid(static_cast<unsigned>(
            std::max<std::size_t>(1, div_up(values.size(), held * kHoldingBlock)))),
        sums(std::size_t{grid} * kHoldingBlock) {}

  DeviceArray<int> x;
  unsigned held, grid;
  DeviceArray<unsigned> sums;
};

template <unsigned kBlocks>
void launch_pairs(const HeldInts& d) {
  sum_pair_distances<kBlocks><<<d.grid, kHoldingBlock>>>(d.x.get(), d.x.size(), d.sums.get());
}
template <unsigned kBlocks>
void launch_rods(const HeldInts& d) {
  sum_neighbours<kBlocks><<<d.grid, kHoldingBlock>>>(d.x.get(), d.x.size(), kRounds, d.sums.get());
}

// A kernel compiled so that an SM of 65536 registers holds so many of its blocks.
struct LimitedVersion {
  unsigned held, blocks;
  void (*launch)(const HeldInts& d);
  const void* kernel;

  std::string name() const {
    const unsigned left = std::min(65536 / (blocks * kHoldingBlock) / 8 * 8, 255u);
    return (held == kHeld ? "pairs_" : "rod_") + std::to_string(left);
  }
};
template <unsigned kBlocks>
LimitedVersion pairs() {
  return {kHeld, kBlocks, launch_pairs<kBlocks>,
          reinterpret_cast<const void*>(sum_pair_distances<kBlocks>)};
}
template <unsigned kBlocks>
LimitedVersion rods() {
  return {kCells, kBlocks, launch_rods<kBlocks>,
          reinterpret_cast<const void*>(sum_neighbours<kBlocks>)};
}
const LimitedVersion kVersions[] = {
    pairs<1>(), pairs<3>(), pairs<4>(),  pairs<5>(),  pairs<6>(),  pairs<7>(),
    pairs<8>(), pairs<9>(), pairs<10>(), pairs<12>(), pairs<16>(), rods<1>(),
    rods<3>(),  rods<4>(),  rods<5>(),   rods<6>(),   rods<8>(),   rods<16>(),
};

// What thread `thread` of the grid holds.
std::vector<long long> values_of(const std::vector<int>& x, const HeldInts& d, std::size_t thread) {
  std::vector<long long> values(d.held, 0);
  const std::size_t first =
      thread / kHoldingBlock * d.held * kHoldingBlock + thread % kHoldingBlock;
  for (std::size_t k = 0; k < d.held && first + k * kHoldingBlock < x.size(); ++k) {
    values[k] = x[first + k * kHoldingBlock];
  }
  return values;
}

// By another way: sorted, value k is the larger one in k pairs and the smaller one in the others.
unsigned sum_of_distances(std::vector<long long> values) {
  std::sort(values.begin(), values.end());
  const auto last = static_cast<long long>(values.size()) - 1;
  long long sum = 0;
  for (long long k = 0; k <= last; ++k) sum += (2 * k - last) * values[k];
  return static_cast<unsigned>(sum);
}

// By another way: how much a cell of the beginning counts at the end. Without ends there are as
// many ways over d cells in so many rounds as a binomial coefficient says; a zero beyond each end
// is a mirror that turns the sign.
std::vector<unsigned> weights_of_cells(unsigned rounds) {
  std::vector<unsigned> ways(rounds + 1, 0);  // to go right so many times
  ways[0] = 1;
  for (unsigned round = 1; round <= rounds; ++round) {
    for (unsigned right = round; right > 0; --right) ways[right] += ways[right - 1];
  }
  constexpr int kPeriod = 2 * (kCells + 1);
  std::vector<unsigned> weights(kCells, 0);
  for (int from = 0; from < static_cast<int>(kCells); ++from) {
    for (int right = 0; right <= static_cast<int>(rounds); ++right) {
      const int place = from + 1 + 2 * right - static_cast<int>(rounds);  // an end is at 0
      const int folded = (place % kPeriod + kPeriod) % kPeriod;
      const bool mirrored = folded > static_cast<int>(kCells) + 1;
      const int end = mirrored ? kPeriod - folded : folded;  // 0 and kCells + 1 are zeros
      if (end == static_cast<int>(kCells) + 1) continue;
      const auto weight = static_cast<unsigned>(end) * ways[static_cast<unsigned>(right)];
      weights[static_cast<unsigned>(from)] += mirrored ? 0 - weight : weight;
    }
  }
  return weights;
}

std::vector<unsigned> reference(const std::vector<int>& x, const HeldInts& d) {
  const std::vector<unsigned> weights = weights_of_cells(kRounds);
  std::vector<unsigned> sums;
  for (std::size_t thread = 0; thread < d.sums.size(); ++thread) {
    const std::vector<long long> values = values_of(x, d, thread);
    unsigned sum = 0;
    for (unsigned k = 0; d.held == kCells && k < kCells; ++k) {
      sum += weights[k] * static_cast<unsigned>(values[k]);
    }
    sums.push_back(d.held == kCells ? sum : sum_of_distances(values));
  }
  return sums;
}

bool check(const std::string& name, const HeldInts& d, const std::vector<unsigned>& expected) {
  return all_equal(name, d.sums.download().data(), expected.data(), expected.size());
}

void name_rows(Options& opt) {
  for (const LimitedVersion& v : kVersions) {
    opt.version(v.name(), "so few registers that an SM holds " + std::to_string(v.blocks) +
                              (v.blocks == 1 ? " block" : " blocks"));
  }
}

// Sweep "registers". A row is right when its sums are and when its blocks were predicted.
void add_rows(ResultTable& table, const Device& device, std::size_t n) {
  const std::vector<int> x = random_ints(n, -1000, 1000, table.options().seed);
  for (const unsigned held : {kHeld, kCells}) {
    const HeldInts d(x, held);
    const std::vector<unsigned> expected = reference(x, d);
    for (const LimitedVersion& v : kVersions) {
      const std::string name = v.name();
      if (v.held != held || !table.options().wants(name)) continue;
      const BlocksHeld blocks = blocks_per_sm(device, v.kernel, kHoldingBlock, 0);
      std::vector<std::string> cells = frame_cells(v.kernel);
      cells.insert(cells.end(), {std::to_string(blocks.predicted), std::to_string(blocks.by_api)});
      table.next_row_has(cells);
      add_measured_row(
          table, name, static_cast<double>(d.x.bytes()), [&] { d.sums.poison(); },
          [&] { v.launch(d); }, [&] { return check(name, d, expected) && blocks.equal(); });
    }
  }
}

}  // namespace launch_bounds
