// SPDX-License-Identifier: MIT
// Chapter 03: why does the order of addresses matter?
//
// single_thread  one thread reads everything, a load at a time: the baseline
// sum_chunked    one block; each thread reads a chunk of its own, element after element
// sum_strided    one block; neighbouring threads read neighbouring elements
// ..._four       the same two orders, each thread with four loads on their way at a time
// grid_...       the same four kernels, launched for as many blocks as the device holds
// Run: make run CH=03

#include "../../common/common.cuh"

// Element i of x: a digit. The device fills x itself: even 64 GiB take only a moment, and no copy.
// The host stores nothing, yet it knows every element.
__host__ __device__ int element(std::uint64_t seed, std::size_t i) {
  return random_int(0, 9, seed, i);
}

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

__global__ void fill(int* x, std::size_t count, std::uint64_t seed) {
  for (std::size_t i = this_thread(); i < count; i += all_threads()) {
    x[i] = element(seed, i);
  }
}

__global__ void sum_single_thread(const int* x, std::size_t n, long long* partial) {
  long long sum = 0;
#pragma unroll 1  // one load in flight, as in the kernels that are compared with it
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
#pragma unroll 1  // left alone, nvcc has 16 loads of this loop in flight
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

// ---- the versions ------------------------------------------------------------------------------

// What they read and write: n ints, filled on the device, and one partial sum per thread.
struct ThreadSums {
  std::size_t n;
  std::size_t block, grid;  // threads per block; blocks of the whole-grid versions
  DeviceArray<int> x{n};
  DeviceArray<long long> partial{grid * block};
  long long expected = 0;

  void poison() const { partial.poison(); }

  // The host finishes the sum: it adds what the threads of the launch left. Behind them lies the
  // poison, -1, which no sum of squares is.
  bool is_right(const std::string& version) const {
    const std::vector<long long> p = partial.download();
    const auto end = std::find(p.begin(), p.end(), -1);
    const auto threads = static_cast<std::size_t>(end - p.begin());
    if (threads != 1 && threads != block && threads != p.size())
      return report_wrong(version, ", the number of partial sums", threads, block);
    return equals(version, std::accumulate(p.begin(), end, 0LL), expected);
  }
};

const Version<ThreadSums> kVersions[] = {
    {"single_thread", "one thread reads everything",
     [](auto& s) { sum_single_thread<<<1, 1>>>(s.x, s.n, s.partial); }},
    {"sum_chunked", "one block, a contiguous chunk per thread",
     [](auto& s) { sum_chunked<<<1, s.block>>>(s.x, s.n, s.partial); }},
    {"sum_strided", "one block, neighbouring threads at neighbouring addresses",
     [](auto& s) { sum_strided<<<1, s.block>>>(s.x, s.n, s.partial); }},
    {"sum_chunked_four", "sum_chunked with four loads in flight per thread",
     [](auto& s) { sum_chunked_four<<<1, s.block>>>(s.x, s.n, s.partial); }},
    {"sum_strided_four", "sum_strided with four loads in flight per thread",
     [](auto& s) { sum_strided_four<<<1, s.block>>>(s.x, s.n, s.partial); }},
    {"grid_chunked", "sum_chunked on the whole grid",
     [](auto& s) { sum_chunked<<<s.grid, s.block>>>(s.x, s.n, s.partial); }},
    {"grid_strided", "sum_strided on the whole grid",
     [](auto& s) { sum_strided<<<s.grid, s.block>>>(s.x, s.n, s.partial); }},
    {"grid_chunked_four", "sum_chunked_four on the whole grid",
     [](auto& s) { sum_chunked_four<<<s.grid, s.block>>>(s.x, s.n, s.partial); }},
    {"grid_strided_four", "sum_strided_four on the whole grid",
     [](auto& s) { sum_strided_four<<<s.grid, s.block>>>(s.x, s.n, s.partial); }},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 16_Mi : 65000, block = 512, grid = 0;
  const Options opt(
      argc, argv, "03_coalesced_threads", "why does the order of addresses matter?",
      {{"n", &n, 1, 16_Gi, "ints to sum"},
       {"block", &block, 1, 1024, "threads per block"},
       {"grid", &grid, 1, 2_Gi - 1, "blocks of a whole grid [what the device holds]"}});
  open_device(opt);
  if (grid == 0) grid = blocks_held(sum_strided, block);
  ResultTable table(opt, n * sizeof(int), grid * block * sizeof(long long));
  // Beside a read of as many bytes, and of so many that the L2 is no help.
  table.rate_in("GB/s", "read", measured_read_gbps(std::max(2_Gi, n * sizeof(int))));

  ThreadSums sums{n, block, grid};
  fill<<<1024, 256>>>(sums.x, n, opt.seed);  // fast also when --grid is small
  CUDA_CHECK_LAUNCH();
  for (std::size_t i = 0; i < n; ++i) sums.expected += square(element(opt.seed, i));
  for (const auto& version : kVersions) table.add(version, sums);
  return table.finish();
}
