// SPDX-License-Identifier: MIT
// How is a kernel launched that waits for the whole grid?
//
// grid_sync     by cudaLaunchCooperativeKernel
// grid_sync_ex  by cudaLaunchKernelEx, the newer way

#include <cooperative_groups.h>

#include "../../../common/common.cuh"
#include "../sum_memory.cuh"

// A square in 64 bits. It is never negative, so unsigned sums are right.
__device__ Sum square(int v) { return static_cast<Sum>(static_cast<long long>(v) * v); }

__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t grid_threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

// This thread's share of x[first..n), by the grid-stride loop of chapter 04.
__device__ Sum sum_of_share(const GridSum& p, std::size_t first = 0) {
  Sum sum = 0;
  for (std::size_t i = first + global_index(); i < p.n; i += grid_threads()) sum += square(p.x[i]);
  return sum;
}

// The sum over the 32 lanes of a warp, in lane 0: five times, each lane adds what a lane further
// up holds in a register. No memory, no barrier. All 32 lanes must call it.
__device__ Sum warp_sum(Sum value) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(kAllLanes, value, distance);
  }
  return value;
}

// The sum over the block, in thread 0. All threads must call it, and must meet at a barrier before
// they call it again: until then warp 0 may be reading per_warp.
__device__ Sum block_sum(Sum value) {
  __shared__ Sum per_warp[kMaxBlock / kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  value = warp_sum(value);
  if (lane == 0) per_warp[warp] = value;
  __syncthreads();  // warp 0 reads what the other warps wrote
  if (warp == 0) value = warp_sum(lane < blockDim.x / kWarp ? per_warp[lane] : 0);
  return value;
}

// Adds the partial sums, in an order that does not depend on which block came last. __ldcg reads
// them from L2, where the writes of all blocks meet; the L1 of an SM may hold an older value.
__device__ void add_partials(const GridSum& p) {
  Sum sum = 0;
  for (unsigned b = threadIdx.x; b < p.grid; b += blockDim.x) sum += __ldcg(&p.partials[b]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) *p.result = sum;
}

__global__ void sum_grid_sync(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (threadIdx.x == 0) p.partials[blockIdx.x] = sum;
  cooperative_groups::this_grid().sync();  // all blocks are here and see what the others wrote
  if (blockIdx.x == 0) add_partials(p);
}

// The newer way to a launch with a property that <<<>>> cannot name: a list of attributes. The
// arguments are passed as in a call, and the compiler checks their types. CUDA 11.8 and later.
cudaError_t launch_with_attributes(const GridSum& p) {
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = p.grid;
  config.blockDim = p.block;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, sum_grid_sync, p);
}

const Version<SumMemory> kVersions[] = {
    {"grid_sync", "by cudaLaunchCooperativeKernel",
     [](const SumMemory& m) {
       GridSum p = m.sum;
       void* arguments[] = {&p};  // their addresses: <<<>>> cannot launch it
       CUDA_CHECK(cudaLaunchCooperativeKernel(sum_grid_sync, p.grid, p.block, arguments));
     }},
    {"grid_sync_ex", "by cudaLaunchKernelEx",
     [](const SumMemory& m) { CUDA_CHECK(launch_with_attributes(m.sum)); }},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, block = 512;
  const Options opt(argc, argv, "10_cooperative_launch",
                    "how is a kernel launched that waits for the grid?",
                    {{"n", &n, 1, 16_Gi, "ints to sum"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block", kWarp}});
  ResultTable table(opt, n * sizeof(int), 2_Mi);
  const unsigned grid = std::min(blocks_for(n, 16 * block), blocks_held(sum_grid_sync, block));
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const SumMemory memory{random_ints(n, 0, 9, opt.seed), grid, static_cast<unsigned>(block)};
  for (const auto& version : kVersions) table.add(version, memory);
  return table.finish();
}
