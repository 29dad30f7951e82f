// SPDX-License-Identifier: MIT
// Chapter 10: what the experiments with one sum by one grid share: the parts of their kernels, the
// ints, and where the blocks meet. atomics_last_block.cu says why each line of the parts is there.
#pragma once

#include "../../../common/common.cuh"

[[maybe_unused]] constexpr unsigned kWarp = 32, kMaxBlock = 1024, kAllLanes = 0xffffffffu;

using Sum = unsigned long long;  // the 64-bit integer that atomicAdd takes

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
__device__ inline Sum square(int v) { return static_cast<Sum>(static_cast<long long>(v) * v); }
__device__ inline Sum square(int4 v) {
  return square(v.x) + square(v.y) + square(v.z) + square(v.w);
}

__device__ inline std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::size_t grid_threads() {
  return static_cast<std::size_t>(gridDim.x) * blockDim.x;
}

// This thread's share of x[first..n), by the grid-stride loop of chapter 04.
__device__ inline Sum sum_of_share(const GridSum& p, std::size_t first = 0) {
  Sum sum = 0;
  for (std::size_t i = first + global_index(); i < p.n; i += grid_threads()) sum += square(p.x[i]);
  return sum;
}

// The sum over the 32 lanes of a warp, in lane 0: five times, each lane adds what a lane further
// up holds in a register. No memory, no barrier. All 32 lanes must call it.
__device__ inline Sum warp_sum(Sum value) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(kAllLanes, value, distance);
  }
  return value;
}

// The sum over the block, in thread 0. All threads must call it, and must meet at a barrier before
// they call it again: until then warp 0 may be reading per_warp.
__device__ inline Sum block_sum(Sum value) {
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
__device__ inline void add_partials(const GridSum& p) {
  Sum sum = 0;
  for (unsigned b = threadIdx.x; b < p.grid; b += blockDim.x) sum += __ldcg(&p.partials[b]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) *p.result = sum;
}

// Leaves the partial sum of a block. Returns whether no other block is still to leave one.
__device__ inline bool draws_last_ticket(const GridSum& p, Sum sum) {
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

// The memory of a GridSum: beside x less than 2 MiB. The ticket is set once, for all launches.
struct SumMemory {
  void poison() const { partials.poison(), result.poison(); }

  Sum expected() const {
    Sum squares = 0;
    for (const long long v : host_x) squares += static_cast<Sum>(v * v);
    return squares;
  }
  // The ticket must be back at 0, or the next launch would go wrong.
  bool is_right(const std::string& version) const {
    return equals(version, result.download()[0], expected()) &&
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
