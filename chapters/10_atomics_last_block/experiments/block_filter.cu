// SPDX-License-Identifier: MIT
// A filter that asks the common counter once for a whole block: how near is it to the library?
//
// filter_block  one atomic for a block: its threads take places from a counter of its own
// filter_cub    the same by cub::DeviceSelect, which also keeps the order

#include "../../../common/common.cuh"
#include "filter_memory.cuh"
#include "grid_walk.cuh"

__global__ void filter_block(Filter p) {
  __shared__ unsigned kept_here;            // of the block's elements of this turn
  __shared__ unsigned long long our_first;  // place
  // All threads stay while the first has an element: the barriers need them.
  for (std::size_t i = first_index(); i - threadIdx.x < p.n; i += stride()) {
    if (threadIdx.x == 0) kept_here = 0;
    __syncthreads();  // nobody takes a place before it is 0
    const bool keep = i < p.n && is_kept(p.x[i]);
    const unsigned mine = keep ? atomicAdd(&kept_here, 1u) : 0;
    __syncthreads();  // thread 0 asks for as many places as all have taken
    if (threadIdx.x == 0) our_first = atomicAdd(p.count, 1ull * kept_here);
    __syncthreads();  // all learn where theirs begin
    if (keep) p.kept[our_first + mine] = p.x[i];
  }
}

#if !defined(__CUDA_CPU__)
#include <cub/device/device_select.cuh>

struct IsKept {
  __host__ __device__ bool operator()(int v) const { return is_kept(v); }
};

void launch_cub(const FilterMemory& m) {
  std::size_t bytes = m.scratch.bytes();
  CUDA_CHECK(cub::DeviceSelect::If(m.scratch, bytes, m.x.get(), m.kept.get(), m.count.get(),
                                   static_cast<int>(m.x.size()), IsKept{}));
}
#endif

const Version<FilterMemory> kVersions[] = {
    {"filter_block", "one atomic per block and turn, places by a shared counter",
     launch<filter_block>},
#if !defined(__CUDA_CPU__)
    {"filter_cub", "by cub::DeviceSelect", launch_cub},
#endif
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, block = 512;
  const Options opt(
      argc, argv, "10_block_filter", "how near to the library is one atomic a block?",
      {{"n", &n, 1, 2_Gi - 1, "ints to filter"}, {"block", &block, 1, 1024, "threads per block"}});
  ResultTable table(opt, n * sizeof(int), n * sizeof(int) + n / 64 + 1_Mi);
  const unsigned grid = std::min(blocks_for(n, 16 * block), blocks_held(filter_block, block));
  const FilterMemory memory(random_ints(n, 0, 9, opt.seed), grid, block, false);
  for (const auto& version : kVersions) table.add(version, memory);
  return table.finish();
}
