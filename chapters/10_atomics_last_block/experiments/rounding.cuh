// SPDX-License-Identifier: MIT
// Chapter 10: how the experiments with sums of floats tell how far off a sum is, and whether it is
// the same every time.
#pragma once

#include <limits>
#include <set>

#include "grid_walk.cuh"

constexpr unsigned kMostThreads = 1024;  // of a block

// Adds over the block by the tree of chapter 05; its sum goes to out[blockIdx.x].
template <class T>
__device__ void leave_block_sum(T mine, T* out) {
  __shared__ T partial[kMostThreads];
  partial[threadIdx.x] = mine;
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  for (unsigned count = blockDim.x; count > 1; count = (count + 1) / 2) {
    const unsigned half = (count + 1) / 2;
    if (threadIdx.x < count - half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();  // the next level reads what other threads have just written
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

// The values are 1 ... kLargest. Their squares have up to 36 bits, so that a float must round them,
// and a double a sum of many; in 64 bits the sum is exact, for up to 1 Gi values.
using Exact = unsigned long long;
constexpr int kLargest = 200000;

struct Input {
  explicit Input(const std::vector<int>& values) : x(values) {
    for (const int v : values) exact += static_cast<Exact>(v) * static_cast<Exact>(v);
  }
  DeviceArray<int> x;
  Exact exact = 0;  // the sum of squares
};

// How far off a result is, as a share of the right one. NaN for NaN.
template <class T>
double relative_error(T result, Exact exact) {
  return static_cast<double>(std::abs(static_cast<long double>(result) / exact - 1));
}

// How far off it may be. An addition rounds by at most epsilon / 2 of its result, and no sum on the
// way is larger than the last, as all terms are positive. So k in a row are off by k * epsilon / 2
// at most; trees and pairs add less than 100 to k. Integers have epsilon 0. A bound of 1 would
// allow a 0.
template <class T>
double bound(std::size_t in_a_row) {
  const auto epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  return std::min(static_cast<double>(in_a_row + 100) * epsilon / 2, 0.999);
}

struct Row {
  const char *name, *summary;
  std::size_t in_a_row;     // additions
  bool fixed_order = true;  // the same bits every time
};

template <class T>
bool is_within_bound(const Row& row, T result, Exact exact) {
  return relative_error(result, exact) <= bound<T>(row.in_a_row) ||
         report_wrong(row.name, "", result, exact);
}

// `launch` leaves a sum in *result. It runs once for each sample; then it is timed.
template <class T, class Launch>
void add_row(ResultTable& table, const Row& row, Exact exact, Launch launch) {
  if (!table.wants(row.name, row.summary)) return;
  const DeviceArray<T> result(1);
  const auto run = [&] {
    launch(result.get());
    CUDA_CHECK_LAUNCH();
  };
  const auto is_right = [&] { return is_within_bound(row, result.download()[0], exact); };
  std::set<T> results;
  double worst = 0;
  bool ok = true;
  for (std::size_t k = 0; k < table.opt.samples; ++k) {
    result.poison();
    run();
    results.insert(result.download()[0]);
    worst = std::max(worst, relative_error(result.download()[0], exact));
    ok = is_right() && ok;
  }
  const Timing t = time_launches(table.opt.samples, run);
  ok = is_right() && ok && (results.size() == 1 || !row.fixed_order);
  table.row(row.name, t, 0, ok);
  char text[96];
  std::snprintf(text, sizeof text, "%s: relative error %.1e, different results in %zu runs: %zu",
                row.name, worst, table.opt.samples, results.size());
  table.measured(row.name, worst, "relative error", text);
  table.measured(row.name, results.size(), "different results");
}
