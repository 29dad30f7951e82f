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
  unsigned grid, block, loads = 1;  // loads: per thread, on their way at once, 1 or kInFlight
  std::size_t threads() const { return static_cast<std::size_t>(grid) * block; }
  double bytes_in_flight() const { return static_cast<double>(threads() * loads * sizeof(int)); }
};

constexpr Shape kOneBlock{1, 512}, kEightBlocks{8, 64};
Shape one_block_per_sm(const Problem& p) { return {p.sm_count, p.block}; }

// The most blocks of `block` threads that the chip holds at once. An SM runs out of thread slots,
// block slots, registers or shared memory; the runtime knows which comes first.
template <class Kernel>
Shape one_wave(const Problem& p, Kernel kernel, unsigned block, unsigned loads = 1) {
  int per_sm = 0;
  CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, static_cast<int>(block), 0));
  return {p.sm_count * static_cast<unsigned>(std::max(1, per_sm)), block, loads};
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
  Shape (*shape)(const Problem&);
};
const GridVersion kVersions[] = {
    {"one_block_512", "1 x 512: one SM", [](const Problem&) { return kOneBlock; }},
    {"eight_blocks_64", "8 x 64: the same threads on eight SMs",
     [](const Problem&) { return kEightBlocks; }},
    {"one_block_per_sm", "as many blocks as there are SMs", one_block_per_sm},
    {"occupancy_grid", "as many blocks as the chip holds at once",
     [](const Problem& p) { return one_wave(p, sum_grid_stride, p.block); }},
    {"occupancy_api_block", "block size and grid from the runtime", choice_of_the_runtime},
    {"four_in_flight", "four loads per thread at once",
     [](const Problem& p) { return one_wave(p, sum_four_in_flight, p.block, kInFlight); }},
};

void launch(const Problem& p, Shape shape) {
  if (shape.loads == 1) {
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
             Shape shape, long long expected) {
  CUDA_CHECK(cudaMemset(p.partial, 0xff, shape.threads() * sizeof(long long)));  // poison
  const auto bytes = static_cast<double>(p.n * sizeof(int));
  add_measured_row(
      table, opt, name, bytes, [&] { launch(p, shape); },
      [&] { return check(name, p, shape, expected); });
}

// Little's law: bytes in flight = latency x bandwidth. What the memory wants, and what each version
// could reach if nothing else counted.
void note_littles_law(ResultTable& table, const Problem& p, double read_gbps) {
  const double ns = measure_latency(kRingInMemory, 5).ns();
  note_wanted_in_flight(table, ns, read_gbps, ns * read_gbps);
  for (const GridVersion& v : kVersions) {
    const Shape s = v.shape(p);
    const double most_gbps = std::min(s.bytes_in_flight() / ns, read_gbps);
    note_in_flight(table, v.name, s.grid, s.block, s.bytes_in_flight(), most_gbps);
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

void add_clock_rows(ResultTable& table, const Problem& p, Shape shape, long long expected,
                    CsvFile& csv) {
  CUDA_CHECK(cudaMemset(p.partial, 0xff, shape.threads() * sizeof(long long)));  // poison
  double event_ms = 0;
  const auto blocks = records_of_launch(shape.grid, &event_ms, [&](BlockRecord* d_records) {
    sum_recorded<<<shape.grid, shape.block>>>(p.x, p.n, p.partial, d_records);
    CUDA_CHECK_LAUNCH();
  });
  const bool ok = check("recorded blocks", p, shape, expected);
  const BlockRecord all = whole_launch(blocks);
  const auto bytes = static_cast<double>(p.n * sizeof(int));
  table.add_once("by_events", event_ms, bytes, ok);
  table.add_once("by_globaltimer", all.ms(), bytes, ok);
  // How long a cycle is, one block says: on its own SM both clocks are right.
  table.add_once("by_clock64", all.cycles() * blocks[0].ms_per_cycle(), bytes, ok);
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
  std::size_t n = kOnGpu ? 64_Mi : 250000, block = 256, grid = 0;
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

  Problem p = {nullptr, n, nullptr, static_cast<unsigned>(device.sm_count),
               static_cast<unsigned>(block)};
  Shape recorded = one_wave(p, sum_recorded, p.block);
  recorded.grid = grid > 0 ? static_cast<unsigned>(grid) : recorded.grid * 5 / 2;
  // No other grid is larger than four waves, and a wave is at most every thread slot of every SM.
  const std::size_t threads = std::max(4 * device.thread_slots(), recorded.threads());
  const std::size_t bytes = n * sizeof(int);
  const std::size_t others = threads * sizeof(long long) + recorded.grid * sizeof(BlockRecord);
  require_device_memory(opt, "--n " + std::to_string(n), bytes + others + kRingInMemory);
  CsvFile blocks_file;
  blocks_file.open(opt, "--blocks-csv", blocks_csv);

  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const long long expected = sum_of_squares(x);
  int* d_x = nullptr;
  CUDA_CHECK(cudaMalloc(&d_x, bytes));
  CUDA_CHECK(cudaMalloc(&p.partial, threads * sizeof(long long)));
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
  p.x = d_x;

  const std::string size = "n = " + std::to_string(n) + " · block " + std::to_string(block);
  ResultTable table(opt, device, (sweep.empty() ? "" : sweep + " sweep · ") + size, bytes);
  const double read_gbps = kOnGpu ? measure_yardstick(device).read_gbps : 0;
  if (kOnGpu) table.rate_in_gbps("read", read_gbps);
  if (sweep == "latency") {
    add_latency_rows(table, opt.samples);
  } else if (!sweep.empty()) {
    for (const unsigned loads : {1u, kInFlight}) {
      for (Shape s : shapes_of(sweep, p)) {
        s.loads = loads;
        const std::string value = std::to_string(sweep == "grid" ? s.grid : s.block);
        const std::string name = sweep + "=" + value + " loads=" + std::to_string(loads);
        add_row(table, opt, name, p, s, expected);
      }
    }
  } else {
    for (const GridVersion& v : kVersions) {
      if (opt.wants(v.name)) add_row(table, opt, v.name, p, v.shape(p), expected);
    }
    add_cub_row(table, opt, d_x, n, expected);
    if (opt.only.empty() || opt.only.find("by_") != std::string::npos || blocks_file.is_open()) {
      add_clock_rows(table, p, recorded, expected, blocks_file);
    }
    if (kOnGpu && opt.only.empty()) note_littles_law(table, p, read_gbps);
  }
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(p.partial));
  const int status = table.finish();
  return blocks_file.finish() ? status : kExitWrong;
}
