// SPDX-License-Identifier: MIT
// What do fewer registers per thread cost, and what are the blocks worth that then fit besides?

#include "../../../common/common.cuh"
#include "register_bounds.cuh"

constexpr unsigned kHeld = 64;  // ints that a thread holds

// The sum of |a - b| over all pairs of a thread's values: 2016 pairs, every value is read 63 times.
// The second bound promises that an SM is to hold so many blocks: the compiler keeps the promise by
// using no more registers than they leave each thread.
template <unsigned kBlocks>
__global__ void __launch_bounds__(kHoldingBlock, std::min(kBlocks, kMostBlocks))
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

// By another way: sorted, value k is the larger one in k pairs and the smaller one in the others.
unsigned sum_of_distances(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  const auto last = static_cast<long long>(values.size()) - 1;
  long long sum = 0;
  for (long long k = 0; k <= last; ++k) sum += (2 * k - last) * values[std::size_t(k)];
  return static_cast<unsigned>(sum);
}

// What each thread has to leave: the sum over the values that it holds.
std::vector<unsigned> sums_of_threads(std::vector<int> x, unsigned grid) {
  std::vector<std::vector<int>> held(std::size_t{grid} * kHoldingBlock);
  x.resize(held.size() * kHeld, 0);  // past its end the kernel takes zeros
  for (std::size_t i = 0; i < x.size(); ++i)
    held[i / (kHeld * kHoldingBlock) * kHoldingBlock + i % kHoldingBlock].push_back(x[i]);
  std::vector<unsigned> sums;
  for (const std::vector<int>& values : held) sums.push_back(sum_of_distances(values));
  return sums;
}

const BoundVersion<void(const int*, std::size_t, unsigned*)> kVersions[] = {
    {"pairs_255", sum_pair_distances<1>}, {"pairs_168", sum_pair_distances<3>},
    {"pairs_128", sum_pair_distances<4>}, {"pairs_96", sum_pair_distances<5>},
    {"pairs_80", sum_pair_distances<6>},  {"pairs_72", sum_pair_distances<7>},
    {"pairs_64", sum_pair_distances<8>},  {"pairs_56", sum_pair_distances<9>},
    {"pairs_48", sum_pair_distances<10>}, {"pairs_40", sum_pair_distances<12>},
    {"pairs_32", sum_pair_distances<16>},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;
  const Options opt(argc, argv, "12_launch_bounds", "what do fewer registers per thread cost?",
                    {{"n", &n, 1, 8_Gi, "ints"}});
  ResultTable table(opt, n * sizeof(int), n / kHeld * sizeof(unsigned), kBoundColumns);
  const std::vector<int> ints = random_ints(n, -1000, 1000, opt.seed);
  const unsigned grid = blocks_for(n, kHeld * kHoldingBlock);
  const std::vector<unsigned> expected = sums_of_threads(ints, grid);
  const DeviceArray<int> x(ints);
  for (const auto& v : kVersions)
    add_bound(table, v, "64 values for a thread to hold", expected,
              [&](unsigned* sums) { v.kernel<<<grid, kHoldingBlock>>>(x, n, sums); });
  return table.finish();
}
