// SPDX-License-Identifier: MIT
// Chapter 04: where and when the blocks of a launch ran, as they noted it themselves.
#pragma once

#include "../../../common/common.cuh"

// What a block notes.
struct BlockRecord {
  unsigned sm;
  std::uint64_t start_ns, end_ns;      // by the clock that all SMs share
  long long start_cycles, end_cycles;  // by the counter of the block's own SM
  double ms() const { return static_cast<double>(end_ns - start_ns) / 1e6; }
  double cycles() const { return static_cast<double>(end_cycles - start_cycles); }
};

// This thread's number in the whole grid, and how many there are. Widened before multiplying: the
// product of two unsigned ints wraps at 2^32.
__device__ inline std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::size_t grid_threads() {
  return static_cast<std::size_t>(gridDim.x) * blockDim.x;
}

// The grid-stride loop of the chapter's program: one load in flight per thread.
__device__ inline long long sum_of_share(const int* x, std::size_t n) {
  long long sum = 0;
#pragma unroll 1
  for (std::size_t i = global_index(); i < n; i += grid_threads()) {
    sum += static_cast<long long>(x[i]) * x[i];
  }
  return sum;
}

// The multiprocessor that the calling thread runs on, from 0: PTX %smid, for which C++ has no name.
__device__ inline unsigned sm_id() {
#ifdef __CUDA_CPU__
  return cuda_cpu::sm_id();
#else
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
#endif
}

// Each block notes where and when it runs, by both clocks.
__global__ void sum_recorded(const int* x, std::size_t n, long long* partial,
                             BlockRecord* records) {
  BlockRecord& record = records[blockIdx.x];
  if (threadIdx.x == 0) {
    record.sm = sm_id();
    record.start_ns = global_timer_ns();
    record.start_cycles = clock64();
  }
  __syncthreads();  // no warp loads anything before the start is noted
  partial[global_index()] = sum_of_share(x, n);
  __syncthreads();  // the block ends when its slowest warp does
  if (threadIdx.x == 0) {
    record.end_cycles = clock64();
    record.end_ns = global_timer_ns();
  }
}

// From the start of the first block to the end of the last, by either clock.
inline BlockRecord whole_launch(const std::vector<BlockRecord>& blocks) {
  BlockRecord all = blocks[0];
  for (const BlockRecord& b : blocks) {
    all.start_ns = std::min(all.start_ns, b.start_ns);
    all.end_ns = std::max(all.end_ns, b.end_ns);
    all.start_cycles = std::min(all.start_cycles, b.start_cycles);  // wrong: the counters of
    all.end_cycles = std::max(all.end_cycles, b.end_cycles);        // two SMs share no zero
  }
  return all;
}

// One launch, after another that warms up: the records that it left, its time by events, and the
// sum of squares that its threads have.
struct Launch {
  using Kernel = void(const int* x, std::size_t n, long long* partial, BlockRecord* records);

  Launch(Kernel* kernel, const std::vector<int>& values, unsigned grid, unsigned block) {
    const DeviceArray<int> x(values);
    const DeviceArray<long long> partial(std::size_t{grid} * block);
    const DeviceArray<BlockRecord> records(grid);
    EventTimer timer;
    for (int repeat = 0; repeat < 2; ++repeat) {
      timer.start();
      kernel<<<grid, block>>>(x, x.size(), partial, records);
      CUDA_CHECK_LAUNCH();
      event_ms = timer.stop_ms();
    }
    blocks = records.download();
    for (const int v : values) expected += 1LL * v * v;
    for (const long long of_thread : partial.download()) sum += of_thread;
  }

  double event_ms = 0;
  std::vector<BlockRecord> blocks;
  long long sum = 0, expected = 0;
};
