// SPDX-License-Identifier: MIT
// How much of the peak that was derived do multiply-adds reach, and nothing else?
//
// A multiply-add waits some clocks for the one before it in its chain. Meanwhile the scheduler
// takes another warp's, or one of another chain of the same thread.

#include "../../../common/common.cuh"

constexpr unsigned kBlock = 256;  // threads: 8 warps

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

// One chain whose term is a constant: two registers to read for a multiply-add, one even and one
// odd, where multiply_adds<1> reads three, two of them even (nvcc 13.0).
__global__ void multiply_adds_of_two(float factor, float, unsigned turns, float* results) {
  float x = 0;
#pragma unroll 16
  for (unsigned turn = 0; turn < turns; ++turn) x = x * factor + 1.0f;
  results[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Three registers, and each multiply-add reads two: each pair in turn. Of three registers two lie
// in one bank, wherever nvcc puts them. With factor 2 and term 0.5 the factor stays 2, and x grows
// by 1.5 in a turn.
__global__ void multiply_adds_of_pairs(float factor, float term, unsigned turns, float* results) {
  float x = 0;
#pragma unroll 16
  for (unsigned turn = 0; turn < turns; ++turn) {
    x = x * factor + 1.0f;
    x = x * term + 1.0f;
    factor = factor * term + 1.0f;
  }
  results[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// One row: multiply-adds of a thread in a turn, and blocks per SM.
struct Mix {
  const char *name, *summary;
  unsigned per_turn, blocks_per_sm;
  void (*kernel)(float factor, float term, unsigned turns, float* results);
  float factor = 1, term = 1;

  // What a thread must find. With factor 1 there is a number for each multiply-add, which grows
  // by 1. All these are multiples of 0.5, and exact in a float up to 2^23.
  float sum_after(float turns) const {
    const auto numbers = static_cast<float>(per_turn);
    return factor == 1 ? numbers * (turns + (numbers - 1) / 2) : 1.5f * turns;
  }
};

constexpr Mix kMixes[] = {
    {"chains_1", "each waits for the one before; 8 warps on an SM", 1, 1, multiply_adds<1>},
    {"chains_1_warps_32", "the same with 32 warps on an SM", 1, 4, multiply_adds<1>},
    {"two_registers", "one, its term is a constant; 8 warps", 1, 1, multiply_adds_of_two},
    {"two_registers_warps_32", "the same with 32 warps on an SM", 1, 4, multiply_adds_of_two},
    {"pairs_warps_32", "three registers, each pair in turn; 32 warps", 3, 4, multiply_adds_of_pairs,
     2, 0.5},
    {"chains_2", "two that do not wait for each other, 8 warps", 2, 1, multiply_adds<2>},
    {"chains_4", "four", 4, 1, multiply_adds<4>},
    {"chains_8", "eight", 8, 1, multiply_adds<8>},
    {"chains_16", "sixteen", 16, 1, multiply_adds<16>},
    {"chains_16_warps_32", "sixteen, with 32 warps on an SM", 16, 4, multiply_adds<16>},
};

// `flop` operations in all, two for a multiply-add, rounded up to whole turns of all threads.
struct MultiplyAdds {
  MultiplyAdds(const Mix& row, double flop, unsigned sms)
      : mix(row), blocks(sms * mix.blocks_per_sm) {
    turns = static_cast<unsigned>(flop / of_a_turn()) + 1;
  }

  double of_a_turn() const { return 2.0 * mix.per_turn * static_cast<double>(results.size()); }
  double amount() const { return of_a_turn() * turns; }
  void poison() const { results.poison(); }
  void launch() const { mix.kernel<<<blocks, kBlock>>>(mix.factor, mix.term, turns, results); }

  bool is_right() const {
    const std::vector<float> expected(results.size(), mix.sum_after(static_cast<float>(turns)));
    return all_equal(mix.name, results.download(), expected);
  }

  const Mix& mix;
  unsigned blocks, turns = 0;
  DeviceArray<float> results{std::size_t{blocks} * kBlock};
};

int main(int argc, char** argv) {
  std::size_t mflop = kOnGpu ? 200000 : 2;
  const Options opt(argc, argv, "01_arithmetic", "what do multiply-adds reach of the peak?",
                    {{"mflop", &mflop, 1, 1_Mi, "millions of operations in a launch"}});
  const Device device = open_device(opt);
  ResultTable table(opt, 0);
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(device));
  const auto sms = static_cast<unsigned>(device.multiProcessorCount);
  for (const Mix& mix : kMixes) {
    const MultiplyAdds d(mix, 1e6 * static_cast<double>(mflop), sms);
    table.each_launch_does(d.amount());
    table.add(
        mix.name, d, [&] { d.launch(); }, [&] { return d.is_right(); }, mix.summary);
  }
  return table.finish();
}
