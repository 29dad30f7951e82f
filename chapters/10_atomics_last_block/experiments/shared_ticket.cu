// SPDX-License-Identifier: MIT
// What do launches leave that run side by side, on two streams, and draw from one ticket?
//
// shared_ticket  last_block on two streams, which share ticket and partial sums
// own_tickets    the same, a ticket and partial sums for each

#include "../../../common/common.cuh"
#include "../sum_memory.cuh"
#include "../wrong_results.cuh"

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

// How many of the results are not what must come out.
std::size_t count_wrong(const DeviceArray<Sum>& results, Sum expected) {
  const std::vector<Sum> sums = results.download();
  return sums.size() - static_cast<std::size_t>(std::count(sums.begin(), sums.end(), expected));
}

// Many launches on each of two streams, each with a place of its own for its result. Two at a time
// run side by side, and their blocks draw whenever they have finished.
Found two_streams(bool own_tickets, std::size_t n, unsigned block, std::size_t runs) {
  const SumMemory of[2] = {{random_ints(n, 0, 9, 1), 64, block},
                           {random_ints(n, 0, 9, 2), 64, block}};
  const DeviceArray<Sum> results[2] = {DeviceArray<Sum>(runs), DeviceArray<Sum>(runs)};
  cudaStream_t streams[2];
  for (cudaStream_t& s : streams) CUDA_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA_CHECK(cudaDeviceSynchronize());  // these streams do not wait for the default stream
  for (std::size_t k = 0; k < 2 * runs; ++k) {
    GridSum sum = of[k % 2].sum;
    sum.result = results[k % 2] + k / 2;
    if (!own_tickets) sum.ticket = of[0].sum.ticket, sum.partials = of[0].sum.partials;
    sum_last_block<<<sum.grid, block, 0, streams[k % 2]>>>(sum);
  }
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  for (const cudaStream_t s : streams) CUDA_CHECK(cudaStreamDestroy(s));
  const std::size_t wrong =
      count_wrong(results[0], of[0].expected()) + count_wrong(results[1], of[1].expected());
  return {wrong, 2 * runs, wrong == 0 || !own_tickets};
}

int main(int argc, char** argv) {
  std::size_t n = 256_Ki, block = 512, runs = kOnGpu ? 1000 : 20;
  const Options opt(argc, argv, "10_shared_ticket", "what do launches leave that share a ticket?",
                    {{"n", &n, 1, 1_Gi, "ints in each sum"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block", kWarp},
                     {"runs", &runs, 1, 1_Mi, "launches on each stream"}});
  ResultTable table(opt, n * sizeof(int), n * sizeof(int) + 4_Mi + 2 * runs * sizeof(Sum));
  table.without_speedup();
  add_found(table, "shared_ticket", "one ticket for two streams", "mixed up", "wrong sums of",
            [&] { return two_streams(false, n, block, runs); });
  add_found(table, "own_tickets", "a ticket for each", "ok", "wrong sums of",
            [&] { return two_streams(true, n, block, runs); });
  return table.finish();
}
