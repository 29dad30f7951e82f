// SPDX-License-Identifier: MIT
// Chapter 10: how do blocks agree?
//
// atomic_per_element  every element goes to one word of memory, by an atomic
// shared_atomics      each thread adds its share and adds it to its block's by an atomic
// atomic_per_block    the block adds by shuffles: one atomic per block, none before
// two_launches        partial sums; a second launch adds them
// last_block          partial sums and a ticket: the block that draws the last one adds them
// scoped_ticket       the same with cuda::atomic_ref in place of fences
// grid_sync           partial sums and a barrier across the whole grid; _ex: the newer launch
// last_block_wide     last_block, with four 16-byte loads per thread on their way
// Run: make run CH=10 ARGS="--show loads" (sizes, floats, filter, atomics, races, stress)

#include <cooperative_groups.h>
#include <numeric>
#include <vector>

#include "../../common/common.cuh"

constexpr unsigned kWarp = 32, kMaxBlock = 1024, kAllLanes = 0xffffffffu;
constexpr unsigned kInFlight = 4;  // 16-byte loads per thread of last_block_wide
constexpr std::size_t kMaxN = 16_Gi;
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

// Adds the partial sums, in an order that does not depend on which block came last. __ldcg reads
// them from L2, where the writes of all blocks meet; the L1 of an SM may hold an older value.
__device__ void add_partials(const GridSum& p) {
  Sum sum = 0;
  for (unsigned b = threadIdx.x; b < p.grid; b += blockDim.x) sum += __ldcg(&p.partials[b]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) *p.result = sum;
}

__global__ void sum_last_block(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (draws_last_ticket(p, sum)) add_partials(p);
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

#include "ways_to_agree.cuh"  // two_launches, scoped_ticket, grid_sync_ex

// ---- the versions ------------------------------------------------------------------------------

// Owns what a GridSum points to. The ticket is set once, for all launches.
struct SumMemory {
  SumMemory(const std::vector<int>& values, unsigned grid, unsigned block, std::size_t sums = 1)
      : x(values), partials(grid), results(sums), ticket(std::vector<unsigned>{0}) {
    sum = {x.get(), x.size(), grid, block, partials.get(), ticket.get(), results.get()};
  }

  void poison() const { partials.poison(), results.poison(); }

  DeviceArray<int> x;
  DeviceArray<Sum> partials, results;
  DeviceArray<unsigned> ticket;
  GridSum sum;  // of all of x; its result is results[0]
};

// The versions that add to *result need a 0 there at every launch. That is part of their price.
const GridSum& cleared(const GridSum& p) {
  CUDA_CHECK(cudaMemsetAsync(p.result, 0, sizeof(Sum)));
  return p;
}

const Version<GridSum> kVersions[] = {
    {"atomic_per_element", "every element by an atomic, all to one word",
     [](const GridSum& p) { sum_atomic_per_element<<<p.grid, p.block>>>(cleared(p)); }},
    {"shared_atomics", "one atomic per thread in shared memory, one per block outside",
     [](const GridSum& p) { sum_shared_atomics<<<p.grid, p.block>>>(cleared(p)); }},
    {"atomic_per_block", "the block adds by shuffles, then one atomic",
     [](const GridSum& p) { sum_atomic_per_block<<<p.grid, p.block>>>(cleared(p)); }},
    {"two_launches", "partial sums; a second launch adds them", launch_two},
    {"last_block", "partial sums; the last block to finish adds them",
     [](const GridSum& p) { sum_last_block<<<p.grid, p.block>>>(p); }},
    {"scoped_ticket", "last_block with cuda::atomic_ref in place of fences",
     [](const GridSum& p) { sum_scoped_ticket<<<p.grid, p.block>>>(p); }},
    {"grid_sync", "partial sums, then a barrier across the grid",
     [](const GridSum& p) {
       void* arguments[] = {const_cast<GridSum*>(&p)};  // their addresses: <<<>>> cannot launch it
       CUDA_CHECK(cudaLaunchCooperativeKernel(sum_grid_sync, p.grid, p.block, arguments));
     }},
    {"grid_sync_ex", "grid_sync, launched by cudaLaunchKernelEx",
     [](const GridSum& p) { CUDA_CHECK(launch_with_attributes(p)); }},
    {"last_block_wide", "last_block with four 16-byte loads per thread in flight",
     [](const GridSum& p) { sum_last_block_wide<<<p.grid, p.block>>>(p); }},
};

Sum reference(const int* x, std::size_t n) {
  return std::accumulate(x, x + n, Sum{0},
                         [](Sum sum, long long v) { return sum + static_cast<Sum>(v * v); });
}

// The ticket must be back at 0, or the next launch would go wrong.
bool check(const std::string& version, const SumMemory& memory, Sum expected) {
  return equals(version, memory.results.download(1)[0], expected) &&
         equals(version + ", the ticket", memory.ticket.download()[0], 0u);
}

// At most one block without a full tile, and no more than the device holds at once: at the barrier
// across the grid, resident blocks would wait for blocks that start only when one of them ends.
unsigned grid_for(const Device& device, std::size_t n, std::size_t block) {
  const std::size_t tiles = std::max(std::size_t{1}, div_up(n, 4 * kInFlight * block));
  return static_cast<unsigned>(std::min({tiles, blocks_held(device, sum_last_block_wide, block),
                                         blocks_held(device, sum_grid_sync, block)}));
}

#include "shows.cuh"  // the rows of --show

int main(int argc, char** argv) {
  Options opt("10_atomics_last_block", "how do blocks agree?");
  opt.versions(kVersions);
  name_cub_row(opt);
  std::size_t n = 0, block = 512, launches = kOnGpu ? 10000 : 200;
  std::string show;
  opt.add("n", &n, 1, kMaxN, "ints to sum; if left out, what suits the rows");
  opt.add("block", &block, kWarp, kMaxBlock, "threads per block, a multiple of 32");
  opt.add("launches", &launches, 1, 1_Mi, "launches per row of --show stress");
  opt.add("show", &show, shows::kAll, "other rows than the versions");
  opt.parse(argc, argv);
  if (block % kWarp != 0) opt.usage_error("--block " + std::to_string(block) + ": not whole warps");
  if (!show.empty() && !opt.only.empty()) opt.usage_error("--show and --only: one or the other");
  if (n == 0) n = !kOnGpu ? 256_Ki : show == "sizes" ? 1_Gi : show == "floats" ? 4_Mi : 64_Mi;
  if (show == "floats" && n > 1_Gi) opt.usage_error("--n: with --show floats at most 1Gi");
  const Device device = open_device(opt);
  const unsigned grid = grid_for(device, n, block);
  const std::size_t bytes = n * sizeof(int);
  require_device_memory(opt, "--n " + std::to_string(n),
                        (show.empty() ? 1 : 2) * bytes + (grid + launches + 1) * sizeof(Sum));
  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const SumMemory memory(x, grid, static_cast<unsigned>(block), launches);
  ResultTable table(opt, device, "n = " + std::to_string(n) + " · block " + std::to_string(block),
                    bytes);
  if (!show.empty()) return shows::run(show, table, device, x, memory);
  if (kOnGpu) table.rate_in_gbps("read", measure_yardstick(device, bytes).read_gbps);
  const Sum expected = reference(x.data(), n);
  add_version_rows(
      table, kVersions, memory.sum, static_cast<double>(bytes), [&] { memory.poison(); },
      [&](const char* version) { return check(version, memory, expected); });
  add_cub_row(table, opt, memory.x.get(), n, static_cast<long long>(expected));
  return table.finish();
}
