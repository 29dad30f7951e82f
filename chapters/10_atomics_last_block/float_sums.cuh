// SPDX-License-Identifier: MIT
// Every addition of floats rounds, so the order of the additions decides the result. By how much,
// and is it the same order every time? The sum of the squares of n ints, in eight ways:
//
// int_atomics        64-bit integers, in the order in which the atomics arrive
// float_atomics      one float, in the order in which the atomics arrive
// float_one_warp     32 threads, each adds a long chain of floats
// pairwise_one_warp  the same threads, each adds in pairs, pairs of pairs, ...
// kahan_one_warp     the same threads, each keeps what its additions lose
// float_tree         a whole grid; then the blocks' sums in the order of their numbers
// double_tree        the same in doubles
//   (both trees again, as _large, on 64 times the data)
// max_by_cas         no sum: the largest value, by an atomic that CUDA does not have
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace float_sums {

// The values are 1 ... kLargest. Their squares have up to 36 bits, so that a float must round them,
// and a double a sum of many; in 64 bits the sum is exact, for up to 1 Gi values.
using Exact = unsigned long long;
constexpr int kLargest = 200000;
constexpr unsigned kMaxBlock = 1024, kWarp = 32;
constexpr std::size_t kLargeFactor = kOnGpu ? 64 : 1;  // the trees' second rows: more data by that

// What one value contributes: the square of an element, or a block's sum as it is.
template <class T>
__device__ T term(int v) {
  return static_cast<T>(v) * static_cast<T>(v);
}
template <class T>
__device__ T term(T v) {
  return v;
}

__device__ inline std::size_t first_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::size_t stride() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

// Adds over the block by the tree of chapter 05; its sum goes to out[blockIdx.x].
template <class T>
__device__ void leave_block_sum(T mine, T* out) {
  __shared__ T partial[kMaxBlock];
  partial[threadIdx.x] = mine;
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  for (unsigned count = blockDim.x; count > 1; count = (count + 1) / 2) {
    const unsigned half = (count + 1) / 2;
    if (threadIdx.x < count - half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();  // the next level reads what other threads have just written
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

// ---- kernels -----------------------------------------------------------------------------------

template <class T>
__global__ void add_by_atomics(const int* x, std::size_t n, T* result) {
  for (std::size_t i = first_index(); i < n; i += stride()) atomicAdd(result, term<T>(x[i]));
}

// One addition after the other, in the order of i.
template <class X, class T>
__global__ void add_chains(const X* x, std::size_t n, T* out) {
  T sum = 0;
  for (std::size_t i = first_index(); i < n; i += stride()) sum += term<T>(x[i]);
  leave_block_sum(sum, out);
}

// A binary counter: level k holds a sum of 2^k squares until another one of that size comes and
// both move up together. Every square goes through log2 additions at most.
__global__ void add_in_pairs(const int* x, std::size_t n, float* out) {
  float level[40] = {};
  std::size_t count = 0;
  for (std::size_t i = first_index(); i < n; i += stride(), ++count) {
    float sum = term<float>(x[i]);
    unsigned k = 0;
    for (; (count >> k & 1) != 0; ++k) sum += level[k];
    level[k] = sum;
  }
  float sum = 0;
  for (unsigned k = 0; count >> k != 0; ++k) {
    if ((count >> k & 1) != 0) sum += level[k];
  }
  leave_block_sum(sum, out);
}

// Kahan, 1965: what the last addition added too much is taken off the next term.
__global__ void add_compensated(const int* x, std::size_t n, float* out) {
  float sum = 0, too_much = 0;
  for (std::size_t i = first_index(); i < n; i += stride()) {
    const float wanted = term<float>(x[i]) - too_much;
    const float next = sum + wanted;
    too_much = (next - sum) - wanted;  // 0, if additions were exact
    sum = next;
  }
  leave_block_sum(sum, out);
}

// There is no atomicMax for floats. But any update of one word can be made from compare-and-swap:
// compute from what was seen, and store only if that is still there; else look again.
__device__ inline void atomic_max(float* address, float value) {
  auto* word = reinterpret_cast<int*>(address);
  int seen = __float_as_int(-INFINITY);  // a guess; the first swap tells what is really there
  while (__int_as_float(seen) < value) {
    const int before = atomicCAS(word, seen, __float_as_int(value));
    if (before == seen) return;  // nobody came between: the value is in place
    seen = before;
  }
}

__global__ void max_by_cas(const int* x, std::size_t n, float* result) {
  float largest = 0;  // all values are above
  for (std::size_t i = first_index(); i < n; i += stride()) {
    largest = fmaxf(largest, static_cast<float>(x[i]));
  }
  atomic_max(result, largest);
}

// ---- the rows ----------------------------------------------------------------------------------

// How far off a result is, as a share of the right one. NaN for NaN.
template <class T>
double relative_error(T result, Exact exact) {
  return static_cast<double>(std::abs(static_cast<long double>(result) / exact - 1));
}

// How far off it may be. An addition rounds by at most epsilon / 2 of its result, and no sum on the
// way is larger than the last, as all terms are positive. So k additions in a row are off by at
// most k * epsilon / 2; the trees and pairs add no more than 100 to k. Integers have epsilon 0. A
// bound of 1 would allow a result of 0.
template <class T>
double bound(std::size_t in_a_row) {
  const auto epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  return std::min(static_cast<double>(in_a_row + 100) * epsilon / 2, 0.999);
}

// Whether an order of additions is the same in every launch.
enum class Order { kFixed, kAsTheyCome };

// One row: `launch` leaves its result in *result, which is 0 before. Beside its time, the largest
// error and the number of different results in as many runs as there are samples: one, if the order
// is fixed.
template <class T, class Launch>
void add_row(ResultTable& table, const std::string& name, Exact exact, std::size_t in_a_row,
             Order order, Launch launch) {
  const DeviceArray<T> result(1);
  const auto launch_from_zero = [&] {
    CUDA_CHECK(cudaMemsetAsync(result.get(), 0, sizeof(T)));
    launch(result.get());
  };
  const auto is_right = [&] {
    return relative_error(result.download()[0], exact) <= bound<T>(in_a_row);
  };
  const std::size_t runs = table.options().samples;
  std::set<T> results;
  double worst = 0;
  bool ok = true;
  for (std::size_t k = 0; k < runs; ++k) {
    launch_from_zero();
    CUDA_CHECK_LAUNCH();
    const T sum = result.download()[0];
    results.insert(sum);
    worst = std::max(worst, relative_error(sum, exact));
    ok = is_right() && ok;
  }
  const Measured m = measure_checked(
      runs, [&] { result.poison(); }, launch_from_zero, is_right);
  ok = ok && (order == Order::kAsTheyCome || results.size() == 1);
  table.add(name, m.time, 0, m.ok && ok);
  char text[128];
  std::snprintf(text, sizeof text, "%s: relative error %.1e, %zu different result%s in %zu runs",
                name.c_str(), worst, results.size(), results.size() == 1 ? "" : "s", runs);
  table.measured(name, worst, "relative error", text);
  table.measured(name, static_cast<double>(results.size()), "different results", "");
}

// The values, where they lie, and their sum.
struct Input {
  Input(std::size_t n, std::uint64_t seed) : Input(random_ints(n, 1, kLargest, seed)) {}
  explicit Input(const std::vector<int>& values)
      : x(values), largest(*std::max_element(values.begin(), values.end())) {
    for (const int v : values) exact += static_cast<Exact>(v) * static_cast<Exact>(v);
  }

  DeviceArray<int> x;
  int largest;
  Exact exact = 0;
};

// The sum by a whole grid: shares, blocks, then the blocks' sums.
template <class T>
void add_tree_row(ResultTable& table, const std::string& name, const Input& in, unsigned grid,
                  unsigned block) {
  const std::size_t n = in.x.size();
  const DeviceArray<T> partials(grid);
  const std::size_t in_a_row = div_up(n, std::size_t{grid} * block) + div_up(grid, block);
  add_row<T>(table, name, in.exact, in_a_row, Order::kFixed, [&](T* r) {
    add_chains<<<grid, block>>>(in.x.get(), n, partials.get());
    add_chains<<<1, block>>>(partials.get(), grid, r);
  });
}

// All eight, on n ints; the two trees also on more than the L2 holds.
inline void add_rows(ResultTable& table, std::size_t n, unsigned grid, unsigned block) {
  const Input in(n, table.options().seed);
  const int* const x = in.x.get();
  table.without_speedup();  // not all do the same work

  add_row<Exact>(table, "int_atomics", in.exact, n, Order::kFixed,
                 [&](Exact* r) { add_by_atomics<<<grid, block>>>(x, n, r); });
  add_row<float>(table, "float_atomics", in.exact, n, Order::kAsTheyCome,
                 [&](float* r) { add_by_atomics<<<grid, block>>>(x, n, r); });
  add_row<float>(table, "float_one_warp", in.exact, div_up(n, kWarp), Order::kFixed,
                 [&](float* r) { add_chains<<<1, kWarp>>>(x, n, r); });
  add_row<float>(table, "pairwise_one_warp", in.exact, 0, Order::kFixed,
                 [&](float* r) { add_in_pairs<<<1, kWarp>>>(x, n, r); });
  add_row<float>(table, "kahan_one_warp", in.exact, 0, Order::kFixed,
                 [&](float* r) { add_compensated<<<1, kWarp>>>(x, n, r); });
  add_tree_row<float>(table, "float_tree", in, grid, block);
  add_tree_row<double>(table, "double_tree", in, grid, block);
  add_row<float>(table, "max_by_cas", static_cast<Exact>(in.largest), 0, Order::kFixed,
                 [&](float* r) { max_by_cas<<<grid, block>>>(x, n, r); });

  const Input large(std::min<std::size_t>(kLargeFactor * n, 1_Gi), table.options().seed);
  add_tree_row<float>(table, "float_tree_large", large, grid, block);
  add_tree_row<double>(table, "double_tree_large", large, grid, block);
}

}  // namespace float_sums
