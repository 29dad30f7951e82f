// SPDX-License-Identifier: MIT
// What do spills cost in a loop, where every round needs the spilled variables again?

#include "../../../common/common.cuh"
#include "register_bounds.cuh"

constexpr unsigned kCells = 160;  // of a rod: more than half of the 255 registers
constexpr unsigned kRounds = 32;

// In every round each cell of a thread's rod becomes the sum of its neighbours; beyond the ends
// there are zeros. Leaves a sum in which every cell has a weight of its own. A trip through the
// loop is kRoundsOfTrip rounds.
template <unsigned kBlocks, unsigned kRoundsOfTrip = 1>
__global__ void __launch_bounds__(kHoldingBlock, std::min(kBlocks, kMostBlocks))
    sum_neighbours(const int* x, std::size_t n, unsigned rounds, unsigned* sums) {
  unsigned cell[kCells];
#pragma unroll
  for (unsigned k = 0; k < kCells; ++k) cell[k] = element_or_zero<kCells>(x, n, k);
#pragma unroll kRoundsOfTrip
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

// How much each cell of the beginning counts at the end. A round is a symmetric matrix, so the
// weights can go through the rounds in place of the cells. Beyond each end there is a zero.
std::vector<unsigned> weights_of_cells(unsigned rounds) {
  std::vector<unsigned> weights(kCells + 2, 0);
  std::iota(weights.begin() + 1, weights.end() - 1, 1u);
  for (unsigned round = 0; round < rounds; ++round) {
    const std::vector<unsigned> before = weights;
    for (unsigned k = 1; k <= kCells; ++k) weights[k] = before[k - 1] + before[k + 1];
  }
  return {weights.begin() + 1, weights.end() - 1};
}

// What each thread has to leave.
std::vector<unsigned> sums_of_threads(const std::vector<int>& x, unsigned grid) {
  const std::vector<unsigned> weights = weights_of_cells(kRounds);
  std::vector<unsigned> sums(std::size_t{grid} * kHoldingBlock, 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t row = i / kHoldingBlock;  // of kCells rows for each block
    const std::size_t thread = row / kCells * kHoldingBlock + i % kHoldingBlock;
    sums[thread] += weights[row % kCells] * static_cast<unsigned>(x[i]);
  }
  return sums;
}

const BoundVersion<void(const int*, std::size_t, unsigned, unsigned*)> kVersions[] = {
    {"rod_255", sum_neighbours<1>},
    {"rod_168", sum_neighbours<3>},
    {"rod_128", sum_neighbours<4>},
    {"rod_96", sum_neighbours<5>},
    {"rod_80", sum_neighbours<6>},
    {"rod_64", sum_neighbours<8>},
    {"rod_32", sum_neighbours<16>},
    {"trips_of_two_255", sum_neighbours<1, 2>},
    {"trips_of_two_168", sum_neighbours<3, 2>},
    {"trips_of_two_128", sum_neighbours<4, 2>},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;
  const Options opt(argc, argv, "12_spilled_cells", "what do spills cost in a loop?",
                    {{"n", &n, 1, 8_Gi, "ints"}});
  ResultTable table(opt, n * sizeof(int), n / kCells * sizeof(unsigned), kBoundColumns);
  const std::vector<int> ints = random_ints(n, -1000, 1000, opt.seed);
  const unsigned grid = blocks_for(n, kCells * kHoldingBlock);
  const std::vector<unsigned> expected = sums_of_threads(ints, grid);
  const DeviceArray<int> x(ints);
  for (const auto& v : kVersions)
    add_bound(table, v, "a rod of 160 cells", expected,
              [&](unsigned* sums) { v.kernel<<<grid, kHoldingBlock>>>(x, n, kRounds, sums); });
  return table.finish();
}
