// SPDX-License-Identifier: MIT
// What does a block gain, and lose, with more shared memory than it gets without asking?

#include "../../../common/common.cuh"

constexpr unsigned kTileItems = 8192;                       // partial sums
constexpr int kTileBytes = kTileItems * sizeof(long long);  // 64 KiB

// The square of x[i], or 0 (which changes no sum) for threads past the end of x. They must not
// return early: everyone is needed at the barriers below.
__device__ long long square_or_zero(const int* x, std::size_t n, std::size_t i) {
  return i < n ? static_cast<long long>(x[i]) * x[i] : 0;
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

// The sum of squares of each tile, by the host.
std::vector<long long> sums_of_tiles(const std::vector<int>& x) {
  std::vector<long long> sums(blocks_for(x.size(), kTileItems));
  for (std::size_t i = 0; i < x.size(); ++i) sums[i / kTileItems] += 1LL * x[i] * x[i];
  return sums;
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 20000, block = 256;
  const Options opt(argc, argv, "05_opt_in_tile", "what does more shared memory cost a block?",
                    {{"n", &n, 1, 16_Gi, "ints"}, {"block", &block, 1, 1024, "threads per block"}});
  ResultTable table(opt, n * sizeof(int), n / 1000);
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  CUDA_CHECK(cudaFuncSetAttribute(sum_opt_in_tile, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  kTileBytes));  // once, not at each launch
  const std::vector<int> values = random_ints(n, 0, 9, opt.seed);
  const std::vector<long long> expected = sums_of_tiles(values);
  const DeviceArray<int> x(values);
  const DeviceArray<long long> sums(expected.size());
  table.add(
      "opt_in_tile", sums, [&] { sum_opt_in_tile<<<sums.size(), block, kTileBytes>>>(x, n, sums); },
      [&] { return all_equal("opt_in_tile", sums.download(), expected); },
      "64 KiB of shared memory per block");
  const unsigned held = blocks_held(sum_opt_in_tile, block, kTileBytes);
  const unsigned blocks_per_sm = held / table.device.multiProcessorCount;
  table.note(blocks_per_sm, " such blocks fit on a multiprocessor: ", blocks_per_sm * block,
             " of its ", table.device.maxThreadsPerMultiProcessor, " threads");
  return table.finish();
}
