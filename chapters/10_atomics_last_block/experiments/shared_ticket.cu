// SPDX-License-Identifier: MIT
// What do launches leave that run side by side, on two streams, and draw from one ticket?
//
// shared_ticket  last_block on two streams, which share ticket and partial sums
// own_tickets    the same, a ticket and partial sums for each

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

// Ints from 0 to 9, the sum of their squares, and where a launch leaves its own.
struct Launches {
  Launches(std::size_t n, unsigned grid, unsigned block, std::size_t runs, std::size_t seed)
      : x(random_ints(n, 0, 9, seed)), partials(grid), results(runs) {
    for (const long long v : x.download()) expected += static_cast<Sum>(v * v);
    sum = {x, n, grid, block, partials, ticket, results};
  }

  std::size_t wrong() const {
    const std::vector<Sum> sums = results.download();
    return sums.size() - static_cast<std::size_t>(std::count(sums.begin(), sums.end(), expected));
  }

  DeviceArray<int> x;
  DeviceArray<Sum> partials, results;
  DeviceArray<unsigned> ticket{std::vector<unsigned>{0}};
  GridSum sum;
  Sum expected = 0;
};

// Many launches on each of two streams. Two at a time run side by side, and their blocks draw
// whenever they have finished. Returns how many sums are wrong.
std::size_t two_streams(bool own_tickets, std::size_t n, unsigned block, std::size_t runs) {
  const Launches of[2] = {{n, 64, block, runs, 1}, {n, 64, block, runs, 2}};
  cudaStream_t streams[2];
  for (cudaStream_t& s : streams) CUDA_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA_CHECK(cudaDeviceSynchronize());  // these streams do not wait for the default stream
  for (std::size_t k = 0; k < 2 * runs; ++k) {
    GridSum sum = of[k % 2].sum;
    sum.result += k / 2;
    if (!own_tickets) sum.ticket = of[0].sum.ticket, sum.partials = of[0].sum.partials;
    sum_last_block<<<sum.grid, block, 0, streams[k % 2]>>>(sum);
  }
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  for (const cudaStream_t s : streams) CUDA_CHECK(cudaStreamDestroy(s));
  return of[0].wrong() + of[1].wrong();
}

struct Row {
  const char *name, *summary, *bug;
  bool own_tickets;
};

const Row kRows[] = {{"shared_ticket", "one ticket for two streams", "mixed up", false},
                     {"own_tickets", "a ticket for each", "ok", true}};

int main(int argc, char** argv) {
  std::size_t n = 256_Ki, block = 512, runs = kOnGpu ? 1000 : 20;
  const Options opt(argc, argv, "10_shared_ticket", "what do launches leave that share a ticket?",
                    {{"n", &n, 1, 1_Gi, "ints in each sum"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block, a multiple of 32"},
                     {"runs", &runs, 1, 1_Mi, "launches on each stream"}});
  if (block % kWarp != 0) opt.usage_error("--block " + std::to_string(block) + ": not whole warps");
  const Device device = open_device(opt);
  ResultTable table(opt, device, n * sizeof(int), n * sizeof(int) + 2 * runs * sizeof(Sum));
  table.without_speedup();
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    const double begin = host_ms();
    const std::size_t wrong = two_streams(row.own_tickets, n, static_cast<unsigned>(block), runs);
    const double ms = host_ms() - begin;
    const bool plausible = wrong == 0 || !row.own_tickets;
    table.row(row.name, {ms, ms, ms, 1}, 0, plausible, wrong > 0 ? row.bug : "ok");
    table.measured(row.name, static_cast<double>(wrong), "wrong", "");
    table.measured(row.name, static_cast<double>(2 * runs - wrong), "right", "");
    table.measured(
        row.name, static_cast<double>(2 * runs), "of",
        row.name + (": " + std::to_string(wrong)) + " wrong sums of " + std::to_string(2 * runs));
  }
  return table.finish();
}
