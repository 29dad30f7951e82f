// SPDX-License-Identifier: MIT
// What does a ticket do to later launches that an earlier one has left behind?
//
// ticket_left     last_block after a launch in which some blocks drew no ticket
// ticket_cleared  the same, the ticket set to 0 before

#include "../../../common/common.cuh"

constexpr unsigned kWarp = 32, kMaxBlock = 1024, kAllLanes = 0xffffffffu;
using Sum = unsigned long long;  // the 64-bit integer that atomicAdd takes

struct GridSum {
  const int* x;  // n values, 16-byte aligned
  std::size_t n;
  unsigned grid, block;  // block: whole warps
  Sum* partials;         // one per block
  unsigned* ticket;      // 0 before the first launch; every launch leaves it at 0
  Sum* result;           // one value
};

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
    // Counts 0, 1, ... gridDim.x - 1 and wraps to 0: ready for the next launch.
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

__global__ void sum_last_block(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (draws_last_ticket(p, sum)) add_partials(p);
}

// Ints from 1 to 9, where the blocks meet, and what must come out.
struct SumMemory {
  SumMemory(std::size_t n, unsigned grid, unsigned block, std::size_t seed)
      : x(random_ints(n, 1, 9, seed)), partials(grid), sum{x,        n,      grid,  block,
                                                           partials, ticket, result} {
    for (const long long v : x.download()) expected += static_cast<Sum>(v * v);
  }

  DeviceArray<int> x;
  DeviceArray<Sum> partials, result{1};
  DeviceArray<unsigned> ticket{std::vector<unsigned>{0}};
  GridSum sum;
  Sum expected = 0;
};

struct Found {
  std::size_t wrong = 0;
  bool plausible = true;  // the ticket is where it must be; of the cure: all sums are right, too
};

// As after a launch in which only a third of the blocks drew: the others had left the kernel early.
// `wrong` counts results, but not the ticket, which is displaced for good.
Found left_ticket(const SumMemory& m, bool clear, std::size_t runs) {
  const unsigned left = m.sum.grid / 3;
  CUDA_CHECK(cudaMemcpy(m.ticket, &left, sizeof left, cudaMemcpyHostToDevice));
  Found found;
  for (std::size_t k = 0; k < runs; ++k) {
    m.partials.poison(), m.result.poison();
    if (clear) CUDA_CHECK(cudaMemsetAsync(m.ticket, 0, sizeof(unsigned)));
    sum_last_block<<<m.sum.grid, m.sum.block>>>(m.sum);
    CUDA_CHECK_LAUNCH();
    found.wrong += m.result.download()[0] != m.expected;
    found.plausible = found.plausible && m.ticket.download()[0] == (clear ? 0 : left);
  }
  CUDA_CHECK(cudaMemset(m.ticket, 0, sizeof(unsigned)));  // for whoever comes next
  if (clear) found.plausible = found.plausible && found.wrong == 0;
  return found;
}

struct Row {
  const char *name, *summary, *bug;
  bool clear;
};

const Row kRows[] = {{"ticket_left", "a third of the blocks have drawn", "early", false},
                     {"ticket_cleared", "the ticket set to 0 before", "ok", true}};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, block = 512, runs = kOnGpu ? 100 : 2;
  const Options opt(argc, argv, "10_displaced_ticket",
                    "what does a ticket do that was left behind?",
                    {{"n", &n, 1, 16_Gi, "ints to sum"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block, a multiple of 32"},
                     {"runs", &runs, 1, 1_Mi, "launches"}});
  if (block % kWarp != 0) opt.usage_error("--block " + std::to_string(block) + ": not whole warps");
  const Device device = open_device(opt);
  const unsigned grid =
      std::min(blocks_for(n, 16 * block), blocks_held(device, sum_last_block, block));
  ResultTable table(opt, device, n * sizeof(int), grid * sizeof(Sum));
  table.without_speedup();
  const SumMemory memory(n, grid, static_cast<unsigned>(block), opt.seed);
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    const double begin = host_ms();
    const Found f = left_ticket(memory, row.clear, runs);
    const double ms = host_ms() - begin;
    table.row(row.name, {ms, ms, ms, 1}, 0, f.plausible, f.wrong > 0 ? row.bug : "ok");
    table.measured(row.name, static_cast<double>(f.wrong), "wrong", "");
    table.measured(row.name, static_cast<double>(runs - f.wrong), "right", "");
    table.measured(
        row.name, static_cast<double>(runs), "of",
        row.name + (": " + std::to_string(f.wrong)) + " wrong sums of " + std::to_string(runs));
  }
  return table.finish();
}
