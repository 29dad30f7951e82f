// SPDX-License-Identifier: MIT
// Chapter 03: why does the order of addresses matter?
//
// single_thread  one thread reads everything, as in chapter 02: the baseline
// sum_chunked    one block; each thread reads a chunk of its own, element after element
// sum_strided    one block; neighbouring threads read neighbouring elements
// grid_chunked   the kernel of sum_chunked, launched for as many blocks as the device holds
// grid_strided   the kernel of sum_strided, likewise
// Run: make run CH=03
//      make run CH=03 ARGS="--sweep stride"   lanes 1, 2, 3, ... 1024 elements apart
//      make run CH=03 ARGS="--sweep offset"   all lanes moved by 0, 1, ... 32 elements

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "../../common/common.cuh"

constexpr std::size_t kMaxBlock = 1024;  // threads per block, a limit of the hardware
constexpr std::size_t kMaxGrid = 2147483647;
constexpr std::size_t kMaxN = 16_Gi;
constexpr std::size_t kWarp = 32;         // lanes: threads that execute one load together
constexpr std::size_t kSectorBytes = 32;  // what a cache fetches; four sectors make a line
constexpr std::size_t kLineBytes = 128;   // what a cache has a tag for

// What a version reads and writes.
struct Problem {
  const int* x;          // the values
  std::size_t n;         // how many of them are summed
  unsigned block, grid;  // threads per block; blocks of the whole-grid versions
  long long* partial;    // one partial sum per thread
};

// One row of a sweep: thread i reads x[offset + i * stride].
struct Walk {
  std::string name;
  std::size_t offset, stride;
};

// ---- data and host reference -------------------------------------------------------------------

// Element i of x: a digit. The device fills x, so that 64 GiB take a blink and no copy; the host
// holds nothing, yet knows every element.
__host__ __device__ int element(std::uint64_t seed, std::size_t i) {
  return random_int(0, 9, seed, i);
}

__host__ __device__ constexpr long long square(int value) {
  return static_cast<long long>(value) * value;
}

// The sum of squares over n elements of x: first, first + stride, first + 2 * stride, ...
long long reference(std::uint64_t seed, std::size_t n, std::size_t first, std::size_t stride) {
  long long sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += square(element(seed, first + i * stride));
  return sum;
}

// ---- kernels -----------------------------------------------------------------------------------

// Which thread this is, counted through all blocks of the launch.
__device__ std::size_t this_thread() {
  const std::size_t before_my_block = std::size_t{blockIdx.x} * blockDim.x;
  return before_my_block + threadIdx.x;
}

// How many threads the launch has.
__device__ std::size_t all_threads() { return std::size_t{gridDim.x} * blockDim.x; }

__global__ void sum_single_thread(const int* x, std::size_t n, long long* partial) {
  long long sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += square(x[i]);
  partial[0] = sum;
}

// Shared out as among people: each thread has a piece of its own and goes through it.
// So at any moment the lanes of a warp are a whole chunk apart: 32 lanes, 32 lines.
__global__ void sum_chunked(const int* x, std::size_t n, long long* partial) {
  const std::size_t threads = all_threads(), t = this_thread();
  // Rounded up: rounded down, the last n % threads elements would belong to nobody.
  // So the last chunk may be short, and those behind it empty.
  const std::size_t chunk = n / threads + (n % threads != 0);
  const std::size_t begin = t * chunk;
  const std::size_t end = begin + chunk < n ? begin + chunk : n;
  long long sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += square(x[i]);
  partial[t] = sum;
}

// Dealt out like cards: thread t has elements t, t + threads, t + 2 * threads, ... Now the
// lanes of a warp are neighbours in memory: 32 lanes, one line. The load is coalesced.
__global__ void sum_strided(const int* x, std::size_t n, long long* partial) {
  const std::size_t threads = all_threads(), t = this_thread();
  long long sum = 0;
  for (std::size_t i = t; i < n; i += threads) sum += square(x[i]);
  partial[t] = sum;
}

// Any walk, by the whole grid. Eight loads are under way before the first value is used,
// so that the limit is what the memory delivers, not how long a load takes (chapter 04).
__global__ void sum_walk(const int* x, std::size_t n, std::size_t offset, std::size_t stride,
                         long long* partial) {
  constexpr int kInFlight = 8;
  const std::size_t threads = all_threads(), t = this_thread();
  long long sum = 0;
  for (std::size_t i = t; i < n; i += kInFlight * threads) {
    int value[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const std::size_t j = i + k * threads;
      value[k] = j < n ? x[offset + j * stride] : 0;
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) sum += square(value[k]);
  }
  partial[t] = sum;
}

__global__ void fill(int* x, std::size_t count, std::uint64_t seed) {
  for (std::size_t i = this_thread(); i < count; i += all_threads()) {
    x[i] = element(seed, i);
  }
}

// ---- the ladder --------------------------------------------------------------------------------

const Version<Problem> kVersions[] = {
    {"single_thread", "one thread reads everything",
     [](const Problem& p) { sum_single_thread<<<1, 1>>>(p.x, p.n, p.partial); }},
    {"sum_chunked", "one block, a contiguous chunk per thread",
     [](const Problem& p) { sum_chunked<<<1, p.block>>>(p.x, p.n, p.partial); }},
    {"sum_strided", "one block, neighbouring threads at neighbouring addresses",
     [](const Problem& p) { sum_strided<<<1, p.block>>>(p.x, p.n, p.partial); }},
    {"grid_chunked", "a contiguous chunk per thread, whole grid",
     [](const Problem& p) { sum_chunked<<<p.grid, p.block>>>(p.x, p.n, p.partial); }},
    {"grid_strided", "neighbouring threads at neighbouring addresses, whole grid",
     [](const Problem& p) { sum_strided<<<p.grid, p.block>>>(p.x, p.n, p.partial); }},
};

std::size_t grid_threads(const Problem& p) { return std::size_t{p.grid} * p.block; }

// How many threads a version launches, and so how many partial sums it leaves.
std::size_t threads_of(const std::string& version, const Problem& p) {
  if (version == "single_thread") return 1;
  return version.rfind("grid_", 0) == 0 ? grid_threads(p) : p.block;
}

std::size_t partial_bytes(const Problem& p) {
  return std::max<std::size_t>(grid_threads(p), p.block) * sizeof(long long);
}

// Finishes the sum on the host, from the partial sums of the first `threads` threads, and compares.
bool check(const std::string& version, const Problem& p, std::size_t threads, long long expected) {
  std::vector<long long> partial(threads);
  const std::size_t bytes = threads * sizeof(long long);
  CUDA_CHECK(cudaMemcpy(partial.data(), p.partial, bytes, cudaMemcpyDeviceToHost));
  return equals(version, std::accumulate(partial.begin(), partial.end(), 0LL), expected);
}

// One row of the table: poisoned output, a checked run, the timed runs, and checked once more.
template <class Run, class Right>
void measure(ResultTable& table, const Options& opt, const std::string& name, const Problem& p,
             Run run, Right right) {
  CUDA_CHECK(cudaMemset(p.partial, 0xff, partial_bytes(p)));
  run();
  const bool right_at_first = right();
  const Timing t = time_launches(opt.samples, run);
  table.add(name, t, static_cast<double>(p.n) * sizeof(int), right() && right_at_first);
}

void run_ladder(ResultTable& table, const Options& opt, const Problem& p) {
  const long long expected = reference(opt.seed, p.n, 0, 1);
  for (const auto& version : kVersions) {
    if (!opt.wants(version.name)) continue;
    const auto run = [&] {
      version.launch(p);
      CUDA_CHECK_LAUNCH();
    };
    measure(table, opt, version.name, p, run,
            [&] { return check(version.name, p, threads_of(version.name, p), expected); });
  }
  add_cub_row(table, opt, p.x, p.n, expected);
}

// ---- the sweeps --------------------------------------------------------------------------------

std::vector<Walk> walks_of(const std::string& sweep) {
  std::vector<Walk> walks;
  if (sweep == "stride") {
    for (const std::size_t s : {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1000, 1024}) {
      walks.push_back({"stride=" + std::to_string(s), 0, s});
    }
  } else if (sweep == "offset") {
    for (std::size_t o = 0; o <= 32; ++o) walks.push_back({"offset=" + std::to_string(o), o, 1});
  }
  return walks;
}

// How many aligned pieces of `bytes` the 32 lanes of a warp touch with one load between them.
std::size_t pieces_touched(const Walk& walk, std::size_t bytes) {
  std::set<std::size_t> pieces;
  for (std::size_t lane = 0; lane < kWarp; ++lane) {
    pieces.insert((walk.offset + lane * walk.stride) * sizeof(int) / bytes);
  }
  return pieces.size();
}

// "32 sectors (lines: 8), 12.5 % of the bytes used": what moves is whole sectors.
std::string moved_text(const Walk& walk) {
  const std::size_t sectors = pieces_touched(walk, kSectorBytes);
  char text[96];
  std::snprintf(text, sizeof text, "%2zu sectors (lines: %2zu), %5.1f %% of the bytes used",
                sectors, pieces_touched(walk, kLineBytes),
                100.0 * kWarp * sizeof(int) / static_cast<double>(sectors * kSectorBytes));
  return text;
}

// A launch walks over one window of x, which begins at a line. Small strides take turns between
// several windows, 4 n elements in all: of the same n again, the L2 would still hold a part.
std::size_t window(const Walk& walk, std::size_t n) {
  constexpr std::size_t kPerLine = kLineBytes / sizeof(int);
  return div_up(n * walk.stride, kPerLine) * kPerLine;
}
std::size_t windows(const Walk& walk) { return div_up(4, walk.stride); }
std::size_t elements_under(const Walk& walk, std::size_t n) {
  return walk.offset + windows(walk) * window(walk, n);
}

void run_sweep(ResultTable& table, const Options& opt, const Problem& p,
               const std::vector<Walk>& rows, std::size_t left_out) {
  std::map<std::string, std::string> alike;  // the walks that move the same
  for (const Walk& walk : rows) {
    std::size_t launches = 0, first = 0;
    const auto run = [&] {
      first = walk.offset + launches++ % windows(walk) * window(walk, p.n);
      sum_walk<<<p.grid, p.block>>>(p.x, p.n, first, walk.stride, p.partial);
      CUDA_CHECK_LAUNCH();
    };
    measure(table, opt, walk.name, p, run, [&] {
      return check(walk.name, p, grid_threads(p), reference(opt.seed, p.n, first, walk.stride));
    });
    alike[moved_text(walk)] += " " + walk.name;
  }
  table.note("One load of a warp (32 lanes x 4 bytes) touches:");
  for (const auto& [moved, names] : alike) table.note("  " + moved + ":" + names);
  if (left_out > 0) {
    table.note("The last " + std::to_string(left_out) + " rows are left out: x would not fit");
  }
}

int main(int argc, char** argv) {
  Options opt("03_coalesced_threads", "why does the order of addresses matter?");
  if (kOnGpu) opt.samples = 7;  // one thread takes more than half a second for 16 Mi ints
  std::size_t n = kOnGpu ? 16_Mi : 65000, block = 512, grid = 0;
  std::string sweep;
  opt.add("n", &n, 1, kMaxN, "ints to sum");
  opt.add("block", &block, 1, kMaxBlock, "threads per block");
  opt.add("grid", &grid, 1, kMaxGrid, "blocks of a whole grid [as many as the device holds]");
  opt.add("sweep", &sweep, {"stride", "offset"}, "one kernel on many walks instead");
  opt.parse(argc, argv, [&] {  // the rows of a sweep are its versions
    for (const Walk& walk : walks_of(sweep)) opt.version(walk.name, moved_text(walk));
    if (sweep.empty()) opt.versions(kVersions);
    if (sweep.empty()) name_cub_row(opt);
  });
  const Device device = open_device(opt);
  if (grid == 0) {
    const int held = device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device.ordinal);
    grid = static_cast<std::size_t>(device.sm_count) * (static_cast<std::size_t>(held) / block);
  }
  Problem p = {nullptr, n, static_cast<unsigned>(block), static_cast<unsigned>(grid), nullptr};

  // A sweep's rows end where x would not fit the device. The first one stays in any case, so that
  // it is refused below when not even that fits.
  std::size_t free_bytes = 0, total_bytes = 0, count = n, left_out = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  std::vector<Walk> rows;
  for (const Walk& walk : walks_of(sweep)) {
    if (!opt.wants(walk.name)) continue;
    const std::size_t needed = elements_under(walk, n);
    const bool fits = needed * sizeof(int) <= free_bytes / 8 * 7 || rows.empty();
    left_out += !fits;
    if (!fits) continue;
    rows.push_back(walk);
    count = std::max(count, needed);
  }
  const std::size_t bytes = count * sizeof(int);
  require_device_memory(opt, "--n " + std::to_string(n) + " and --grid " + std::to_string(grid),
                        bytes + partial_bytes(p));
  const std::string workload = "n = " + std::to_string(n) + " · block " + std::to_string(block) +
                               " · grid " + std::to_string(grid);
  ResultTable table(opt, device, (sweep.empty() ? "" : sweep + " sweep · ") + workload, bytes);
  if (kOnGpu) table.rate_in_gbps("read", measure_yardstick(device).read_gbps);
  int* d_x = nullptr;
  CUDA_CHECK(cudaMalloc(&d_x, bytes));
  CUDA_CHECK(cudaMalloc(&p.partial, partial_bytes(p)));
  fill<<<1024, 256>>>(d_x, count, opt.seed);  // fast also when --grid and --block are small
  CUDA_CHECK_LAUNCH();
  p.x = d_x;
  if (sweep.empty()) run_ladder(table, opt, p);
  if (!sweep.empty()) run_sweep(table, opt, p, rows, left_out);
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(p.partial));
  return table.finish();
}
