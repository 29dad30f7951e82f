// SPDX-License-Identifier: MIT
// Chapter 04: how many threads does it take to hide latency?
//
// one_block_512        1 x 512: one SM works, 131 watch
// eight_blocks_64      8 x 64: the same 512 threads on eight SMs
// one_block_per_sm     one block for every SM
// occupancy_grid       as many blocks as the whole chip holds at once
// occupancy_api_block  the same, with the block size chosen by the runtime
// four_in_flight       occupancy_grid, with four loads per thread in flight at once
// one_wide_load        occupancy_grid, with one load of 16 bytes in place of the four
// eight_wide_loads     one_block_per_sm again, with eight loads of 16 bytes per thread
// Run: make run CH=04        NVIDIA's library for the same sum, on a GPU: cub

#include "../../common/common.cuh"

constexpr unsigned kMaxBlock = 1024;  // threads per block, a limit of the hardware
constexpr unsigned kInFlight = 4;     // loads per thread that four_in_flight has in flight
constexpr unsigned kWide = 8;         // and eight_wide_loads, of 16 bytes each

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
  // Not unrolled, so that a thread has one load in flight and waits for it: 4 bytes in flight.
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

__device__ long long square(int v) { return static_cast<long long>(v) * v; }
__device__ long long squares_of(const int4& v) {
  return square(v.x) + square(v.y) + square(v.z) + square(v.w);
}

// Wider loads instead of more of them: an int4 is four neighbours, 16 bytes that one load brings.
__global__ void sum_one_wide_load(const int* x, std::size_t n, long long* partial) {
  const int4* const quads = reinterpret_cast<const int4*>(x);  // cudaMalloc aligns to 256 bytes
  const std::size_t count = n / 4, stride = grid_threads();
  long long sum = 0;
#pragma unroll 1
  for (std::size_t i = global_index(); i < count; i += stride) {
    const int4 v = quads[i];
    sum += squares_of(v);
  }
  // Up to three ints follow the last whole int4.
  for (std::size_t i = 4 * count + global_index(); i < n; i += stride) sum += square(x[i]);
  partial[global_index()] = sum;
}

// Both at once: 128 bytes per thread. They come into 32 registers, so the compiler has to know how
// many a thread may take: as many as leave room for one block of kMaxBlock threads on an SM, 64.
__global__ void __launch_bounds__(kMaxBlock, 1)
    sum_eight_wide_loads(const int* x, std::size_t n, long long* partial) {
  const int4* const quads = reinterpret_cast<const int4*>(x);
  const std::size_t count = n / 4, stride = grid_threads();
  std::size_t i = global_index();
  long long sum = 0;
#pragma unroll 1
  for (; i + (kWide - 1) * stride < count; i += kWide * stride) {
    int4 v[kWide];
#pragma unroll
    for (unsigned k = 0; k < kWide; ++k) v[k] = quads[i + k * stride];
#pragma unroll
    for (unsigned k = 0; k < kWide; ++k) sum += squares_of(v[k]);
  }
#pragma unroll 1
  for (; i < count; i += stride) sum += squares_of(quads[i]);  // fewer than eight left
  for (std::size_t k = 4 * count + global_index(); k < n; k += stride) sum += square(x[k]);
  partial[global_index()] = sum;
}

// ---- the versions ------------------------------------------------------------------------------

// n ints, and a place for the partial sum of every thread that the chip can hold at once.
struct ThreadSums {
  const Device& device;
  DeviceArray<int> x;
  long long expected;  // the sum of their squares
  unsigned block;
  std::size_t n = x.size();
  unsigned sms = device.multiProcessorCount;
  unsigned wave = blocks_held(sum_grid_stride, block);  // blocks that the chip holds at once
  int api_grid = 0, api_block = 0;
  DeviceArray<long long> partial{std::size_t{sms} * device.maxThreadsPerMultiProcessor};
  DeviceArray<char> scratch{1_Mi};  // for CUB

  void poison() const { partial.poison(); }

  // Finishes on the host. Where no thread of the launch wrote there is still the poison, a -1.
  bool is_right(const std::string& version) const {
    long long sum = 0;
    for (const long long s : partial.download()) sum += s == -1 ? 0 : s;
    return equals(version, sum, expected);
  }
};

#if !defined(__CUDA_CPU__) && CUDART_VERSION >= 12040  // for GPUs only; older ones lack a call
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

struct SquareOf {
  __device__ long long operator()(int v) const { return square(v); }
};

// The whole sum, into partial[0].
void sum_by_cub(const ThreadSums& d) {
  std::size_t bytes = d.scratch.bytes();
  CUDA_CHECK(cub::DeviceReduce::TransformReduce(d.scratch.get(), bytes, d.x.get(), d.partial.get(),
                                                d.n, cuda::std::plus<>{}, SquareOf{}, 0LL));
}
#endif

const Version<ThreadSums> kVersions[] = {
    {"one_block_512", "1 x 512: one SM",
     [](auto& d) { sum_grid_stride<<<1, 512>>>(d.x, d.n, d.partial); }},
    {"eight_blocks_64", "8 x 64: the same threads on eight SMs",
     [](auto& d) { sum_grid_stride<<<8, 64>>>(d.x, d.n, d.partial); }},
    {"one_block_per_sm", "as many blocks as there are SMs",
     [](auto& d) { sum_grid_stride<<<d.sms, d.block>>>(d.x, d.n, d.partial); }},
    {"occupancy_grid", "as many blocks as the chip holds at once",
     [](auto& d) { sum_grid_stride<<<d.wave, d.block>>>(d.x, d.n, d.partial); }},
    {"occupancy_api_block", "block size and grid from the runtime",
     [](auto& d) { sum_grid_stride<<<d.api_grid, d.api_block>>>(d.x, d.n, d.partial); }},
    {"four_in_flight", "four loads per thread at once",
     [](auto& d) { sum_four_in_flight<<<d.wave, d.block>>>(d.x, d.n, d.partial); }},
    {"one_wide_load", "one load of 16 bytes per thread",
     [](auto& d) { sum_one_wide_load<<<d.wave, d.block>>>(d.x, d.n, d.partial); }},
    {"eight_wide_loads", "one block per SM, eight such loads per thread at once",
     [](auto& d) { sum_eight_wide_loads<<<d.sms, d.block>>>(d.x, d.n, d.partial); }},
#ifdef CUB_VERSION  // its header is there
    {"cub", "the same sum by cub::DeviceReduce", sum_by_cub},
#endif
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000, block = 256;
  const Options opt(argc, argv, "04_multi_block", "how many threads does it take to hide latency?",
                    {{"n", &n, 1, 16_Gi, "ints to sum"},
                     {"block", &block, 1, kMaxBlock, "threads per block, if left open"}});
  ResultTable table(opt, n * sizeof(int), 16_Mi);
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const std::vector<int> values = random_ints(n, 0, 9, opt.seed);
  const long long expected = std::inner_product(values.begin(), values.end(), values.begin(), 0LL);
  ThreadSums sums{table.device, DeviceArray<int>(values), expected, static_cast<unsigned>(block)};
  // The block size with the highest occupancy, and the smallest grid that reaches it everywhere.
  CUDA_CHECK(cudaOccupancyMaxPotentialBlockSize(&sums.api_grid, &sums.api_block, sum_grid_stride));
  for (const auto& version : kVersions) table.add(version, sums);
  return table.finish();
}
