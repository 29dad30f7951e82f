// SPDX-License-Identifier: MIT
// What does a ticket do to later launches that an earlier one has left behind?
//
// ticket_left     last_block after a launch in which some blocks drew no ticket
// ticket_cleared  the same, the ticket set to 0 before

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

// As after a launch in which only a third of the blocks drew: the others had left the kernel early.
// Counts wrong sums. Plausible: the ticket is where it must be; of the cure: all sums are right,
// too.
Found left_ticket(const SumMemory& m, bool clear, std::size_t runs) {
  const unsigned left = m.sum.grid / 3;
  CUDA_CHECK(cudaMemcpy(m.ticket, &left, sizeof left, cudaMemcpyHostToDevice));
  const Sum expected = m.expected();
  Found found{0, runs};
  for (std::size_t k = 0; k < runs; ++k) {
    m.poison();
    if (clear) CUDA_CHECK(cudaMemsetAsync(m.ticket, 0, sizeof(unsigned)));
    sum_last_block<<<m.sum.grid, m.sum.block>>>(m.sum);
    CUDA_CHECK_LAUNCH();
    found.wrong += m.result.download()[0] != expected;
    found.plausible = found.plausible && m.ticket.download()[0] == (clear ? 0 : left);
  }
  CUDA_CHECK(cudaMemset(m.ticket, 0, sizeof(unsigned)));  // for whoever comes next
  if (clear) found.plausible = found.plausible && found.wrong == 0;
  return found;
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, block = 512, runs = kOnGpu ? 100 : 2;
  const Options opt(argc, argv, "10_displaced_ticket",
                    "what does a ticket do that was left behind?",
                    {{"n", &n, 1, 16_Gi, "ints to sum"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block", kWarp},
                     {"runs", &runs, 1, 1_Mi, "launches"}});
  ResultTable table(opt, n * sizeof(int), 2_Mi);
  const unsigned grid = std::min(blocks_for(n, 16 * block), blocks_held(sum_last_block, block));
  table.without_speedup();
  const SumMemory memory{random_ints(n, 1, 9, opt.seed), grid, static_cast<unsigned>(block)};
  add_found(table, "ticket_left", "a third of the blocks have drawn", "early", "wrong sums of",
            [&] { return left_ticket(memory, false, runs); });
  add_found(table, "ticket_cleared", "the ticket set to 0 before", "ok", "wrong sums of",
            [&] { return left_ticket(memory, true, runs); });
  return table.finish();
}
