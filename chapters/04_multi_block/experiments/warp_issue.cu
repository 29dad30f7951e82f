// SPDX-License-Identifier: MIT
// How many warps keep the adders of one SM busy?
//
// Little's law once more, for arithmetic: warps=4 chains=1 is a block of four warps in which every
// thread has one chain of additions.

#include "../../../common/common.cuh"

constexpr unsigned kSteps = kOnGpu ? 16384 : 128;  // a multiple of 128: no remainder to unroll
constexpr unsigned kMostChains = 4;
constexpr unsigned kMaxBlock = 1024;  // threads per block, a limit of the hardware

// Every thread adds along kChains chains, `steps` times each. An addition needs the one before it
// in its chain; chains know nothing of each other. In a register of its own the 1 would be a second
// one to read, so it is a constant; a compiler must not make one addition of floats out of two.
template <unsigned kChains>
__global__ void run_chains(unsigned steps, float* ends, long long* cycles) {
  float v[kChains];
#pragma unroll
  for (unsigned c = 0; c < kChains; ++c) v[c] = static_cast<float>(threadIdx.x + c);
  const long long begin = clock64();
  __syncthreads();  // no warp adds before thread 0 has read the clock; all begin together
#pragma unroll 128
  for (unsigned k = 0; k < steps; ++k) {
#pragma unroll
    for (unsigned c = 0; c < kChains; ++c) v[c] += 1.0f;
  }
#pragma unroll
  for (unsigned c = 0; c < kChains; ++c) ends[c * blockDim.x + threadIdx.x] = v[c];
  __syncthreads();  // the block ends when its slowest warp does
  if (threadIdx.x == 0) *cycles = clock64() - begin;
}

// One block, the end of every chain, and the cycles that the block took.
struct Chains {
  unsigned chains, threads;
  DeviceArray<float> ends{std::size_t{kMostChains} * kMaxBlock};
  DeviceArray<long long> cycles{1};

  void poison() const { ends.poison(), cycles.poison(); }
  void launch() const {
    const auto kernel = chains == 1 ? run_chains<1> : run_chains<kMostChains>;
    kernel<<<1, threads>>>(kSteps, ends, cycles);
    CUDA_CHECK_LAUNCH();
  }
  // Every chain has made every step: a chain begins with the number of its thread and its own.
  bool is_right(const std::string& name) const {
    std::vector<float> expected(chains * threads);
    for (unsigned i = 0; i < expected.size(); ++i) expected[i] = i % threads + i / threads + kSteps;
    return all_equal(name, ends.download(expected.size()), expected);
  }
  // More than none, and no more than a clock of 10 GHz makes in that time: a difference with the
  // wrong sign, a sum and a single reading are all far off.
  bool took_cycles(double ms) const {
    const long long count = cycles.download()[0];
    return count > 0 && static_cast<double>(count) <= 1e7 * ms;
  }
};

int main(int argc, char** argv) {
  const Options opt(argc, argv, "04_warp_issue", "how many warps keep one SM's adders busy?", {});
  ResultTable table(opt, std::size_t{kMostChains} * kMaxBlock * sizeof(float));
  table.rate_in("instr/cyc");  // instructions of whole warps
  table.without_speedup();
  for (const unsigned chains : {1u, kMostChains}) {
    for (unsigned warps = 1; warps <= 32; warps *= 2) {
      const std::string name = text("warps=", warps, " chains=", chains);
      if (!table.wants(name)) continue;
      const Chains c{chains, 32 * warps};
      c.poison();
      c.launch();
      const bool right_at_first = c.is_right(name);
      const Timing t = time_launches(opt.samples, [&] { c.launch(); });
      const double instructions = 1.0 * kSteps * chains * warps;
      table.row(name, t, instructions / c.cycles.download()[0],
                right_at_first && c.is_right(name) && c.took_cycles(t.max_ms));
    }
  }
  return table.finish();
}
