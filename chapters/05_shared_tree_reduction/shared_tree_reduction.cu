// SPDX-License-Identifier: MIT
// Chapter 05: how do the threads of a block add up together?
//
// global_modulo       a tree of partial sums in global memory, neighbours first
// shared_one_thread   partial sums in shared memory, thread 0 adds them all
// shared_modulo       the tree in shared memory, neighbours first, a remainder picks the threads
// shared_mask         the same tree, and the same threads, picked without a division
// shared_interleaved  the same additions by the first threads: whole warps have nothing to add
// shared_sequential   the upper half onto the lower half: neighbours add neighbouring slots
// dynamic_shared      the same, with the array sized by the launch
// eight_each, last_warp, wide_loads   less tree: eight elements per thread, one warp at the end
// cub_block, cub      NVIDIA's library, for a block and for all of x
// Run: make run CH=05

#include <climits>

#include "../../common/common.cuh"

constexpr unsigned kMaxBlock = 1024;  // threads per block, a limit of the hardware
constexpr unsigned kWarp = 32;
constexpr unsigned kItems = 8;  // elements per thread, from eight_each on

// The element this thread is responsible for.
__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// The square of x[i], or 0 (which changes no sum) for threads past the end of x. They must not
// return early: everyone is needed at the barriers below.
__device__ long long square_or_zero(const int* x, std::size_t n, std::size_t i) {
  return i < n ? static_cast<long long>(x[i]) * x[i] : 0;
}

// Neighbours first: at distance 1, 2, 4, ... every thread whose index is a multiple of twice the
// distance adds the partial sum at that distance. Each level goes through global memory.
__global__ void sum_global_modulo(const int* x, std::size_t n, long long* scratch,
                                  long long* sums) {
  const unsigned t = threadIdx.x;
  long long* partial = scratch + static_cast<std::size_t>(blockIdx.x) * blockDim.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // a level reads what other threads wrote in the level before
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    if (t % (2 * distance) == 0 && t + distance < blockDim.x) partial[t] += partial[t + distance];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// Shared memory, but no tree: one thread adds while all others have nothing to do.
__global__ void sum_shared_one_thread(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];  // one slot per thread, not per block
  const unsigned t = threadIdx.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // thread 0 is about to read every slot
  if (t == 0) {
    long long sum = 0;
    for (unsigned k = 0; k < blockDim.x; ++k) sum += partial[k];
    sums[blockIdx.x] = sum;
  }
}

// The first tree again, in shared memory. Up to distance 16 every warp has a few lanes that add.
// Further on half of the warps or more have none, and still each lane computes the remainder.
__global__ void sum_shared_modulo(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // a level reads what other threads wrote in the level before
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    if (t % (2 * distance) == 0 && t + distance < blockDim.x) partial[t] += partial[t + distance];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// Only one thing changes: 2 * distance is a power of two, which the compiler cannot know. Then the
// remainder is 0 where the bits below 2 * distance are, and no division is needed to see that.
__global__ void sum_shared_mask(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // a level reads what other threads wrote in the level before
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    const bool adds = (t & (2 * distance - 1)) == 0;
    if (adds && t + distance < blockDim.x) partial[t] += partial[t + distance];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// The same pairs, but the first threads do the work. Whole warps have nothing to add then, but none
// rests: nvcc makes predicates of the short if. A warp whose lanes are all switched off executes
// both loads and the store all the same, and each takes a turn of shared memory. The banks are
// asked for as many passes as above: fewer warps ask, and more of their lanes meet.
__global__ void sum_shared_interleaved(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // a level reads what other threads wrote in the level before
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    const unsigned left = 2 * distance * t;
    if (left + distance < blockDim.x) partial[left] += partial[left + distance];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// Folds partial[0..count) into partial[0], the upper half onto the lower half: lanes that work are
// neighbours and so are their slots. When the count is odd the middle slot waits for the next
// level. Every thread of the block must call it, with a barrier after the last write to partial.
__device__ void fold_to_front(long long* partial, unsigned count) {
  while (count > 1) {
    const unsigned half = (count + 1) / 2;
    for (unsigned k = threadIdx.x; k < count - half; k += blockDim.x) {
      partial[k] += partial[half + k];
    }
    __syncthreads();  // the next level reads sums that other threads have just written
    count = half;
  }
}

__global__ void sum_shared_sequential(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  partial[threadIdx.x] = square_or_zero(x, n, global_index());
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  fold_to_front(partial, blockDim.x);
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

// The launch says how many bytes (not elements) the array has: just what this block size needs.
__global__ void sum_dynamic_shared(const int* x, std::size_t n, long long* sums) {
  extern __shared__ long long dynamic_partial[];
  dynamic_partial[threadIdx.x] = square_or_zero(x, n, global_index());
  __syncthreads();  // as above
  fold_to_front(dynamic_partial, blockDim.x);
  if (threadIdx.x == 0) sums[blockIdx.x] = dynamic_partial[0];
}

// The squares of this thread's eight elements. They are blockDim.x apart, so that neighbouring
// lanes read neighbours. No load needs another, but nvcc 13 puts seven behind the first one's use.
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
// loads are under way at once: nvcc issues them one behind the other. A block that the end of x
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

// ---- the versions ------------------------------------------------------------------------------

// n ints in blocks of `block` threads: a thread for each int, or for eight of them.
struct BlockSums {
  BlockSums(const std::vector<int>& values, unsigned threads) : x(values), block(threads) {
    for (const long long v : values) expected += v * v;
  }

  void poison() const { sums.poison(); }

  // The host finishes the sum: it adds what the blocks left. Where none did there is still the
  // poison, a -1.
  bool is_right(const std::string& version) const {
    long long sum = 0;
    for (const long long s : sums.download()) sum += s == -1 ? 0 : s;
    return equals(version, sum, expected);
  }

  DeviceArray<int> x;
  std::size_t n = x.size();
  unsigned block;
  unsigned grid = blocks_for(n, block);                       // blocks, if a thread has one element
  DeviceArray<long long> scratch{std::size_t{grid} * block};  // for the tree in global memory
  DeviceArray<char> cub_scratch{1_Mi};                        // what CUB wants for itself, and more
  DeviceArray<long long> sums{grid};                          // a sum of squares per block
  long long expected = 0;
};

// A thread for every kEach elements.
template <auto kKernel, unsigned kEach = 1>
void launch(const BlockSums& d) {
  kKernel<<<blocks_for(d.n, kEach * d.block), d.block>>>(d.x, d.n, d.sums);
}

const Version<BlockSums> kVersions[] = {
    {"global_modulo", "tree in global memory, neighbours first",
     [](auto& d) { sum_global_modulo<<<d.grid, d.block>>>(d.x, d.n, d.scratch, d.sums); }},
    {"shared_one_thread", "shared memory, thread 0 adds", launch<sum_shared_one_thread>},
    {"shared_modulo", "tree in shared memory, neighbours first, by remainder",
     launch<sum_shared_modulo>},
    {"shared_mask", "the same threads, picked without a division", launch<sum_shared_mask>},
    {"shared_interleaved", "the same pairs by the first threads", launch<sum_shared_interleaved>},
    {"shared_sequential", "upper half onto lower half", launch<sum_shared_sequential>},
    {"dynamic_shared", "the array sized by the launch",
     [](auto& d) {
       const std::size_t bytes = d.block * sizeof(long long);  // bytes, not elements
       sum_dynamic_shared<<<d.grid, d.block, bytes>>>(d.x, d.n, d.sums);
     }},
    {"eight_each", "eight elements per thread before the tree", launch<sum_eight_each, kItems>},
    {"last_warp", "and the last 32 by one warp, without barriers", launch<sum_last_warp, kItems>},
    {"wide_loads", "and the eight in two loads of 16 bytes", launch<sum_wide_loads, kItems>},
};

// ---- CUB, NVIDIA's library: for GPUs only, and from CUDA 12.4 on with what is used here --------

#if !defined(__CUDA_CPU__) && CUDART_VERSION >= 12040
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

// It has to know the number of threads when it is compiled.
template <unsigned kThreads>
__global__ void sum_cub_block(const int* x, std::size_t n, long long* sums) {
  using Reduce = cub::BlockReduce<long long, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const long long sum = Reduce(storage).Sum(sum_of_eight(x, n));  // for thread 0 only
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

struct SquareOf {
  __device__ long long operator()(int v) const { return square(v); }
};

// The whole sum, into sums[0].
void sum_by_cub(const BlockSums& d) {
  std::size_t bytes = d.cub_scratch.bytes();
  const auto n = static_cast<std::int64_t>(d.n);
  CUDA_CHECK(cub::DeviceReduce::TransformReduce(d.cub_scratch.get(), bytes, d.x.get(), d.sums.get(),
                                                n, cuda::std::plus<>{}, SquareOf{}, 0LL));
}

std::vector<Version<BlockSums>> cub_versions(unsigned block) {
  const auto of_block = block == 64     ? launch<sum_cub_block<64>, kItems>
                        : block == 128  ? launch<sum_cub_block<128>, kItems>
                        : block == 256  ? launch<sum_cub_block<256>, kItems>
                        : block == 512  ? launch<sum_cub_block<512>, kItems>
                        : block == 1024 ? launch<sum_cub_block<1024>, kItems>
                                        : nullptr;
  const Version<BlockSums> cub = {"cub", "the same sum by cub::DeviceReduce", sum_by_cub};
  if (of_block == nullptr) return {cub};
  return {{"cub_block", "eight elements per thread, then cub::BlockReduce", of_block}, cub};
}
#else
std::vector<Version<BlockSums>> cub_versions(unsigned) { return {}; }
#endif

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 20000;  // without a GPU the last block is not full
  std::size_t block = 256;
  const Options opt(
      argc, argv, "05_shared_tree_reduction", "how do the threads of a block add up together?",
      {{"n", &n, 1, 16_Gi, "ints to sum"}, {"block", &block, 1, kMaxBlock, "threads per block"}});
  const std::size_t blocks = div_up(n, block), bytes = n * sizeof(int);
  if (blocks > INT_MAX) opt.usage_error("--n and --block: a grid has at most 2147483647 blocks");
  ResultTable table(opt, bytes, blocks * (block + 1) * sizeof(long long));
  table.rate_in("GB/s", "read", measured_read_gbps(bytes));

  const BlockSums sums(random_ints(n, 0, 9, opt.seed), block);
  for (const auto& version : kVersions) table.add(version, sums);
  for (const auto& version : cub_versions(sums.block)) table.add(version, sums);
  return table.finish();
}
