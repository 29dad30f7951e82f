// SPDX-License-Identifier: MIT
// Chapter 11, the sum of a block, finished by shuffles. Included by warps_and_divergence.cu.
//
// block_tree     chapter 05's tree, with a barrier before each level
// block_shuffle  each warp by shuffles, then their sums by one warp: one barrier
// block_wide     the same, with 16 ints per thread in four loads of 16 bytes
// cub_warp       the sum of a warp by the library (GPU only)
// cub_block      block_wide with the library's sum of a block (GPU only)
#pragma once

#ifndef __CUDA_CPU__
#include <cub/warp/warp_reduce.cuh>
#endif

constexpr unsigned kItems = 16;  // ints per thread of block_wide

// Chapter 05: a tree over all threads of the block, with a barrier before each level.
__global__ void sum_block_tree(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  partial[threadIdx.x] = element_or_zero(x, n);
  for (unsigned count = blockDim.x; count > 1;) {
    const unsigned half = (count + 1) / 2;
    __syncthreads();  // a level reads what other threads wrote in the level before
    if (threadIdx.x < count - half) partial[threadIdx.x] += partial[half + threadIdx.x];
    count = half;
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

// The sum over the block, for thread 0: two sums of a warp, and one barrier between them. At most
// 32 warps, so that one warp can add what they leave.
__device__ long long block_sum(long long value) {
  __shared__ long long per_warp[kMaxBlock / kWarp];
  const long long of_warp = sum_down(value);
  if (lane_number() == 0) per_warp[threadIdx.x / kWarp] = of_warp;
  __syncthreads();  // the first warp reads what the others wrote
  if (threadIdx.x >= kWarp) return 0;
  return sum_down(threadIdx.x < blockDim.x / kWarp ? per_warp[threadIdx.x] : 0);
}

__global__ void sum_block_shuffle(const int* x, std::size_t n, long long* sums) {
  const long long sum = block_sum(element_or_zero(x, n));
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__device__ long long sum_of_quad(int4 q) {
  return static_cast<long long>(q.x) + q.y + (static_cast<long long>(q.z) + q.w);
}

// The sum of this thread's 16 ints: four quads, a block apart, all under way at once. Only the last
// block can be cut short, and goes int by int.
__device__ long long sum_of_items(const int* x, std::size_t n) {
  const std::size_t items = std::size_t{kItems} * blockDim.x, first = blockIdx.x * items;
  long long sum = 0;
  if (first + items <= n) {
    const auto* quads = reinterpret_cast<const int4*>(x + first) + threadIdx.x;
    int4 v[kItems / 4];
    for (unsigned k = 0; k < kItems / 4; ++k) v[k] = quads[k * blockDim.x];
    for (const int4 quad : v) sum += sum_of_quad(quad);
  } else {
    for (std::size_t i = first + threadIdx.x; i < n; i += blockDim.x) sum += x[i];
  }
  return sum;
}

__global__ void sum_block_wide(const int* x, std::size_t n, long long* sums) {
  const long long sum = block_sum(sum_of_items(x, n));
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// ---- by the library ----------------------------------------------------------------------------

#ifndef __CUDA_CPU__
__device__ int cub_warp_sum(int value) {
  using Reduce = cub::WarpReduce<int>;
  __shared__ typename Reduce::TempStorage storage[kMaxBlock / kWarp];
  return Reduce(storage[threadIdx.x / kWarp]).Sum(value);
}
#else
// Only for the compiler: the row is left out on the CPU backend.
__device__ int cub_warp_sum(int value) { return value; }
#endif

__global__ void sum_cub_warp(const int* x, std::size_t n, int* sums) {
  const int sum = cub_warp_sum(element_or_zero(x, n));  // for lane 0 only
  if (lane_number() == 0) sums[warp_number()] = sum;
}

// CUB has to know the number of threads when it is compiled.
template <unsigned kThreads>
__global__ void sum_cub_block(const int* x, std::size_t n, long long* sums) {
  const long long sum = cub_block_sum<kThreads>(sum_of_items(x, n));  // for thread 0 only
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

namespace block_sums {

// ---- the versions ------------------------------------------------------------------------------

unsigned wide_grid(const Sums& d) {
  return static_cast<unsigned>(
      std::max<std::size_t>(1, div_up(d.n, std::size_t{kItems} * d.block)));
}

const Version<Sums> kOneEach[] = {
    {"block_tree", "chapter 05: a tree with barriers",
     [](const Sums& d) { sum_block_tree<<<d.grid, d.block>>>(d.x.get(), d.n, d.of_blocks.get()); }},
    {"block_shuffle", "shuffles in each warp, and again for the warps' sums",
     [](const Sums& d) {
       sum_block_shuffle<<<d.grid, d.block>>>(d.x.get(), d.n, d.of_blocks.get());
     }},
};

const Version<Sums> kWide[] = {
    {"block_wide", "the same with 16 ints per thread",
     [](const Sums& d) {
       sum_block_wide<<<wide_grid(d), d.block>>>(d.x.get(), d.n, d.of_blocks.get());
     }},
};

const Version<Sums> kCubWarp[] = {
    {"cub_warp", "a warp's sum by cub::WarpReduce",
     [](const Sums& d) { sum_cub_warp<<<d.grid, d.block>>>(d.x.get(), d.n, d.of_warps.get()); }},
};

template <unsigned kThreads>
void launch_cub_block(const Sums& d) {
  sum_cub_block<kThreads><<<wide_grid(d), kThreads>>>(d.x.get(), d.n, d.of_blocks.get());
}

// For the block sizes that it is compiled for here; none for others.
Version<Sums> cub_block_version(unsigned block) {
  const auto launch = block == 128   ? launch_cub_block<128>
                      : block == 256 ? launch_cub_block<256>
                      : block == 512 ? launch_cub_block<512>
                                     : nullptr;
  return {"cub_block", "block_wide, its sum by cub::BlockReduce", launch};
}

void name_rows(Options& opt) {
  if (kOnGpu) opt.versions(kCubWarp);
  opt.versions(kOneEach);
  opt.versions(kWide);
  if (kOnGpu) opt.version("cub_block", cub_block_version(256).summary);
}

// Every block's sum of `items` ints.
bool is_right(const std::string& version, const Sums& d, const std::vector<long long>& expected) {
  const auto sums = d.of_blocks.download(expected.size());
  return all_equal(version, sums.data(), expected.data(), expected.size());
}

void add_rows(ResultTable& table, const std::vector<int>& x, const Sums& d,
              const std::vector<int>& of_warps) {
  const auto bytes = static_cast<double>(d.x.bytes());
  const auto poison = [&] { d.poison(); };
  if (kOnGpu) {
    add_version_rows(table, kCubWarp, d, bytes, poison,
                     [&](const char* version) { return check(version, d, of_warps); });
  }
  const auto expected = sums_of_each<long long>(x, d.block, d.grid);
  add_version_rows(table, kOneEach, d, bytes, poison,
                   [&](const char* version) { return is_right(version, d, expected); });
  const auto wide = sums_of_each<long long>(x, std::size_t{kItems} * d.block, wide_grid(d));
  const auto add_wide = [&](const auto& versions) {
    add_version_rows(table, versions, d, bytes, poison,
                     [&](const char* version) { return is_right(version, d, wide); });
  };
  add_wide(kWide);
  if (!kOnGpu || !table.options().wants("cub_block")) return;
  const Version<Sums> cub_block[] = {cub_block_version(d.block)};
  if (cub_block[0].launch != nullptr) return add_wide(cub_block);
  table.note("cub_block: only for blocks of 128, 256 and 512 threads");
}

}  // namespace block_sums
