// SPDX-License-Identifier: MIT
// What does a block gain, and lose, with more shared memory than it gets without asking?

#include "../../../common/common.cuh"
#include "squares.cuh"

constexpr unsigned kTileItems = 8192;                       // partial sums
constexpr int kTileBytes = kTileItems * sizeof(long long);  // 64 KiB

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
