// SPDX-License-Identifier: MIT
// Is last_block_wide faster than the library at every size?
//
// The kernel is that of atomics_last_block.cu.

#include "../../../common/common.cuh"
#include "sum_memory.cuh"

constexpr unsigned kInFlight = 4;  // 16-byte loads per thread

__global__ void sum_last_block_wide(GridSum p) {
  const auto* quads = reinterpret_cast<const int4*>(p.x);
  const std::size_t tile = std::size_t{kInFlight} * blockDim.x, tiles = p.n / 4 / tile;
  Sum sum = 0;
  for (std::size_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int4* mine = quads + t * tile + threadIdx.x;
    int4 v[kInFlight];  // in registers: the two loops below are unrolled
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) v[k] = mine[k * blockDim.x];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) {
      sum += square(v[k].x) + square(v[k].y) + square(v[k].z) + square(v[k].w);
    }
  }
  sum = block_sum(sum + sum_of_share(p, tiles * tile * 4));  // and the rest, which fills no tile
  if (draws_last_ticket(p, sum)) add_partials(p);
}

void launch_wide(const SumMemory& m) { sum_last_block_wide<<<m.sum.grid, m.sum.block>>>(m.sum); }

#if !defined(__CUDA_CPU__) && CUDART_VERSION >= 12040
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

struct SquareOf {
  __device__ Sum operator()(int v) const { return square(v); }
};

void launch_cub(const SumMemory& m) {
  std::size_t bytes = m.scratch.bytes();
  CUDA_CHECK(cub::DeviceReduce::TransformReduce(m.scratch, bytes, m.x.get(), m.sum.result, m.sum.n,
                                                cuda::std::plus<>{}, SquareOf{}, Sum{0}));
}
#endif

const Version<SumMemory> kWays[] = {
    {"wide", "last_block_wide", launch_wide},
#if !defined(__CUDA_CPU__) && CUDART_VERSION >= 12040
    {"cub", "cub::DeviceReduce", launch_cub},
#endif
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 1_Gi : 256_Ki, block = 512;
  const Options opt(argc, argv, "10_sizes_against_cub", "is it faster than CUB at every size?",
                    {{"n", &n, 1, 16_Gi, "ints in the largest sum"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block", kWarp}});
  ResultTable table(opt, n * sizeof(int), 2_Mi);
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const unsigned held = blocks_held(sum_last_block_wide, block);
  for (const std::size_t part : {1024, 256, 64, 16, 4, 1}) {
    const std::size_t size = div_up(n, part);
    const unsigned grid = std::min(held, blocks_for(size, 4 * kInFlight * block));
    const SumMemory memory{random_ints(size, 0, 9, opt.seed), grid, static_cast<unsigned>(block)};
    table.each_launch_does(size * sizeof(int));
    for (const auto& way : kWays) {
      const std::string name = way.name + (" n=" + std::to_string(size));
      table.add({name.c_str(), way.summary, way.launch}, memory);
    }
  }
  return table.finish();
}
