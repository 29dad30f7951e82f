// SPDX-License-Identifier: MIT
// Chapter 03: why does the order of addresses matter?
//
// single_thread  one thread reads everything, as in chapter 02: the baseline
// sum_chunked    one block; each thread reads a chunk of its own, element after element
// sum_strided    one block; neighbouring threads read neighbouring elements
// ..._four       the same two orders, each thread with four loads on their way at a time
// grid_...       the same four kernels, launched for as many blocks as the device holds
// Run: make run CH=03
//      make run CH=03 ARGS="--sweep stride"   loads by lanes 1, 2, 3, ... 1024 elements apart
//      make run CH=03 ARGS="--sweep store"    stores by lanes as far apart
//      make run CH=03 ARGS="--sweep offset"   all lanes moved by 0, 1, ... 32 elements

#include <string>

#include "../../common/common.cuh"

constexpr std::size_t kMaxBlock = 1024;  // threads per block, a limit of the hardware
constexpr std::size_t kMaxGrid = 2147483647;
constexpr std::size_t kMaxN = 16_Gi;

// Element i of x: a digit. The device fills x itself: even 64 GiB take only a moment, and no copy.
// The host stores nothing, yet it knows every element.
__host__ __device__ int element(std::uint64_t seed, std::size_t i) {
  return random_int(0, 9, seed, i);
}

// What a walk of stores leaves at its element i: never negative, so never what was there before.
__host__ __device__ constexpr int stored(std::size_t i) { return static_cast<int>(i & 0x7fffffff); }

__host__ __device__ constexpr long long square(int value) {
  return static_cast<long long>(value) * value;
}

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
  partial[this_thread()] = sum;
}

// Each thread gets a piece of its own and goes through it alone. So at any moment the lanes
// of a warp are a whole chunk apart: 32 lanes, 32 lines.
__global__ void sum_chunked(const int* x, std::size_t n, long long* partial) {
  const std::size_t threads = all_threads(), t = this_thread();
  // Rounded up: otherwise the last n % threads elements would belong to nobody.
  // So the last chunk may be short, and those after it may be empty.
  const std::size_t chunk = n / threads + (n % threads != 0);
  const std::size_t begin = t * chunk;
  const std::size_t end = begin + chunk < n ? begin + chunk : n;
  long long sum = 0;
#pragma unroll 1  // left alone, the compiler has 16 loads in flight, here only
  for (std::size_t i = begin; i < end; ++i) sum += square(x[i]);
  partial[t] = sum;
}

// Dealt out like cards: thread t has elements t, t + threads, t + 2 * threads, ... Now the
// lanes of a warp are neighbours in memory: 32 lanes, one line. The load is coalesced.
__global__ void sum_strided(const int* x, std::size_t n, long long* partial) {
  const std::size_t threads = all_threads(), t = this_thread();
  long long sum = 0;
#pragma unroll 1  // one load, then its use, as above: only the order differs
  for (std::size_t i = t; i < n; i += threads) sum += square(x[i]);
  partial[t] = sum;
}

// What a thread adds up in either order: x[i], x[i + step], x[i + 2 * step], ... below `end`.
// It asks for four of them before it uses the first.
__device__ long long sum_four_ahead(const int* x, std::size_t i, std::size_t end,
                                    std::size_t step) {
  constexpr int kInFlight = 4;
  long long sum = 0;
#pragma unroll 1
  for (; i + (kInFlight - 1) * step < end; i += kInFlight * step) {
    int value[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) value[k] = x[i + k * step];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) sum += square(value[k]);
  }
#pragma unroll 1
  for (; i < end; i += step) sum += square(x[i]);  // what is left: fewer than four
  return sum;
}

__global__ void sum_chunked_four(const int* x, std::size_t n, long long* partial) {
  const std::size_t threads = all_threads(), t = this_thread();
  const std::size_t chunk = n / threads + (n % threads != 0);
  const std::size_t begin = t * chunk;
  const std::size_t end = begin + chunk < n ? begin + chunk : n;
  partial[t] = sum_four_ahead(x, begin, end, 1);
}

__global__ void sum_strided_four(const int* x, std::size_t n, long long* partial) {
  const std::size_t threads = all_threads(), t = this_thread();
  partial[t] = sum_four_ahead(x, t, n, threads);
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

// A walk of stores: element i goes to y[offset + i * stride]. A store is not waited for, so one at
// a time will do.
__global__ void store_walk(int* y, std::size_t n, std::size_t offset, std::size_t stride) {
  for (std::size_t i = this_thread(); i < n; i += all_threads()) {
    y[offset + i * stride] = stored(i);
  }
}

__global__ void fill(int* x, std::size_t count, std::uint64_t seed) {
  for (std::size_t i = this_thread(); i < count; i += all_threads()) {
    x[i] = element(seed, i);
  }
}

// ---- the versions ------------------------------------------------------------------------------

// What they read and write: n ints, and one partial sum per thread.
struct ThreadSums {
  std::size_t n;
  unsigned block, grid;  // threads per block; blocks of the whole-grid versions
  int* x = nullptr;      // both arrays in device memory
  long long* partial = nullptr;
};

const Version<ThreadSums> kVersions[] = {
    {"single_thread", "one thread reads everything",
     [](const ThreadSums& s) { sum_single_thread<<<1, 1>>>(s.x, s.n, s.partial); }},
    {"sum_chunked", "one block, a contiguous chunk per thread",
     [](const ThreadSums& s) { sum_chunked<<<1, s.block>>>(s.x, s.n, s.partial); }},
    {"sum_strided", "one block, neighbouring threads at neighbouring addresses",
     [](const ThreadSums& s) { sum_strided<<<1, s.block>>>(s.x, s.n, s.partial); }},
    {"sum_chunked_four", "sum_chunked with four loads in flight per thread",
     [](const ThreadSums& s) { sum_chunked_four<<<1, s.block>>>(s.x, s.n, s.partial); }},
    {"sum_strided_four", "sum_strided with four loads in flight per thread",
     [](const ThreadSums& s) { sum_strided_four<<<1, s.block>>>(s.x, s.n, s.partial); }},
    {"grid_chunked", "sum_chunked on the whole grid",
     [](const ThreadSums& s) { sum_chunked<<<s.grid, s.block>>>(s.x, s.n, s.partial); }},
    {"grid_strided", "sum_strided on the whole grid",
     [](const ThreadSums& s) { sum_strided<<<s.grid, s.block>>>(s.x, s.n, s.partial); }},
    {"grid_chunked_four", "sum_chunked_four on the whole grid",
     [](const ThreadSums& s) { sum_chunked_four<<<s.grid, s.block>>>(s.x, s.n, s.partial); }},
    {"grid_strided_four", "sum_strided_four on the whole grid",
     [](const ThreadSums& s) { sum_strided_four<<<s.grid, s.block>>>(s.x, s.n, s.partial); }},
};

// The sum of squares over n elements of x: first, first + stride, first + 2 * stride, ...
long long reference(std::uint64_t seed, std::size_t n, std::size_t first, std::size_t stride) {
  long long sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += square(element(seed, first + i * stride));
  return sum;
}

#include "partial_sums.cuh"  // overwritten, finished on the host, compared
#include "walks.cuh"         // --sweep: the rows of sum_walk and store_walk

// For the context line. The whole grid is named where every row has it.
std::string workload(const ThreadSums& s, const std::string& sweep, const std::string& fetch) {
  const std::string sizes = "n = " + std::to_string(s.n) + " · block " + std::to_string(s.block);
  if (sweep.empty()) return sizes;
  const std::string grid = " · grid " + std::to_string(s.grid);
  return sweep + " sweep · " + sizes + grid + (fetch.empty() ? "" : " · fetch " + fetch);
}

void add_rows(ResultTable& table, const ThreadSums& s) {
  const long long expected = reference(table.options().seed, s.n, 0, 1);
  add_version_rows(
      table, kVersions, s, static_cast<double>(s.n) * sizeof(int), [&] { poison(s); },
      [&](const char* version) { return check(version, s, expected); });
  add_cub_row(table, table.options(), s.x, s.n, expected);
  table.note("sum_...: one block; grid_...: " + std::to_string(s.grid) + " blocks");
}

// Throughputs stand beside a read of as many bytes, and of so many that the L2 is no help.
void compare_with_read(ResultTable& table, const Device& device, std::size_t bytes) {
  if (!kOnGpu) return;
  table.rate_in_gbps("read", measure_yardstick(device, std::max(2_Gi, bytes)).read_gbps);
}

int main(int argc, char** argv) {
  Options opt("03_coalesced_threads", "why does the order of addresses matter?");
  if (kOnGpu) opt.samples = 7;  // one thread takes more than half a second for 16 Mi ints
  std::size_t n = kOnGpu ? 16_Mi : 65000, block = 512, grid = 0;
  std::string sweep, fetch;
  opt.add("n", &n, 1, kMaxN, "ints to sum");
  opt.add("block", &block, 1, kMaxBlock, "threads per block");
  opt.add("grid", &grid, 1, kMaxGrid, "blocks of a whole grid [as many as the device holds]");
  opt.add("sweep", &sweep, {"stride", "store", "offset"}, "one kernel on many walks instead");
  if (kOnGpu) opt.add("fetch", &fetch, {"32", "64", "128"}, "bytes that the L2 fetches at most");
  opt.parse(argc, argv, [&] {
    if (!sweep.empty()) return name_walks(opt, sweep);  // they are a sweep's versions
    opt.versions(kVersions);
    name_cub_row(opt);
  });
  const Device device = open_device(opt);
  limit_fetch(fetch);
  if (grid == 0) grid = device.sm_count * (device.threads_per_sm / block);
  const SweepThatFits walks = walks_that_fit(opt, sweep, n);
  const std::size_t bytes = walks.elements * sizeof(int);
  ThreadSums sums = {n, static_cast<unsigned>(block), static_cast<unsigned>(grid)};
  require_device_memory(opt, "--n " + std::to_string(n) + " and --grid " + std::to_string(grid),
                        bytes + partial_bytes(sums));
  ResultTable table(opt, device, workload(sums, sweep, fetch), bytes);
  compare_with_read(table, device, n * sizeof(int));
  CUDA_CHECK(cudaMalloc(&sums.x, bytes));
  CUDA_CHECK(cudaMalloc(&sums.partial, partial_bytes(sums)));
  fill<<<1024, 256>>>(sums.x, walks.elements, opt.seed);  // fast also when --grid is small
  CUDA_CHECK_LAUNCH();
  if (sweep.empty()) add_rows(table, sums);
  if (!sweep.empty()) add_walk_rows(table, sums, walks);
  CUDA_CHECK(cudaFree(sums.x));
  CUDA_CHECK(cudaFree(sums.partial));
  return table.finish();
}
