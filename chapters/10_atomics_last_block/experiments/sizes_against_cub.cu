// SPDX-License-Identifier: MIT
// Is last_block_wide faster than the library at every size?
//
// The kernel is that of atomics_last_block.cu, which says why each line is there.

#include "../../../common/common.cuh"
#include "../sum_memory.cuh"

constexpr unsigned kInFlight = 4;  // 16-byte loads per thread

__device__ Sum square(int v) { return static_cast<Sum>(static_cast<long long>(v) * v); }
__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t grid_threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

__device__ Sum sum_of_share(const GridSum& p, std::size_t first = 0) {
  Sum sum = 0;
  for (std::size_t i = first + global_index(); i < p.n; i += grid_threads()) sum += square(p.x[i]);
  return sum;
}

__device__ Sum warp_sum(Sum value) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(kAllLanes, value, distance);
  }
  return value;
}

__device__ Sum block_sum(Sum value) {
  __shared__ Sum per_warp[kMaxBlock / kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  value = warp_sum(value);
  if (lane == 0) per_warp[warp] = value;
  __syncthreads();  // warp 0 reads what the other warps wrote
  if (warp == 0) value = warp_sum(lane < blockDim.x / kWarp ? per_warp[lane] : 0);
  return value;
}

__device__ bool draws_last_ticket(const GridSum& p, Sum sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    p.partials[blockIdx.x] = sum;
    __threadfence();  // whoever sees the ticket drawn sees the partial sum too
    last = atomicInc(p.ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // nothing below is read before the ticket was drawn
  }
  __syncthreads();  // all threads learn what thread 0 drew
  return last;
}

__device__ void add_partials(const GridSum& p) {
  Sum sum = 0;
  for (unsigned b = threadIdx.x; b < p.grid; b += blockDim.x) sum += __ldcg(&p.partials[b]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) *p.result = sum;
}

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
    for (const auto& way : kWays) {
      const std::string name = way.name + (" n=" + std::to_string(size));
      table.add({name.c_str(), way.summary, way.launch}, memory);
    }
  }
  return table.finish();
}
