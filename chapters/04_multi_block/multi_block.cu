// SPDX-License-Identifier: MIT
// Chapter 04: how many threads does it take to hide latency?
//
// one_block_512        1 x 512: one SM works, 131 watch
// eight_blocks_64      8 x 64: the same 512 threads on eight SMs
// one_block_per_sm     one block for every SM
// occupancy_grid       as many blocks as the whole chip holds at once
// occupancy_api_block  the same, with the block size chosen by the runtime
// four_in_flight       occupancy_grid, with four loads per thread on their way at once
// by_events, by_globaltimer, by_clock64   one launch, its duration read from three clocks
// Run: make run CH=04
//      make run CH=04 ARGS="--sweep loads"   1 to 8 loads per thread, of 4 bytes or of 16

#include <algorithm>
#include <numeric>
#include <vector>

#include "../../common/common.cuh"
#include "shapes.cuh"  // how many blocks, of how many threads

constexpr std::size_t kMaxN = 16_Gi;
constexpr std::size_t kMaxBlock = 1024;  // threads per block, a limit of the hardware
constexpr unsigned kInFlight = 4;        // loads per thread that four_in_flight has on their way

// This thread's number in the whole grid, and how many there are. Widened before multiplying: the
// product of two unsigned ints wraps at 2^32.
__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t grid_threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

// The grid-stride loop: a thread starts at its own number and strides by the whole grid. Any grid
// covers any n, and at every step the lanes of a warp read neighbours.
__device__ long long sum_of_share(const int* x, std::size_t n) {
  long long sum = 0;
  // Not unrolled, so that a thread has one load on its way and waits for it: 4 bytes in flight.
#pragma unroll 1
  for (std::size_t i = global_index(); i < n; i += grid_threads()) {
    sum += static_cast<long long>(x[i]) * x[i];
  }
  return sum;
}

// Every thread leaves its partial sum, also the threads that had no element: the host adds them.
__global__ void sum_grid_stride(const int* x, std::size_t n, long long* partial) {
  partial[global_index()] = sum_of_share(x, n);
}

// The same additions, but four loads leave before the first value is used: one wait for four.
__global__ void sum_four_in_flight(const int* x, std::size_t n, long long* partial) {
  const std::size_t stride = grid_threads();
  std::size_t i = global_index();
  long long sum = 0;
#pragma unroll 1
  for (; i + (kInFlight - 1) * stride < n; i += kInFlight * stride) {
    int v[kInFlight];  // in registers: the two loops below are unrolled
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) v[k] = x[i + k * stride];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) sum += static_cast<long long>(v[k]) * v[k];
  }
  for (; i < n; i += stride) sum += static_cast<long long>(x[i]) * x[i];  // fewer than four left
  partial[global_index()] = sum;
}

// Each block notes where and when it runs: by a clock that all SMs share, and by the cycle counter
// of its own SM.
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

// ---- the versions ------------------------------------------------------------------------------

// What they read and write, and the sum of squares that is right.
struct ThreadSums {
  DeviceArray<int> x;
  DeviceArray<long long> partial;  // one per thread of the largest grid
  long long expected;
};

// Five versions are one kernel in five shapes; only the last has another kernel.
const ShapeVersion kVersions[] = {
    {"one_block_512", "1 x 512: one SM", fixed<1, 512>},
    {"eight_blocks_64", "8 x 64: the same threads on eight SMs", fixed<8, 64>},
    {"one_block_per_sm", "as many blocks as there are SMs", one_block_per_sm},
    {"occupancy_grid", "as many blocks as the chip holds at once", one_wave<sum_grid_stride>},
    {"occupancy_api_block", "block size and grid from the runtime", api_choice<sum_grid_stride>},
    {"four_in_flight", "four loads per thread at once", one_wave<sum_four_in_flight, kInFlight>},
};

void launch(const ThreadSums& d, Shape shape) {
  if (shape.loads == 1) {
    sum_grid_stride<<<shape.grid, shape.block>>>(d.x.get(), d.x.size(), d.partial.get());
  } else {
    sum_four_in_flight<<<shape.grid, shape.block>>>(d.x.get(), d.x.size(), d.partial.get());
  }
}

long long reference(const std::vector<int>& x) {
  return std::accumulate(x.begin(), x.end(), 0LL,
                         [](long long sum, long long v) { return sum + v * v; });
}

// Finishes on the host: copies the partial sum of every thread, adds them, compares.
bool check(const std::string& version, const ThreadSums& d, Shape shape) {
  const std::vector<long long> partial = d.partial.download(shape.threads());
  return equals(version, std::accumulate(partial.begin(), partial.end(), 0LL), d.expected);
}

void add_row(ResultTable& table, const std::string& name, const ThreadSums& d, Shape shape) {
  if (!table.options().wants(name)) return;
  add_measured_row(
      table, name, static_cast<double>(d.x.bytes()), [&] { d.partial.poison(); },
      [&] { launch(d, shape); }, [&] { return check(name, d, shape); });
}

#include "sweeps.cuh"        // --sweep, and what Little's law says of the versions
#include "three_clocks.cuh"  // the rows by_*

int main(int argc, char** argv) {
  Options opt("04_multi_block", "how many threads does it take to hide latency?");
  std::size_t n = kOnGpu ? 64_Mi : 250000, block = 256;
  std::string sweep;
  for (const ShapeVersion& v : kVersions) opt.version(v.name, v.summary);
  opt.add("n", &n, 1, kMaxN, "ints to sum");
  opt.add("block", &block, 1, kMaxBlock, "threads per block, where the version leaves it open");
  opt.add("sweep", &sweep, kSweeps, "measure one of these instead");
  ClockRows clocks(opt);
  name_cub_row(opt);
  opt.parse(argc, argv);
  refuse_other_rows(opt, sweep, clocks.blocks_csv);
  const Device device = open_device(opt);
  const Setting s = {static_cast<unsigned>(device.sm_count), static_cast<unsigned>(block)};
  // No other grid is larger than four waves, and a wave is at most every thread slot of every SM.
  const std::size_t threads = std::max(4 * device.thread_slots(), clocks.shape(s).threads());
  require_device_memory(
      opt, "--n " + std::to_string(n),
      n * sizeof(int) + threads * sizeof(long long) + clocks.bytes(s) + kRingInMemory);
  clocks.open_csv(opt);
  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const ThreadSums data = {DeviceArray<int>(x), DeviceArray<long long>(threads), reference(x)};
  const std::string size = "n = " + std::to_string(n) + " · block " + std::to_string(block);
  ResultTable table(opt, device, (sweep.empty() ? "" : sweep + " sweep · ") + size, data.x.bytes());
  const double read_gbps = kOnGpu ? measure_yardstick(device, data.x.bytes()).read_gbps : 0;
  if (kOnGpu) table.rate_in_gbps("read", read_gbps);
  if (!sweep.empty()) return run_sweep(table, sweep, data, s);
  for (const ShapeVersion& v : kVersions) add_row(table, v.name, data, v.shape(s));
  add_cub_row(table, opt, data.x.get(), n, data.expected);
  clocks.add_rows(table, data, s);
  if (kOnGpu && opt.only.empty()) bytes_in_flight::note_bounds(table, s, read_gbps);
  return clocks.finish(table);
}
