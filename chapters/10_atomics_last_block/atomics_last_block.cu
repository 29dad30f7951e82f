// SPDX-License-Identifier: MIT
// Chapter 10: how do blocks agree?
//
// atomic_per_element  every element goes to one word of memory, by an atomic
// shared_atomics      each thread adds its share and adds it to its block's by an atomic
// atomic_per_block    the block adds by shuffles: one atomic per block, none before
// two_launches        partial sums; a second launch adds them
// last_block          partial sums and a ticket: the block that draws the last one adds them
// scoped_ticket       the same with cuda::atomic_ref in place of fences
// grid_sync           partial sums and a barrier across the whole grid
// last_block_wide     last_block, with four 16-byte loads per thread on their way
// Run: make run CH=10

#include <cooperative_groups.h>

#include <cuda/atomic>

#include "../../common/common.cuh"

constexpr unsigned kWarp = 32, kMaxBlock = 1024, kAllLanes = 0xffffffffu;
constexpr unsigned kInFlight = 4;  // 16-byte loads per thread of last_block_wide
using Sum = unsigned long long;    // the 64-bit integer that atomicAdd takes

// One sum by one grid: what the blocks read, and where they meet.
struct GridSum {
  const int* x;  // n values, 16-byte aligned
  std::size_t n;
  unsigned grid, block;  // block: whole warps
  Sum* partials;         // one per block
  unsigned* ticket;      // 0 before the first launch; every launch leaves it at 0
  Sum* result;           // one value
};

// A square in 64 bits. It is never negative, so unsigned sums are right.
__device__ Sum square(int v) { return static_cast<Sum>(static_cast<long long>(v) * v); }

__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t grid_threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

// Every thread of the grid queues up at one word, for every element.
__global__ void sum_atomic_per_element(GridSum p) {
  for (std::size_t i = global_index(); i < p.n; i += grid_threads()) {
    atomicAdd(p.result, square(p.x[i]));
  }
}

// This thread's share of x[first..n), by the grid-stride loop of chapter 04.
__device__ Sum sum_of_share(const GridSum& p, std::size_t first = 0) {
  Sum sum = 0;
  for (std::size_t i = first + global_index(); i < p.n; i += grid_threads()) sum += square(p.x[i]);
  return sum;
}

__global__ void sum_shared_atomics(GridSum p) {
  __shared__ Sum total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();  // nobody adds before it is 0
  atomicAdd(&total, sum_of_share(p));
  __syncthreads();  // thread 0 reads it when all have added
  if (threadIdx.x == 0) atomicAdd(p.result, total);
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

__global__ void sum_atomic_per_block(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (threadIdx.x == 0) atomicAdd(p.result, sum);
}

// Adds the partial sums, in an order that does not depend on which block came last. __ldcg reads
// them from L2, where the writes of all blocks meet; the L1 of an SM may hold an older value.
__device__ void add_partials(const GridSum& p) {
  Sum sum = 0;
  for (unsigned b = threadIdx.x; b < p.grid; b += blockDim.x) sum += __ldcg(&p.partials[b]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) *p.result = sum;
}

__global__ void leave_partials(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (threadIdx.x == 0) p.partials[blockIdx.x] = sum;
}

// A launch of one block. It needs no fence: a kernel sees all that earlier ones of its stream
// wrote.
__global__ void add_left_partials(GridSum p) { add_partials(p); }

// Hands in the block's sum, which thread 0 has, and draws a ticket. Returns true, to all threads,
// in the block that drew the last one: by then every partial sum has been handed in.
__device__ bool draws_last_ticket(const GridSum& p, Sum sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    p.partials[blockIdx.x] = sum;
    __threadfence();  // whoever sees the ticket drawn sees the partial sum too
    // Counts 0, 1, ... gridDim.x - 1 and wraps to 0: ready for the next launch.
    last = atomicInc(p.ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // nothing below is read before the ticket was drawn
  }
  __syncthreads();  // all threads learn what thread 0 drew
  return last;
}

__global__ void sum_last_block(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (draws_last_ticket(p, sum)) add_partials(p);
}

// draws_last_ticket without fences. Release: what this thread wrote before is visible to whoever
// draws later; acquire: what they wrote who drew before is visible to this thread. For all threads
// of the device: with thread_scope_block only those of its own block would count.
__device__ bool draws_last_scoped_ticket(const GridSum& p, Sum sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    p.partials[blockIdx.x] = sum;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> ticket(*p.ticket);
    last = ticket.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    if (last) ticket.store(0, cuda::memory_order_relaxed);  // fetch_add does not wrap
  }
  __syncthreads();  // all threads learn what thread 0 drew
  return last;
}

__global__ void sum_scoped_ticket(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (draws_last_scoped_ticket(p, sum)) add_partials(p);
}

__global__ void sum_grid_sync(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (threadIdx.x == 0) p.partials[blockIdx.x] = sum;
  cooperative_groups::this_grid().sync();  // all blocks are here and see what the others wrote
  if (blockIdx.x == 0) add_partials(p);
}

// Chapter 04: what counts is bytes in flight. Four loads of 16 bytes leave before the first value
// is used; the threads of a block read one contiguous tile together, then the block's next tile.
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

// ---- the versions ------------------------------------------------------------------------------

// The ints, and where the blocks meet. The ticket is set once, for all launches.
struct SumMemory {
  void poison() const { partials.poison(), result.poison(); }

  // The ticket must be back at 0, or the next launch would go wrong.
  bool is_right(const std::string& version) const {
    Sum expected = 0;
    for (const long long v : host_x) expected += static_cast<Sum>(v * v);
    return equals(version, result.download()[0], expected) &&
           equals(version + ", the ticket", ticket.download()[0], 0u);
  }

  std::vector<int> host_x;
  unsigned grid, block;
  DeviceArray<int> x{host_x};
  DeviceArray<Sum> partials{grid}, result{1};
  DeviceArray<unsigned> ticket{std::vector<unsigned>{0}};
  DeviceArray<char> scratch{1_Mi};  // what CUB wants for itself, and more
  GridSum sum{x, x.size(), grid, block, partials, ticket, result};
};

// The versions that add to *result need a 0 there at every launch. That is part of their price.
const GridSum& cleared(const SumMemory& m) {
  CUDA_CHECK(cudaMemsetAsync(m.sum.result, 0, sizeof(Sum)));
  return m.sum;
}

// CUB, NVIDIA's library: for GPUs only, and from CUDA 12.4 on with what is used here.
#if !defined(__CUDA_CPU__) && CUDART_VERSION >= 12040
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

struct SquareOf {
  __device__ Sum operator()(int v) const { return square(v); }
};

void launch_cub(const SumMemory& m) {
  std::size_t bytes = m.scratch.bytes();
  CUDA_CHECK(cub::DeviceReduce::TransformReduce(m.scratch, bytes, m.sum.x, m.sum.result, m.sum.n,
                                                cuda::std::plus<>{}, SquareOf{}, Sum{0}));
}
#endif

const Version<SumMemory> kVersions[] = {
    {"atomic_per_element", "every element by an atomic, all to one word",
     [](auto& m) { sum_atomic_per_element<<<m.sum.grid, m.sum.block>>>(cleared(m)); }},
    {"shared_atomics", "one atomic per thread in shared memory, one per block outside",
     [](auto& m) { sum_shared_atomics<<<m.sum.grid, m.sum.block>>>(cleared(m)); }},
    {"atomic_per_block", "the block adds by shuffles, then one atomic",
     [](auto& m) { sum_atomic_per_block<<<m.sum.grid, m.sum.block>>>(cleared(m)); }},
    {"two_launches", "partial sums; a second launch adds them",
     [](auto& m) {
       leave_partials<<<m.sum.grid, m.sum.block>>>(m.sum);
       add_left_partials<<<1, m.sum.block>>>(m.sum);
     }},
    {"last_block", "partial sums; the last block to finish adds them",
     [](auto& m) { sum_last_block<<<m.sum.grid, m.sum.block>>>(m.sum); }},
    {"scoped_ticket", "last_block with cuda::atomic_ref in place of fences",
     [](auto& m) { sum_scoped_ticket<<<m.sum.grid, m.sum.block>>>(m.sum); }},
    {"grid_sync", "partial sums, then a barrier across the grid",
     [](auto& m) {
       GridSum p = m.sum;
       void* arguments[] = {&p};  // their addresses: <<<>>> cannot launch it
       CUDA_CHECK(cudaLaunchCooperativeKernel(sum_grid_sync, p.grid, p.block, arguments));
     }},
    {"last_block_wide", "last_block with four 16-byte loads per thread in flight",
     [](auto& m) { sum_last_block_wide<<<m.sum.grid, m.sum.block>>>(m.sum); }},
#if !defined(__CUDA_CPU__) && CUDART_VERSION >= 12040
    {"cub", "the same sum by cub::DeviceReduce", launch_cub},
#endif
};

// At most one block without a full tile, and no more than the device holds at once: at the barrier
// across the grid, resident blocks would wait for blocks that start only when one of them ends.
unsigned grid_for(std::size_t n, std::size_t block) {
  return std::min({blocks_for(n, 4 * kInFlight * block), blocks_held(sum_last_block_wide, block),
                   blocks_held(sum_grid_sync, block)});
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, block = 512;
  const Options opt(argc, argv, "10_atomics_last_block", "how do blocks agree?",
                    {{"n", &n, 1, 16_Gi, "ints to sum"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block", kWarp}});
  ResultTable table(opt, n * sizeof(int), 2_Mi);  // more: partial sums, and CUB's scratch
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));

  const unsigned grid = grid_for(n, block);
  const SumMemory memory{random_ints(n, 0, 9, opt.seed), grid, static_cast<unsigned>(block)};
  for (const auto& version : kVersions) table.add(version, memory);
  return table.finish();
}
