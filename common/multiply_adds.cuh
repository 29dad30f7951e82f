// SPDX-License-Identifier: MIT
// Multiply-adds and nothing else: the yardstick of arithmetic. What a kernel of them reaches stands
// beside the peak that clock and cores promise.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "check.cuh"
#include "device.cuh"
#include "device_array.cuh"
#include "measured_row.cuh"
#include "options.cuh"
#include "result_table.cuh"
#include "verify.cuh"

/// Each thread does `turns` multiply-adds on each of kChains numbers. Those of one number wait for
/// each other, those of different ones do not. Number c ends as c * factor^turns + ..., with factor
/// and term 1 as c + turns; the sum of a thread's numbers is its result.
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

/// Adds a row of multiply_adds<kChains>, `flop` operations in all (two for a multiply-add; rounded
/// up to whole turns of all threads), in `blocks` blocks of 256 threads.
template <unsigned kChains>
void add_multiply_adds_row(ResultTable& table, const std::string& name, double flop,
                           unsigned blocks) {
  if (!table.options().wants(name)) return;
  constexpr unsigned kBlock = 256;
  const std::size_t threads = std::size_t{blocks} * kBlock;
  const double of_a_turn = 2.0 * kChains * static_cast<double>(threads);
  const unsigned turns = static_cast<unsigned>(flop / of_a_turn) + 1;
  // All these are whole numbers, and exact in a float up to 2^24.
  const float expected = static_cast<float>(kChains) *
                         (static_cast<float>(turns) + static_cast<float>(kChains - 1) / 2);
  const DeviceArray<float> results(threads);
  add_measured_row(
      table, name, of_a_turn * turns, [&] { results.poison(); },
      [&] { multiply_adds<kChains><<<blocks, kBlock>>>(1.0f, 1.0f, turns, results.get()); },
      [&] {
        const std::vector<float> sums = results.download();
        const std::vector<float> right(threads, expected);
        return all_equal(name, sums.data(), right.data(), threads);
      });
}

/// Name of the row that stands beside products of matrices, also for --only and --list.
constexpr const char* kMultiplyAddsRow = "multiply_adds";

/// As many multiply-adds as a product has, and nothing else: 16 chains, 8 warps per scheduler.
inline void add_multiply_adds_row(ResultTable& table, const Device& device, double flop) {
  constexpr unsigned kBlocksPerSm = 4;
  add_multiply_adds_row<16>(table, kMultiplyAddsRow, flop,
                            kBlocksPerSm * static_cast<unsigned>(device.sm_count));
}
