// SPDX-License-Identifier: MIT
// What beside_cublas.cu and beside_cublaslt.cu share: sides that are drawn, operands, and launches
// that take turns.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "../../common.cuh"

constexpr int kRounds = 21;

double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

unsigned log_uniform(std::mt19937_64& random, double from, double below) {
  return static_cast<unsigned>(from * std::exp(uniform(random) * std::log(below / from)));
}

__global__ void wait_cycles(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) continue;
}

// Values from -1 to 1.
template <class T>
__global__ void fill(T* x, std::size_t n, unsigned seed) {
  const std::size_t all = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += all) {
    unsigned bits = static_cast<unsigned>(i) * 2654435761u + seed;
    bits = (bits ^ bits >> 16) * 0x85ebca6bu;
    bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
    x[i] = static_cast<T>(static_cast<float>(bits ^ bits >> 16) * (2.0f / 4294967296.0f) - 1);
  }
}

using Launch = std::function<void()>;

// Milliseconds of each of `ways` in each round. `is_warmed`: each is launched once more before it
// is timed, so that its code and data are as near as when two take turns.
std::vector<std::vector<double>> take_turns(const std::vector<Launch>& ways, int rounds,
                                            bool is_warmed = false) {
  static std::vector<cudaEvent_t> events;
  const std::size_t count = ways.size();
  while (events.size() < 2 * count * rounds) {
    events.emplace_back();
    CUDA_CHECK(cudaEventCreate(&events.back()));
  }
  wait_cycles<<<1, 1>>>(30000ll * rounds * static_cast<long long>(count));
  for (int r = 0; r < rounds; ++r) {
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t way = (r + turn) % count;
      if (is_warmed) ways[way]();
      CUDA_CHECK(cudaEventRecord(events[2 * (r * count + way)]));
      ways[way]();
      CUDA_CHECK(cudaEventRecord(events[2 * (r * count + way) + 1]));
    }
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  std::vector<std::vector<double>> ms(count, std::vector<double>(rounds));
  for (int r = 0; r < rounds; ++r) {
    for (std::size_t way = 0; way < count; ++way) {
      float one = 0;
      const std::size_t at = 2 * (r * count + way);
      CUDA_CHECK(cudaEventElapsedTime(&one, events[at], events[at + 1]));
      ms[way][r] = one;
    }
  }
  return ms;
}

// In order, what `theirs` take over `ours` in each round.
std::vector<double> ratios(const std::vector<double>& theirs, const std::vector<double>& ours) {
  std::vector<double> each;
  for (std::size_t r = 0; r < ours.size(); ++r) each.push_back(theirs[r] / ours[r]);
  std::sort(each.begin(), each.end());
  return each;
}

// The fastest of some ways, in turns; all are launched once before, which loads their code.
std::size_t fastest_of(const std::vector<Launch>& ways, int rounds) {
  for (const auto& way : ways) way();
  const auto tried = take_turns(ways, rounds);
  std::size_t best = 0;
  for (std::size_t i = 1; i < ways.size(); ++i)
    if (median_of(tried[i]) < median_of(tried[best])) best = i;
  return best;
}
