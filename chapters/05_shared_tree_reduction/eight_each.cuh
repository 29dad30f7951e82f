// SPDX-License-Identifier: MIT
// Chapter 05, the top of the ladder: fewer blocks and fewer barriers for the same ints. Included by
// shared_tree_reduction.cu, whose tree it uses.
//
// eight_each  every thread adds eight elements in a register before the tree begins
// last_warp   the same; the last 32 partial sums are added by one warp, without barriers
// wide_loads  the same; the eight elements come in two loads of 16 bytes
// cub_block   like last_warp, by the library's reduction of a block (GPU only)
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "../../common/common.cuh"

constexpr unsigned kWarp = 32;
constexpr unsigned kItems = 8;  // elements per thread

// The squares of this thread's eight elements. They are blockDim.x apart, so that neighbouring
// lanes read neighbours. No load waits for another: all eight are under way at once.
__device__ long long sum_of_eight(const int* x, std::size_t n) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kItems * blockDim.x;
  long long sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) {
    sum += square_or_zero(x, n, first + k * blockDim.x + threadIdx.x);
  }
  return sum;
}

__global__ void sum_eight_each(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  partial[threadIdx.x] = sum_of_eight(x, n);
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  fold_to_front(partial, blockDim.x);
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

// The tree stops at 32 partial sums. They belong to one warp, whose lanes can pass values to each
// other directly: __shfl_down_sync returns the `sum` of the lane `distance` further up. It waits
// for the lanes in the mask only, so that no barrier is needed. The chapter on warps says more.
__device__ void fold_with_last_warp(long long* partial, long long* sum_of_block) {
  const unsigned t = threadIdx.x;
  unsigned count = blockDim.x;
  while (count > kWarp) {
    const unsigned half = (count + 1) / 2;
    if (t < count - half) partial[t] += partial[half + t];
    __syncthreads();  // the next level, or the last warp, reads what others have just written
    count = half;
  }
  if (t >= kWarp) return;  // no barrier comes any more
  const unsigned lanes = 0xffffffffu >> (kWarp - min(blockDim.x, kWarp));  // a bit for each lane
  long long sum = partial[t];
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    const long long other = __shfl_down_sync(lanes, sum, distance);
    if (t + distance < count) sum += other;  // what lies past the end is nobody's partial sum
  }
  if (t == 0) *sum_of_block = sum;
}

__global__ void sum_last_warp(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  partial[threadIdx.x] = sum_of_eight(x, n);
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  fold_with_last_warp(partial, &sums[blockIdx.x]);
}

__device__ long long square(int value) { return static_cast<long long>(value) * value; }

// Eight elements again, but four of them lie side by side and come with one load of 16 bytes. Both
// loads are under way at once, because no branch stands between them: a block that the end of x
// cuts short goes the other way as a whole.
__device__ long long sum_of_two_quads(const int* x, std::size_t n) {
  const std::size_t items = std::size_t{kItems} * blockDim.x, first = blockIdx.x * items;
  if (first + items > n) return sum_of_eight(x, n);
  const int4* quads = reinterpret_cast<const int4*>(x + first);
  const int4 a = quads[threadIdx.x], b = quads[blockDim.x + threadIdx.x];
  return square(a.x) + square(a.y) + square(a.z) + square(a.w) +  //
         square(b.x) + square(b.y) + square(b.z) + square(b.w);
}

__global__ void sum_wide_loads(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  partial[threadIdx.x] = sum_of_two_quads(x, n);
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  fold_with_last_warp(partial, &sums[blockIdx.x]);
}

// CUB has to know the number of threads when it is compiled.
template <unsigned kThreads>
__global__ void sum_cub_block(const int* x, std::size_t n, long long* sums) {
  const long long sum = cub_block_sum<kThreads>(sum_of_eight(x, n));  // for thread 0 only
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

namespace eight_each {

// ---- the versions ------------------------------------------------------------------------------

// An eighth of the blocks of the other versions: they use the first places of `sums`.
unsigned grid_of(const BlockSums& d) {
  return static_cast<unsigned>(std::max<std::size_t>(1, div_up(d.n, kItems * d.block)));
}

const Version<BlockSums> kVersions[] = {
    {"eight_each", "eight elements per thread before the tree",
     [](const BlockSums& d) {
       sum_eight_each<<<grid_of(d), d.block>>>(d.x.get(), d.n, d.sums.get());
     }},
    {"last_warp", "and the last 32 by one warp, without barriers",
     [](const BlockSums& d) {
       sum_last_warp<<<grid_of(d), d.block>>>(d.x.get(), d.n, d.sums.get());
     }},
    {"wide_loads", "and the eight in two loads of 16 bytes",
     [](const BlockSums& d) {
       sum_wide_loads<<<grid_of(d), d.block>>>(d.x.get(), d.n, d.sums.get());
     }},
};

template <unsigned kThreads>
void launch_cub_block(const BlockSums& d) {
  sum_cub_block<kThreads><<<grid_of(d), kThreads>>>(d.x.get(), d.n, d.sums.get());
}

constexpr const char* kCubBlockRow = "cub_block";

// CUB's block reduction, for the block sizes that it is compiled for here; none for others.
Version<BlockSums> cub_block_version(unsigned block) {
  const auto launch = block == 64     ? launch_cub_block<64>
                      : block == 128  ? launch_cub_block<128>
                      : block == 256  ? launch_cub_block<256>
                      : block == 512  ? launch_cub_block<512>
                      : block == 1024 ? launch_cub_block<1024>
                                      : nullptr;
  return {kCubBlockRow, "eight elements per thread, then cub::BlockReduce", launch};
}

void name_rows(Options& opt) {
  opt.versions(kVersions);
  if (kOnGpu) opt.version(kCubBlockRow, cub_block_version(256).summary);
}

// Adds the sums of the blocks and compares.
bool is_right(const std::string& version, const BlockSums& d, long long expected) {
  const std::vector<long long> sums = d.sums.download(grid_of(d));
  return equals(version, std::accumulate(sums.begin(), sums.end(), 0LL), expected);
}

void add_rows(ResultTable& table, const BlockSums& d, long long expected) {
  const auto add = [&](const auto& versions) {
    add_version_rows(
        table, versions, d, static_cast<double>(d.x.bytes()), [&] { d.sums.poison(); },
        [&](const char* version) { return is_right(version, d, expected); });
  };
  add(kVersions);
  if (!kOnGpu || !table.options().wants(kCubBlockRow)) return;
  const Version<BlockSums> cub_block[] = {cub_block_version(d.block)};
  if (cub_block[0].launch != nullptr) return add(cub_block);
  table.note("cub_block: only for blocks of 64, 128, 256, 512 and 1024 threads");
}

}  // namespace eight_each
