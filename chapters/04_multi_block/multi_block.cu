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

#include <algorithm>
#include <numeric>
#include <vector>

#include "../../common/common.cuh"

constexpr std::size_t kMaxN = 16_Gi;
constexpr std::size_t kMaxBlock = 1024;  // threads per block, a limit of the hardware
constexpr unsigned kInFlight = 4;        // loads per thread that four_in_flight has on their way

// ---- host reference ----------------------------------------------------------------------------

long long sum_of_squares(const std::vector<int>& x) {
  long long sum = 0;
  for (const int v : x) sum += static_cast<long long>(v) * v;
  return sum;
}

// ---- kernels -----------------------------------------------------------------------------------

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

// ---- the ladder --------------------------------------------------------------------------------

// What every version reads and writes.
struct Problem {
  const int* x;  // n values
  std::size_t n;
  long long* partial;        // one per thread of the largest grid
  unsigned sm_count, block;  // block: where the version leaves it open
};

// A launch in numbers.
struct Shape {
  unsigned grid, block;
  std::size_t threads() const { return static_cast<std::size_t>(grid) * block; }
};

constexpr Shape kOneBlock{1, 512}, kEightBlocks{8, 64};
Shape one_block_per_sm(const Problem& p) { return {p.sm_count, p.block}; }

// The most blocks of `block` threads that the chip holds at once. An SM runs out of thread slots,
// block slots, registers or shared memory; the runtime knows which comes first.
template <class Kernel>
Shape one_wave(const Problem& p, Kernel kernel, unsigned block) {
  int per_sm = 0;
  CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, static_cast<int>(block), 0));
  return {p.sm_count * static_cast<unsigned>(std::max(1, per_sm)), block};
}

// The block size with the highest occupancy, and the smallest grid that reaches it on every SM.
Shape choice_of_the_runtime(const Problem&) {
  int grid = 0, block = 0;
  CUDA_CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, sum_grid_stride, 0, 0));
  return {static_cast<unsigned>(grid), static_cast<unsigned>(block)};
}

// Five versions are one kernel in five shapes; only the last has another kernel.
struct GridVersion {
  const char* name;
  const char* summary;
  unsigned loads;  // on their way at once, per thread: 1 or kInFlight
  Shape (*shape)(const Problem&);
};
const GridVersion kVersions[] = {
    {"one_block_512", "1 x 512: one SM", 1, [](const Problem&) { return kOneBlock; }},
    {"eight_blocks_64", "8 x 64: the same threads on eight SMs", 1,
     [](const Problem&) { return kEightBlocks; }},
    {"one_block_per_sm", "as many blocks as there are SMs", 1, one_block_per_sm},
    {"occupancy_grid", "as many blocks as the chip holds at once", 1,
     [](const Problem& p) { return one_wave(p, sum_grid_stride, p.block); }},
    {"occupancy_api_block", "block size and grid from the runtime", 1, choice_of_the_runtime},
    {"four_in_flight", "four loads per thread at once", kInFlight,
     [](const Problem& p) { return one_wave(p, sum_four_in_flight, p.block); }},
};

void launch(const Problem& p, unsigned loads, Shape shape) {
  if (loads == 1) {
    sum_grid_stride<<<shape.grid, shape.block>>>(p.x, p.n, p.partial);
  } else {
    sum_four_in_flight<<<shape.grid, shape.block>>>(p.x, p.n, p.partial);
  }
  CUDA_CHECK_LAUNCH();
}

// Finishes on the host: copies the partial sum of every thread, adds them, compares.
bool check(const std::string& version, const Problem& p, Shape shape, long long expected) {
  std::vector<long long> partial(shape.threads());
  CUDA_CHECK(cudaMemcpy(partial.data(), p.partial, shape.threads() * sizeof(long long),
                        cudaMemcpyDeviceToHost));
  return equals(version, std::accumulate(partial.begin(), partial.end(), 0LL), expected);
}

void add_row(ResultTable& table, const Options& opt, const std::string& name, const Problem& p,
             unsigned loads, Shape shape, long long expected) {
  CUDA_CHECK(cudaMemset(p.partial, 0xff, shape.threads() * sizeof(long long)));  // poison
  launch(p, loads, shape);
  bool ok = check(name, p, shape, expected);
  const Timing t = time_launches(opt.samples, [&] { launch(p, loads, shape); });
  ok = check(name, p, shape, expected) && ok;  // and still right after the timed runs
  table.add(name, t, static_cast<double>(p.n) * sizeof(int), ok);
}

// bandwidth = bytes in flight / latency: what each version could reach if nothing else counted.
void note_littles_law(ResultTable& table, const Problem& p, double ns, double read_gbps) {
  table.note("one load alone takes " + digits_text(ns) + " ns; " + digits_text(read_gbps) +
             " GB/s for that long are " + digits_text(read_gbps * ns / 1e6) + " MB in flight");
  for (const GridVersion& v : kVersions) {
    const Shape shape = v.shape(p);
    const auto bytes = static_cast<double>(shape.threads() * v.loads * sizeof(int));
    table.note("  " + std::string(v.name) + ": " + std::to_string(shape.grid) + " x " +
               std::to_string(shape.block) + " threads, " + digits_text(bytes / 1e6) +
               " MB in flight, at most " + digits_text(std::min(bytes / ns, read_gbps)) + " GB/s");
  }
}

// Sweep "grid": ever more blocks of one size, up to four times what the chip holds at once.
// Sweep "block": as many blocks as fit at once, for blocks of many sizes.
std::vector<Shape> shapes_of(const std::string& sweep, const Problem& p) {
  std::vector<Shape> shapes;
  if (sweep == "block") {
    for (const unsigned block : {32u, 64u, 96u, 128u, 192u, 256u, 384u, 512u, 768u, 1024u}) {
      shapes.push_back(one_wave(p, sum_grid_stride, block));
    }
    return shapes;
  }
  const unsigned wave = one_wave(p, sum_grid_stride, p.block).grid;
  for (unsigned grid = 1; grid < p.sm_count; grid *= 2) shapes.push_back({grid, p.block});
  for (unsigned grid = p.sm_count; grid < wave; grid *= 2) shapes.push_back({grid, p.block});
  for (const unsigned waves : {1u, 2u, 4u}) shapes.push_back({waves * wave, p.block});
  return shapes;
}

// ---- one launch, three clocks ------------------------------------------------------------------

// Launches twice, the first time to warm up, and returns the records of the second launch.
std::vector<BlockRecord> record_blocks(const Problem& p, Shape shape, double* event_ms) {
  std::vector<BlockRecord> blocks(shape.grid);
  const std::size_t bytes = shape.grid * sizeof(BlockRecord);
  BlockRecord* d_blocks = nullptr;
  CUDA_CHECK(cudaMalloc(&d_blocks, bytes));
  CUDA_CHECK(cudaMemset(d_blocks, 0xff, bytes));
  EventTimer timer;
  for (int repeat = 0; repeat < 2; ++repeat) {
    timer.start();
    sum_recorded<<<shape.grid, shape.block>>>(p.x, p.n, p.partial, d_blocks);
    CUDA_CHECK_LAUNCH();
    *event_ms = timer.stop_ms();
  }
  CUDA_CHECK(cudaMemcpy(blocks.data(), d_blocks, bytes, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(d_blocks));
  return blocks;
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

void add_clock_rows(ResultTable& table, const Options& opt, const Problem& p, Shape shape,
                    long long expected, CsvFile& csv) {
  CUDA_CHECK(cudaMemset(p.partial, 0xff, shape.threads() * sizeof(long long)));  // poison
  double event_ms = 0;
  const std::vector<BlockRecord> blocks = record_blocks(p, shape, &event_ms);
  const bool ok = check("recorded blocks", p, shape, expected);
  const BlockRecord all = whole_launch(blocks);
  // The length of a cycle, from one block: on its own SM both clocks are right.
  const double ms_per_cycle = blocks[0].ms() / std::max(1.0, blocks[0].cycles());
  const auto add = [&](const char* row, double ms) {
    const Timing once = {ms, ms, ms, 1, 1};
    if (opt.wants(row)) table.add(row, once, static_cast<double>(p.n) * sizeof(int), ok);
  };
  add("by_events", event_ms);
  add("by_globaltimer", all.ms());
  add("by_clock64", all.cycles() * ms_per_cycle);
  table.note("by_*: " + std::to_string(shape.grid) + " blocks, of which " +
             std::to_string(one_wave(p, sum_recorded, shape.block).grid) + " fit at once");
  write_blocks(csv, blocks);
}

int main(int argc, char** argv) {
  Options opt("04_multi_block", "how many threads does it take to hide latency?");
  for (const GridVersion& v : kVersions) opt.version(v.name, v.summary);
  opt.version("by_events", "2.5 waves of blocks, timed by events");
  opt.version("by_globaltimer", "the same launch by the clock that all SMs share");
  opt.version("by_clock64", "the same launch by the SMs' own counters: wrong");
  name_cub_row(opt);
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, block = 256, grid = 0;
  std::string sweep, blocks_csv;
  opt.add("n", &n, 1, kMaxN, "ints to sum");
  opt.add("block", &block, 1, kMaxBlock, "threads per block, where the version leaves it open");
  opt.add("grid", &grid, 1, 1_Mi, "blocks of the by_* rows [two and a half waves]");
  opt.add("sweep", &sweep, {"grid", "block", "latency"}, "measure one of these instead");
  opt.add_file("blocks-csv", &blocks_csv, "where and when each block of the by_* rows ran");
  opt.parse(argc, argv);
  if (!sweep.empty() && !(opt.only.empty() && blocks_csv.empty())) {
    opt.usage_error("--sweep " + sweep + ": not together with --only or --blocks-csv");
  }
  const Device device = open_device(opt);

  Problem p{};
  p.n = n;
  p.sm_count = static_cast<unsigned>(device.sm_count);
  p.block = static_cast<unsigned>(block);
  Shape recorded = one_wave(p, sum_recorded, p.block);
  recorded.grid = grid > 0 ? static_cast<unsigned>(grid) : recorded.grid * 5 / 2;
  // No other grid is larger than four waves, and a wave is at most every thread slot of every SM.
  const auto slots = static_cast<std::size_t>(
      device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device.ordinal));
  const std::size_t threads = std::max(4 * slots * p.sm_count, recorded.threads());
  const std::size_t bytes = n * sizeof(int);
  require_device_memory(
      opt, "--n " + std::to_string(n),
      bytes + threads * sizeof(long long) + kRingInMemory + recorded.grid * sizeof(BlockRecord));
  CsvFile blocks_file;
  blocks_file.open(opt, "--blocks-csv", blocks_csv);

  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const long long expected = sum_of_squares(x);
  int* d_x = nullptr;
  CUDA_CHECK(cudaMalloc(&d_x, bytes));
  CUDA_CHECK(cudaMalloc(&p.partial, threads * sizeof(long long)));
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
  p.x = d_x;

  ResultTable table(opt, device,
                    (sweep.empty() ? "" : sweep + " sweep · ") + "n = " + std::to_string(n) +
                        " · block " + std::to_string(block),
                    bytes);
  const double read_gbps = kOnGpu ? measure_yardstick(device).read_gbps : 0;
  if (kOnGpu) table.rate_in_gbps("read", read_gbps);
  if (sweep == "latency") {
    for (const std::size_t ring : {64_Ki, 4_Mi, kRingInMemory}) {  // fits L1, fits L2, fits neither
      const Latency latency = measure_latency(ring, opt.samples);
      table.add("ring=" + bytes_text(ring), latency.per_load, sizeof(unsigned), latency.ok);
    }
  } else if (!sweep.empty()) {
    for (const unsigned loads : {1u, kInFlight}) {
      for (const Shape s : shapes_of(sweep, p)) {
        const std::string value = std::to_string(sweep == "grid" ? s.grid : s.block);
        const std::string name = sweep + "=" + value + " loads=" + std::to_string(loads);
        add_row(table, opt, name, p, loads, s, expected);
      }
    }
  } else {
    for (const GridVersion& v : kVersions) {
      if (opt.wants(v.name)) add_row(table, opt, v.name, p, v.loads, v.shape(p), expected);
    }
    add_cub_row(table, opt, d_x, n, expected);
    const bool by_any =
        opt.wants("by_events") || opt.wants("by_globaltimer") || opt.wants("by_clock64");
    if (by_any || blocks_file.is_open()) {
      add_clock_rows(table, opt, p, recorded, expected, blocks_file);
    }
    if (kOnGpu && opt.only.empty()) {
      note_littles_law(table, p, measure_latency(kRingInMemory, 5).ns(), read_gbps);
    }
  }
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(p.partial));
  const int status = table.finish();
  return blocks_file.finish() ? status : kExitWrong;
}
