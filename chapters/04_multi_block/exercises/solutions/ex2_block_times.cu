// SPDX-License-Identifier: MIT
// Exercise 2 of chapter 04, fix the bug: how long did the blocks take, and by which clock?
//
// Every block notes when it ran. The host computes two numbers from the records. A program like
// this one was published with a course.
// Check it: make lab CH=04 EX=2      A hint: make hint CH=04 EX=2
#include "common/common.cuh"

// When a block ran: by the clock that all SMs share, and by the counter of its own SM.
struct BlockRecord {
  std::uint64_t start_ns, end_ns;
  long long start_cycles, end_cycles;
};

// When one thread began and ended its work.
struct ThreadTimes {
  std::uint64_t begin_ns, end_ns;
};

__device__ long long sum_of_share(const int* x, std::size_t n, ThreadTimes* times) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  long long sum = 0;
  times->begin_ns = global_timer_ns();
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    sum += x[i];
  }
  times->end_ns = global_timer_ns();
  return sum;
}

__global__ void sum_recorded(const int* x, std::size_t n, long long* partial, ThreadTimes* times,
                             BlockRecord* records) {
  const std::size_t g = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  BlockRecord& record = records[blockIdx.x];
  if (threadIdx.x == 0) record = {global_timer_ns(), 0, clock64(), 0};
  __syncthreads();  // nobody begins before the start is noted
  partial[g] = sum_of_share(x, n, &times[g]);
  __syncthreads();  // the block ends when its slowest thread does
  if (threadIdx.x == 0) record.end_cycles = clock64(), record.end_ns = global_timer_ns();
}

struct Spans {
  double launch_ns;             // from the start of the first block to the end of the last
  double slowest_block_cycles;  // cycles that the slowest of the blocks took
};

// In nanoseconds and in cycles; cycles_per_ns is the clock rate of the SMs.
Spans spans_of(const std::vector<BlockRecord>& blocks, double cycles_per_ns) {
  // Only the nanoseconds come from one clock for all SMs.
  std::uint64_t start = blocks[0].start_ns, end = blocks[0].end_ns;
  double slowest = 0;
  for (const BlockRecord& b : blocks) {
    start = std::min(start, b.start_ns);
    end = std::max(end, b.end_ns);
    // A block begins and ends on one SM: these two readings of its counter may be subtracted.
    slowest = std::max(slowest, static_cast<double>(b.end_cycles - b.start_cycles));
  }
  (void)cycles_per_ns;
  return {static_cast<double>(end - start), slowest};
}
