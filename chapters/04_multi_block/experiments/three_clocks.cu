// SPDX-License-Identifier: MIT
// How long did one launch take, by events, by the clock of all SMs and by the counters of each?

#include "../../../common/common.cuh"

// This thread's number in the whole grid, and how many there are. Widened before multiplying: the
// product of two unsigned ints wraps at 2^32.
__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t grid_threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

// The grid-stride loop of the chapter's program: one load in flight per thread.
__device__ long long sum_of_share(const int* x, std::size_t n) {
  long long sum = 0;
#pragma unroll 1
  for (std::size_t i = global_index(); i < n; i += grid_threads()) {
    sum += static_cast<long long>(x[i]) * x[i];
  }
  return sum;
}

// The multiprocessor that the calling thread runs on, from 0: PTX %smid, for which C++ has no name.
__device__ unsigned sm_id() {
#ifdef __CUDA_CPU__
  return cuda_cpu::sm_id();
#else
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
#endif
}

struct BlockRecord {
  unsigned sm;
  std::uint64_t start_ns, end_ns;      // by the clock that all SMs share
  long long start_cycles, end_cycles;  // by the counter of the block's own SM
  double ms() const { return static_cast<double>(end_ns - start_ns) / 1e6; }
  double cycles() const { return static_cast<double>(end_cycles - start_cycles); }
};

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
BlockRecord whole_launch(const std::vector<BlockRecord>& blocks) {
  BlockRecord all = blocks[0];
  for (const BlockRecord& b : blocks) {
    all.start_ns = std::min(all.start_ns, b.start_ns);
    all.end_ns = std::max(all.end_ns, b.end_ns);
    all.start_cycles = std::min(all.start_cycles, b.start_cycles);  // wrong: the counters of
    all.end_cycles = std::max(all.end_cycles, b.end_cycles);        // two SMs share no zero
  }
  return all;
}

// Whether records can be true of a launch that took so long by events: each was written (the memory
// was poisoned before), none ends before it starts or counts more cycles than a clock of 10 GHz has
// in that time, and all of them lie within the launch. Two microseconds are for the clocks' ticks.
bool are_plausible(const std::vector<BlockRecord>& blocks, double event_ms) {
  constexpr double kTicksMs = 0.002, kMostPerMs = 1e7;
  const auto is_plausible = [](const BlockRecord& b) {
    return b.sm != ~0u && b.end_ns >= b.start_ns && b.cycles() > 0 &&
           b.cycles() <= kMostPerMs * (b.ms() + kTicksMs);
  };
  return std::all_of(blocks.begin(), blocks.end(), is_plausible) &&
         whole_launch(blocks).ms() <= event_ms + kTicksMs;
}

// One launch, after another that warms up: the records that it left, and its time by events.
struct Launch {
  Launch(const std::vector<int>& values, unsigned grid, unsigned block) {
    const DeviceArray<int> x(values);
    const DeviceArray<long long> partial(std::size_t{grid} * block);
    const DeviceArray<BlockRecord> records(grid);
    EventTimer timer;
    for (int repeat = 0; repeat < 2; ++repeat) {
      timer.start();
      sum_recorded<<<grid, block>>>(x, x.size(), partial, records);
      CUDA_CHECK_LAUNCH();
      event_ms = timer.stop_ms();
    }
    blocks = records.download();
    for (const int v : values) missing += 1LL * v * v;
    for (const long long sum : partial.download()) missing -= sum;
  }
  bool is_right() const { return missing == 0 && are_plausible(blocks, event_ms); }
  // By the SMs' own counters. One block tells how long a cycle is: on its own SM both clocks are
  // right.
  double counter_ms() const {
    return whole_launch(blocks).cycles() * blocks[0].ms() / blocks[0].cycles();
  }
  double event_ms = 0;
  std::vector<BlockRecord> blocks;
  long long missing = 0;  // of the sum of squares
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000, block = 256, grid = 0;
  const Options opt(argc, argv, "04_three_clocks", "how long did one launch take, by three clocks?",
                    {{"n", &n, 1, 16_Gi, "ints to sum"},
                     {"block", &block, 1, 1024, "threads per block"},
                     {"grid", &grid, 1, 1_Mi, "blocks [two and a half waves]"}});
  open_device(opt);
  const unsigned wave = blocks_held(sum_recorded, block);
  if (grid == 0) grid = wave * 5 / 2;
  ResultTable table(opt, n * sizeof(int), grid * (block * 8 + sizeof(BlockRecord)));
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const Launch launch(random_ints(n, 0, 9, opt.seed), grid, block);  // one for all rows
  const auto add = [&](const char* name, const char* summary, double ms) {
    if (table.wants(name, summary))
      table.row(name, {ms, ms, ms, 1}, n * 4e-6 / ms, launch.is_right());
  };
  add("by_events", "2.5 waves of blocks, by events", launch.event_ms);
  add("by_globaltimer", "the same launch by the clock that all SMs share",
      whole_launch(launch.blocks).ms());
  add("by_clock64", "the same launch by the SMs' own counters: wrong", launch.counter_ms());
  table.note("by_*: ", grid, " blocks, of which ", wave, " fit at once");
  return table.finish();
}
