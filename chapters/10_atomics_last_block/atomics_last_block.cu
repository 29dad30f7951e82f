// SPDX-License-Identifier: MIT
// Chapter 10: how do blocks agree?
//
// atomic_per_element  every element goes to one word of memory, by an atomic
// shared_atomics      each thread adds its share and brings it to its block by an atomic
// atomic_per_block    the block adds by shuffles: one atomic per block, none before
// last_block          partial sums and a ticket: the block that draws the last one adds them
// grid_sync           partial sums and a barrier across the whole grid
// last_block_wide     last_block, with four 16-byte loads per thread on their way
// Run: make run CH=10 ARGS="--show sizes" (or floats, filter, stress; without: the above)

#include <cooperative_groups.h>
#include <algorithm>
#include <numeric>
#include <vector>

#include "../../common/common.cuh"
#include "float_sums.cuh"   // --show floats
#include "warp_filter.cuh"  // --show filter

constexpr unsigned kWarp = 32, kMaxBlock = 1024, kAllLanes = 0xffffffffu;
constexpr unsigned kInFlight = 4;  // 16-byte loads per thread of last_block_wide
constexpr std::size_t kMaxN = 16_Gi;
using Sum = unsigned long long;  // the 64-bit integer that atomicAdd takes

// What a version reads and writes.
struct Problem {
  const int* x;  // n values, 16-byte aligned
  std::size_t n;
  unsigned grid, block;  // block: whole warps
  Sum* partials;         // one per block
  unsigned* ticket;      // 0 before the first launch and, with no help, after each
  Sum* result;           // one value
};

// A square in 64 bits: it is not negative, so that unsigned sums are right.
__device__ Sum square(int v) { return static_cast<Sum>(static_cast<long long>(v) * v); }

Sum reference(const int* x, std::size_t n) {
  return std::accumulate(x, x + n, Sum{0},
                         [](Sum sum, long long v) { return sum + static_cast<Sum>(v * v); });
}

// ---- what a thread, a warp and a block add -----------------------------------------------------

__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t grid_threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

// This thread's share of x[first..n), by the grid-stride loop of chapter 04.
__device__ Sum sum_of_share(const Problem& p, std::size_t first = 0) {
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

// ---- atomics -----------------------------------------------------------------------------------

// Every thread of the grid queues up at one word, for every element.
__global__ void sum_atomic_per_element(Problem p) {
  for (std::size_t i = global_index(); i < p.n; i += grid_threads()) {
    atomicAdd(p.result, square(p.x[i]));
  }
}

__global__ void sum_shared_atomics(Problem p) {
  __shared__ Sum total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();  // nobody adds before it is 0
  atomicAdd(&total, sum_of_share(p));
  __syncthreads();  // thread 0 reads it when all have added
  if (threadIdx.x == 0) atomicAdd(p.result, total);
}

__global__ void sum_atomic_per_block(Problem p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (threadIdx.x == 0) atomicAdd(p.result, sum);
}

// ---- the last block ----------------------------------------------------------------------------

// Hands in the block's sum, which thread 0 has, and draws a ticket. Returns true, to all threads,
// in the block that drew the last one: by then every partial sum has been handed in.
__device__ bool draws_last_ticket(const Problem& p, Sum sum) {
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

// Adds the partial sums, in the order of the blocks' numbers whichever block came last. __ldcg
// reads them from L2, where the writes of all blocks meet; an L1 serves one SM and may be behind.
__device__ void add_partials(const Problem& p) {
  Sum sum = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum += __ldcg(&p.partials[b]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) *p.result = sum;
}

__global__ void sum_last_block(Problem p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (draws_last_ticket(p, sum)) add_partials(p);
}

__global__ void sum_grid_sync(Problem p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (threadIdx.x == 0) p.partials[blockIdx.x] = sum;
  cooperative_groups::this_grid().sync();  // all blocks are here and see what the others wrote
  if (blockIdx.x == 0) add_partials(p);
}

// Chapter 04: what counts is bytes in flight. Four loads of 16 bytes leave before the first value
// is used; the threads of a block read one contiguous tile together, then the next of the block's.
__global__ void sum_last_block_wide(Problem p) {
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

// ---- the ladder --------------------------------------------------------------------------------

// The versions that add to *result need a 0 there at every launch. That is part of their price.
const Problem& cleared(const Problem& p) {
  CUDA_CHECK(cudaMemsetAsync(p.result, 0, sizeof(Sum)));
  return p;
}

const Version<Problem> kVersions[] = {
    {"atomic_per_element", "every element by an atomic, all to one word",
     [](const Problem& p) { sum_atomic_per_element<<<p.grid, p.block>>>(cleared(p)); }},
    {"shared_atomics", "one atomic per thread in shared memory, one per block outside",
     [](const Problem& p) { sum_shared_atomics<<<p.grid, p.block>>>(cleared(p)); }},
    {"atomic_per_block", "the block adds by shuffles, then one atomic",
     [](const Problem& p) { sum_atomic_per_block<<<p.grid, p.block>>>(cleared(p)); }},
    {"last_block", "partial sums; the last block to finish adds them",
     [](const Problem& p) { sum_last_block<<<p.grid, p.block>>>(p); }},
    {"grid_sync", "partial sums, then a barrier across the grid",
     [](const Problem& p) {
       void* arguments[] = {const_cast<Problem*>(&p)};  // by address: <<<>>> cannot do this
       CUDA_CHECK(cudaLaunchCooperativeKernel(sum_grid_sync, p.grid, p.block, arguments));
     }},
    {"last_block_wide", "last_block with four 16-byte loads per thread in flight",
     [](const Problem& p) { sum_last_block_wide<<<p.grid, p.block>>>(p); }},
};

// Fetches the sum. The ticket must be back at 0, or the next launch would go wrong.
bool check(const std::string& version, const Problem& p, Sum expected) {
  Sum sum = 0;
  unsigned ticket = 1;
  CUDA_CHECK(cudaMemcpy(&sum, p.result, sizeof sum, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(&ticket, p.ticket, sizeof ticket, cudaMemcpyDeviceToHost));
  return equals(version, sum, expected) && equals(version + ", the ticket", ticket, 0u);
}

void add_row(ResultTable& table, const Options& opt, const std::string& name,
             const Version<Problem>& version, const Problem& p, Sum expected) {
  CUDA_CHECK(cudaMemset(p.result, 0xff, sizeof(Sum)));  // poison
  CUDA_CHECK(cudaMemset(p.partials, 0xff, p.grid * sizeof(Sum)));
  add_measured_row(
      table, opt, name, static_cast<double>(p.n) * sizeof(int), [&] { version.launch(p); },
      [&] { return check(name, p, expected); });
}

// No block without a tile of its own, and no more than the device holds at once: at the barrier
// across the grid they would wait for blocks that cannot start before they leave.
unsigned grid_for(const Device& device, std::size_t n, std::size_t block) {
  std::size_t grid = std::max(std::size_t{1}, div_up(n, 4 * kInFlight * block));
  for (auto* kernel : {sum_last_block_wide, sum_grid_sync}) {
    int per_sm = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, int(block), 0));
    grid = std::min(grid, static_cast<std::size_t>(device.sm_count * per_sm));
  }
  return static_cast<unsigned>(grid);
}

// The last version against CUB, from a thousandth of the data to all of it.
void show_sizes(ResultTable& table, const Options& opt, const Device& device, Problem p,
                const std::vector<int>& x) {
  for (const std::size_t part : {1024, 256, 64, 16, 4, 1}) {
    p.n = div_up(x.size(), part);
    p.grid = grid_for(device, p.n, p.block);
    const Sum expected = reference(x.data(), p.n);
    const std::string size = "n=" + std::to_string(p.n);
    add_row(table, opt, "wide " + size, std::end(kVersions)[-1], p, expected);
    add_cub_row(table, opt, p.x, p.n, static_cast<long long>(expected), "cub " + size);
  }
}

// Each version again and again: every time another n, another grid, the next place for the result.
void show_stress(ResultTable& table, const Problem& p, const std::vector<int>& x,
                 std::size_t launches) {
  std::vector<Problem> rounds(launches, p);
  std::vector<Sum> sums(launches), expected(launches);
  for (std::size_t k = 0; k < launches; ++k) {
    rounds[k].n = 7 * k % std::min(x.size() + 1, 5_Ki);
    rounds[k].grid = static_cast<unsigned>(1 + k % p.grid);
    rounds[k].result += k;
    expected[k] = reference(x.data(), rounds[k].n);
  }
  for (const auto& version : kVersions) {
    CUDA_CHECK(cudaMemset(p.result, 0xff, launches * sizeof(Sum)));  // poison
    const Timing t = time_once([&] {
      for (const Problem& round : rounds) version.launch(round);
      CUDA_CHECK_LAUNCH();  // tells of any of them: the last error stays until it is read
      CUDA_CHECK(cudaMemcpy(sums.data(), p.result, launches * sizeof(Sum), cudaMemcpyDefault));
    });
    table.add(version.name, t, 0, all_equal(version.name, sums.data(), expected.data(), launches));
  }
  table.note("a row's time is that of " + std::to_string(launches) + " launches");
}

int main(int argc, char** argv) {
  Options opt("10_atomics_last_block", "how do blocks agree?");
  opt.versions(kVersions);
  name_cub_row(opt);
  std::size_t n = 0, block = 512, launches = kOnGpu ? 10000 : 200;
  std::string show;
  opt.add("n", &n, 1, kMaxN, "ints to sum; if left out, what suits the rows");
  opt.add("block", &block, kWarp, kMaxBlock, "threads per block, a multiple of 32");
  opt.add("launches", &launches, 1, 1_Mi, "launches per row of --show stress");
  opt.add("show", &show, {"sizes", "floats", "filter", "stress"}, "other rows than the versions");
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
  int* d_x = nullptr;
  CUDA_CHECK(cudaMalloc(&d_x, bytes));
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
  Problem p{d_x, n, grid, static_cast<unsigned>(block), nullptr, nullptr, nullptr};
  CUDA_CHECK(cudaMalloc(&p.partials, grid * sizeof(Sum)));
  CUDA_CHECK(cudaMalloc(&p.ticket, sizeof(unsigned)));
  CUDA_CHECK(cudaMalloc(&p.result, launches * sizeof(Sum)));
  CUDA_CHECK(cudaMemset(p.ticket, 0, sizeof(unsigned)));  // once, for all launches
  ResultTable table(opt, device, "n = " + std::to_string(n) + " · block " + std::to_string(block),
                    bytes);
  const bool reads = kOnGpu && (show.empty() || show == "sizes");
  if (reads) table.rate_in_gbps("read", measure_yardstick(device).read_gbps);
  if (show == "sizes") show_sizes(table, opt, device, p, x);
  if (show == "floats") float_sums::show(table, opt, n, grid, p.block);
  if (show == "filter") warp_filter::show(table, opt, x, d_x, grid, p.block);
  if (show == "stress") show_stress(table, p, x, launches);
  if (show.empty()) {
    const Sum expected = reference(x.data(), n);
    for (const auto& version : kVersions) {
      if (opt.wants(version.name)) add_row(table, opt, version.name, version, p, expected);
    }
    add_cub_row(table, opt, d_x, n, static_cast<long long>(expected));
  }

  const std::initializer_list<void*> all = {d_x, p.partials, p.ticket, p.result};
  for (void* d : all) CUDA_CHECK(cudaFree(d));
  return table.finish();
}
