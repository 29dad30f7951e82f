// SPDX-License-Identifier: MIT
// Chapter 04, Little's law once more, for arithmetic: how many warps keep the adders of one SM
// busy? Included by sweeps.cuh.
#pragma once

#include <string>
#include <vector>

#include "../../common/common.cuh"

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

namespace warp_issue {

constexpr unsigned kSteps = kOnGpu ? 16384 : 128;  // a multiple of 128: no remainder to unroll
constexpr unsigned kMostChains = 4;

// What a launch leaves behind: the end of every chain, and the cycles that the block took.
struct Chains {
  DeviceArray<float> ends{kMostChains * kMaxBlock};
  DeviceArray<long long> cycles{1};

  void poison() const {
    ends.poison();
    cycles.poison();
  }
  void launch(unsigned chains, unsigned threads) const {
    const auto kernel = chains == 1 ? run_chains<1> : run_chains<kMostChains>;
    kernel<<<1, threads>>>(kSteps, ends.get(), cycles.get());
  }
};

// Every chain has made every step.
bool check(const std::string& name, const Chains& c, unsigned chains, unsigned threads) {
  const std::vector<float> ends = c.ends.download(std::size_t{chains} * threads);
  std::vector<float> expected;
  for (unsigned chain = 0; chain < chains; ++chain) {
    for (unsigned t = 0; t < threads; ++t) {
      expected.push_back(static_cast<float>(t + chain + kSteps));
    }
  }
  return all_equal(name, ends.data(), expected.data(), expected.size());
}

// Sweep "warps": a block of 1 to 32 warps, with one chain per thread and with four. The rate is in
// instructions of whole warps per cycle.
void add_rows(ResultTable& table) {
  if (kOnGpu) table.rate_in("instr/cyc");
  table.without_speedup();
  const Chains c;
  for (const unsigned chains : {1u, kMostChains}) {
    for (unsigned warps = 1; warps <= 32; warps *= 2) {
      const std::string name =
          "warps=" + std::to_string(warps) + " chains=" + std::to_string(chains);
      const Measured m = measure_checked(
          table.options().samples, [&] { c.poison(); }, [&] { c.launch(chains, 32 * warps); },
          [&] { return check(name, c, chains, 32 * warps); });
      const auto cycles = static_cast<double>(c.cycles.download()[0]);
      const double instructions = static_cast<double>(kSteps) * chains * warps;
      table.add_with_rate(name, m.time, instructions / cycles,
                          m.ok && cycles_fit(cycles, m.time.max_ms));
    }
  }
}

}  // namespace warp_issue
