// SPDX-License-Identifier: MIT
// Chapter 05, what else a block shares. Included by shared_tree_reduction.cu, whose tree it uses.
//
// carved_arrays  sum, maximum and a count, from three arrays in one dynamic allocation
// barrier_votes  a count, an "all" and an "any" for free, at the barrier itself
// opt_in_tile    64 KiB of shared memory per block: above the limit that holds without asking
#pragma once

#include <algorithm>
#include <climits>
#include <numeric>
#include <string>
#include <vector>

#include "../../common/common.cuh"

constexpr unsigned kTileItems = 8192;                       // partial sums
constexpr int kTileBytes = kTileItems * sizeof(long long);  // 64 KiB

// There is one dynamic array per launch. Several typed ones are carved from it, those with the
// strictest alignment first, so that each begins where its type may begin for any block size.
constexpr std::size_t kCarvedBytesPerThread =
    sizeof(long long) + sizeof(int) + sizeof(unsigned short);

__global__ void sum_carved_arrays(const int* x, std::size_t n, long long* sums, int* maxima,
                                  int* odd_counts) {
  extern __shared__ long long carved[];
  long long* sum = carved;                                              // multiples of 8
  int* maximum = reinterpret_cast<int*>(sum + blockDim.x);              // multiples of 4
  auto* odd = reinterpret_cast<unsigned short*>(maximum + blockDim.x);  // multiples of 2

  const unsigned t = threadIdx.x;
  const std::size_t i = global_index();
  sum[t] = square_or_zero(x, n, i);
  maximum[t] = i < n ? x[i] : INT_MIN;  // the identity of max, as 0 is of +
  odd[t] = i < n && x[i] % 2 != 0;
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  for (unsigned count = blockDim.x; count > 1; count = (count + 1) / 2) {
    const unsigned half = (count + 1) / 2;
    if (t < count - half) {
      sum[t] += sum[half + t];
      maximum[t] = max(maximum[t], maximum[half + t]);
      odd[t] = static_cast<unsigned short>(odd[t] + odd[half + t]);
    }
    __syncthreads();  // the next level reads what other threads have just written
  }
  if (t == 0) {
    sums[blockIdx.x] = sum[0];
    maxima[blockIdx.x] = maximum[0];
    odd_counts[blockIdx.x] = odd[0];
  }
}

// Three barriers that also count, and, or a predicate over all threads of the block: no array at
// all.
__global__ void count_with_barrier_votes(const int* x, std::size_t n, int* odd_counts, int* flags) {
  const std::size_t i = global_index();
  const int odd = __syncthreads_count(i < n && x[i] % 2 != 0);
  const int all_below_10 = __syncthreads_and(i >= n || x[i] < 10);
  const int any_is_9 = __syncthreads_or(i < n && x[i] == 9);
  if (threadIdx.x == 0) {
    odd_counts[blockIdx.x] = odd;
    flags[blockIdx.x] = (all_below_10 ? 1 : 0) | (any_is_9 ? 2 : 0);
  }
}

// A tile of 8192 partial sums per block, whatever the number of threads: 64 KiB, which a launch may
// ask for only after cudaFuncSetAttribute has raised the kernel's limit.
__global__ void sum_opt_in_tile(const int* x, std::size_t n, long long* sums) {
  extern __shared__ long long tile[];
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kTileItems;
  for (unsigned k = threadIdx.x; k < kTileItems; k += blockDim.x) {
    tile[k] = square_or_zero(x, n, first + k);
  }
  __syncthreads();  // the fold reads slots of other threads
  fold_to_front(tile, kTileItems);
  if (threadIdx.x == 0) sums[blockIdx.x] = tile[0];
}

namespace shared_layouts {

// ---- the versions ------------------------------------------------------------------------------

// What they read and write. Block b leaves its results in element b of the last four arrays.
struct BlockResults {
  explicit BlockResults(const BlockSums& d)
      : x(d.x.get()),
        n(d.n),
        grid(d.grid),
        block(d.block),
        tile_grid(static_cast<unsigned>(std::max<std::size_t>(1, div_up(d.n, kTileItems)))),
        sums(grid),  // block <= kTileItems: enough for the tiles as well
        maxima(grid),
        odd_counts(grid),
        flags(grid) {
    CUDA_CHECK(cudaFuncSetAttribute(sum_opt_in_tile, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    kTileBytes));  // once, not at each launch
  }

  static constexpr std::size_t kBytesPerBlock = sizeof(long long) + 3 * sizeof(int);

  void poison() const {
    sums.poison();
    maxima.poison();
    odd_counts.poison();
    flags.poison();
  }

  const int* x;
  std::size_t n;
  unsigned grid, block;  // one thread per element
  unsigned tile_grid;    // blocks of opt_in_tile: one per tile
  DeviceArray<long long> sums;
  DeviceArray<int> maxima, odd_counts;
  DeviceArray<int> flags;  // bit 0: all values below 10, bit 1: any value is 9
};

const Version<BlockResults> kVersions[] = {
    {"carved_arrays", "sum, maximum and count from one dynamic array",
     [](const BlockResults& r) {
       sum_carved_arrays<<<r.grid, r.block, r.block * kCarvedBytesPerThread>>>(
           r.x, r.n, r.sums.get(), r.maxima.get(), r.odd_counts.get());
     }},
    {"barrier_votes", "count, all and any at the barrier itself",
     [](const BlockResults& r) {
       count_with_barrier_votes<<<r.grid, r.block>>>(r.x, r.n, r.odd_counts.get(), r.flags.get());
     }},
    {"opt_in_tile", "64 KiB of shared memory per block",
     [](const BlockResults& r) {
       sum_opt_in_tile<<<r.tile_grid, r.block, kTileBytes>>>(r.x, r.n, r.sums.get());
     }},
};

struct Expected {
  long long sum = 0, odd = 0;
  int maximum = INT_MIN;
  bool all_below_10 = true, any_is_9 = false;
};

Expected reference(const std::vector<int>& x) {
  Expected e;
  for (const int v : x) {
    e.sum += static_cast<long long>(v) * v;
    e.odd += v % 2 != 0;
    e.maximum = std::max(e.maximum, v);
    e.all_below_10 = e.all_below_10 && v < 10;
    e.any_is_9 = e.any_is_9 || v == 9;
  }
  return e;
}

template <class T>
long long total(const std::vector<T>& values) {
  return std::accumulate(values.begin(), values.end(), 0LL);
}

// Finishes on the host what the version left per block, and compares. A version leaves the arrays
// of what it does not compute as they were: poisoned.
bool check(const std::string& version, const BlockResults& r, const Expected& expected) {
  if (version == "opt_in_tile") {
    return equals(version + " sum", total(r.sums.download(r.tile_grid)), expected.sum);
  }
  bool ok = equals(version + " odd count", total(r.odd_counts.download()), expected.odd);
  if (version == "carved_arrays") {
    const std::vector<int> maxima = r.maxima.download();
    ok &= equals(version + " sum", total(r.sums.download()), expected.sum);
    ok &= equals(version + " maximum", *std::max_element(maxima.begin(), maxima.end()),
                 expected.maximum);
  } else {
    int all = 1, any = 0;
    for (const int f : r.flags.download()) all &= f, any |= f;
    ok &= equals(version + " all below 10", (all & 1) != 0, expected.all_below_10);
    ok &= equals(version + " any is 9", (any & 2) != 0, expected.any_is_9);
  }
  return ok;
}

// The rows of these versions, on the ints and in the blocks of the others.
void add_rows(ResultTable& table, const std::vector<int>& x, const BlockSums& d) {
  const BlockResults results(d);
  const Expected expected = reference(x);
  add_version_rows(
      table, kVersions, results, static_cast<double>(d.x.bytes()), [&] { results.poison(); },
      [&](const char* version) { return check(version, results, expected); });
}

}  // namespace shared_layouts
