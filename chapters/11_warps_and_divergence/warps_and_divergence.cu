// SPDX-License-Identifier: MIT
// Chapter 11: what happens when the lanes of a warp disagree?
//
// tree_syncwarp  the sum of a warp in shared memory, with __syncwarp before each level
// shuffle_down   values go from lane to lane, without memory
// shuffle_xor    the same with partners that swap: every lane gets the sum
// reduce_add     the same by one instruction
// cg_reduce      the same by cooperative groups
// block_tree     the sum of a block as in chapter 05, with a barrier before each level
// block_shuffle  each warp by shuffles, then their sums by one warp: one barrier
// block_wide, cub_warp, cub_block   16 ints per thread in wide loads; NVIDIA's library
// Run: make run CH=11

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "../../common/common.cuh"

constexpr unsigned kWarp = 32, kMaxBlock = 1024, kAllLanes = 0xffffffffu;
constexpr unsigned kItems = 16;  // ints per thread of block_wide

__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ unsigned lane_number() { return threadIdx.x % kWarp; }
__device__ std::size_t warp_number() { return global_index() / kWarp; }  // of the whole grid

// This thread's element, or 0 past the end of x. Nobody may leave: each lane is needed below.
__device__ int element_or_zero(const int* x, std::size_t n) {
  return global_index() < n ? x[global_index()] : 0;
}

// The upper half of the lanes onto the lower half, five times. __syncwarp makes the lanes wait for
// each other and see what the others wrote before: the hardware does not promise that they run in
// step (experiments/lockstep.cu).
__global__ void sum_tree_syncwarp(const int* x, std::size_t n, int* sums) {
  __shared__ int partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  partial[t] = element_or_zero(x, n);
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    __syncwarp();  // a level reads what other lanes wrote in the level before
    if (lane_number() < distance) partial[t] += partial[t + distance];
  }
  if (lane_number() == 0) sums[warp_number()] = partial[t];
}

// No memory: each lane gets the register of the lane `distance` further up, and adds it. Past the
// last lane it gets its own back; what such lanes add up reaches lane 0 nowhere. Only lane 0 has
// the sum.
template <class T>
__device__ T sum_down(T value) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(kAllLanes, value, distance);
  }
  return value;
}

__global__ void sum_shuffle_down(const int* x, std::size_t n, int* sums) {
  const int sum = sum_down(element_or_zero(x, n));
  if (lane_number() == 0) sums[warp_number()] = sum;
}

// Partners swap: lane 5 (00101) with 21 (10101), with 13, 1, 7, 4. All lanes end with the sum.
__device__ int sum_xor(int value) {
  for (int bit = kWarp / 2; bit > 0; bit /= 2) value += __shfl_xor_sync(kAllLanes, value, bit);
  return value;
}

__global__ void sum_shuffle_xor(const int* x, std::size_t n, int* sums) {
  const int sum = sum_xor(element_or_zero(x, n));
  if (lane_number() == 0) sums[warp_number()] = sum;
}

// One instruction, for 32-bit integers, from sm_80 on. Older chips have to shuffle.
__global__ void sum_reduce_add(const int* x, std::size_t n, int* sums) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const int sum = __reduce_add_sync(kAllLanes, element_or_zero(x, n));
#else
  const int sum = sum_down(element_or_zero(x, n));
#endif
  if (lane_number() == 0) sums[warp_number()] = sum;
}

// A tile of 32 threads is a warp. The library picks the instruction, or shuffles.
__global__ void sum_cg_reduce(const int* x, std::size_t n, int* sums) {
  namespace cg = cooperative_groups;
  const auto warp = cg::tiled_partition<kWarp>(cg::this_thread_block());
  const int sum = cg::reduce(warp, element_or_zero(x, n), cg::plus<int>());
  if (warp.thread_rank() == 0) sums[warp_number()] = sum;
}

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

// ---- the versions ------------------------------------------------------------------------------

// n ints, and places for what warps and blocks leave. What warps add up must fit an int.
struct Sums {
  void poison() const { of_warps.poison(), of_blocks.poison(); }

  // Compares with the sums of every `count` neighbours, added by the host.
  template <class T>
  bool add_up(const std::string& version, const DeviceArray<T>& sums, std::size_t count) const {
    std::vector<T> expected(div_up(std::size_t{grid} * block, count));
    for (std::size_t i = 0; i < n; ++i) expected[i / count] += host_x[i];
    return all_equal(version, sums.download(expected.size()), expected);
  }
  bool is_right(const std::string& version) const { return add_up(version, of_warps, kWarp); }
  template <unsigned kEach>  // ints per thread
  bool blocks_are_right(const std::string& version) const {
    return add_up(version, of_blocks, kEach * block);
  }

  std::vector<int> host_x;
  unsigned block;  // threads, whole warps
  DeviceArray<int> x{host_x};
  std::size_t n = x.size();
  unsigned grid = blocks_for(n, block);  // blocks, if a thread has one int: the most there are
  DeviceArray<int> of_warps{std::size_t{grid} * (block / kWarp)};
  DeviceArray<long long> of_blocks{grid};
};

// Kernels that leave ints leave them for warps; those that leave 64 bits, for blocks. A thread has
// kEach ints.
template <void (*kKernel)(const int*, std::size_t, int*)>
void launch(const Sums& d) {
  kKernel<<<d.grid, d.block>>>(d.x, d.n, d.of_warps);
}
template <void (*kKernel)(const int*, std::size_t, long long*), unsigned kEach = 1>
void launch(const Sums& d) {
  kKernel<<<blocks_for(d.n, kEach * d.block), d.block>>>(d.x, d.n, d.of_blocks);
}

const Version<Sums> kVersions[] = {
    {"tree_syncwarp", "shared memory, __syncwarp before each level", launch<sum_tree_syncwarp>},
    {"shuffle_down", "from lane to lane, the sum in lane 0", launch<sum_shuffle_down>},
    {"shuffle_xor", "partners swap, the sum in every lane", launch<sum_shuffle_xor>},
    {"reduce_add", "one instruction (sm_80 and later)", launch<sum_reduce_add>},
    {"cg_reduce", "cooperative groups: reduce over a tile of 32", launch<sum_cg_reduce>},
    {"block_tree", "chapter 05: a tree with barriers", launch<sum_block_tree>,
     &Sums::blocks_are_right<1>},
    {"block_shuffle", "shuffles in each warp, and again for the warps' sums",
     launch<sum_block_shuffle>, &Sums::blocks_are_right<1>},
    {"block_wide", "the same with 16 ints per thread", launch<sum_block_wide, kItems>,
     &Sums::blocks_are_right<kItems>},
};

// ---- CUB, NVIDIA's library: for GPUs only ------------------------------------------------------

#if !defined(__CUDA_CPU__)
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>

__global__ void sum_cub_warp(const int* x, std::size_t n, int* sums) {
  using Reduce = cub::WarpReduce<int>;
  __shared__ typename Reduce::TempStorage storage[kMaxBlock / kWarp];
  const int sum = Reduce(storage[threadIdx.x / kWarp]).Sum(element_or_zero(x, n));
  if (lane_number() == 0) sums[warp_number()] = sum;  // CUB gives it to lane 0 only
}

// It has to know the number of threads when it is compiled.
template <unsigned kThreads>
__global__ void sum_cub_block(const int* x, std::size_t n, long long* sums) {
  using Reduce = cub::BlockReduce<long long, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const long long sum = Reduce(storage).Sum(sum_of_items(x, n));  // for thread 0 only
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

std::vector<Version<Sums>> cub_versions(unsigned block) {
  const auto of_block = block == 128   ? launch<sum_cub_block<128>, kItems>
                        : block == 256 ? launch<sum_cub_block<256>, kItems>
                        : block == 512 ? launch<sum_cub_block<512>, kItems>
                                       : nullptr;
  std::vector<Version<Sums>> versions = {
      {"cub_warp", "a warp's sum by cub::WarpReduce", launch<sum_cub_warp>},
      {"cub_block", "block_wide, its sum by cub::BlockReduce", of_block,
       &Sums::blocks_are_right<kItems>}};
  if (of_block == nullptr) versions.pop_back();
  return versions;
}
#else
std::vector<Version<Sums>> cub_versions(unsigned) { return {}; }
#endif

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;  // without a GPU the data ends inside a warp
  std::size_t block = 256;
  const Options opt(argc, argv, "11_warps_and_divergence",
                    "what happens when the lanes of a warp disagree?",
                    {{"n", &n, 1, 8_Gi, "ints to sum"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block", kWarp}});
  const std::size_t bytes = n * sizeof(int);
  ResultTable table(opt, bytes, bytes / kWarp + 16 * (div_up(n, block) + 1));
  table.rate_in("GB/s", "read", measured_read_gbps(bytes));

  const Sums sums{random_ints(n, 0, 9, opt.seed), static_cast<unsigned>(block)};
  for (const auto& version : kVersions) table.add(version, sums);
  for (const auto& version : cub_versions(sums.block)) table.add(version, sums);
  return table.finish();
}
