// SPDX-License-Identifier: MIT
// How long do as many multiply-adds take as a product has, and nothing else?

#include "../../../common/common.cuh"

constexpr unsigned kChains = 16;  // numbers per thread: enough that none waits for its last result
constexpr unsigned kBlock = 256, kBlocksPerSm = 4;  // 8 warps per scheduler

// Each thread does `turns` multiply-adds on each of kChains numbers. Those of one number wait for
// each other, those of different ones do not. Number c ends as c * factor^turns + ..., with factor
// and term 1 as c + turns; the sum of a thread's numbers is its result.
template <unsigned kChains>
__global__ void multiply_adds(float factor, float term, unsigned turns, float* results) {
  float x[kChains];
#pragma unroll
  for (unsigned c = 0; c < kChains; ++c) x[c] = static_cast<float>(c);
#pragma unroll 16
  for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (unsigned c = 0; c < kChains; ++c) x[c] = x[c] * factor + term;
  }
  float sum = 0;
#pragma unroll
  for (unsigned c = 0; c < kChains; ++c) sum += x[c];
  results[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// At least `flop` operations, two for a multiply-add, in whole turns of all threads.
struct MultiplyAdds {
  double flop;
  unsigned blocks;
  DeviceArray<float> results{std::size_t{blocks} * kBlock};
  unsigned turns = static_cast<unsigned>(flop / (2.0 * kChains * results.size())) + 1;

  double amount() const { return 2.0 * kChains * results.size() * turns; }
  void poison() const { results.poison(); }

  // All these are whole numbers, and exact in a float up to 2^24.
  bool is_right(const std::string& version) const {
    const float sum = kChains * (static_cast<float>(turns) + (kChains - 1) / 2.0f);
    return all_equal(version, results.download(), std::vector<float>(results.size(), sum));
  }
};

const Version<MultiplyAdds> kMultiplyAdds = {
    "multiply_adds", "as many multiply-adds, and nothing else", [](const MultiplyAdds& d) {
      multiply_adds<kChains><<<d.blocks, kBlock>>>(1.0f, 1.0f, d.turns, d.results);
    }};

int main(int argc, char** argv) {
  constexpr std::size_t kMost = 256_Ki;
  std::size_t m = kOnGpu ? 4096 : 100, n = m, k = m;
  const Options opt(argc, argv, "14_multiply_adds_alone", "how long do multiply-adds alone take?",
                    {{"m", &m, 1, kMost, "rows of the product"},
                     {"n", &n, 1, kMost, "columns of the product"},
                     {"k", &k, 1, kMost, "multiply-adds for each of its elements"}});
  const Device device = open_device(opt);
  const unsigned blocks = kBlocksPerSm * static_cast<unsigned>(device.multiProcessorCount);
  const MultiplyAdds data{2.0 * m * n * k, blocks};
  ResultTable table(opt, data.results.bytes());
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(device));
  table.each_launch_does(data.amount());
  table.add(kMultiplyAdds, data);
  return table.finish();
}
