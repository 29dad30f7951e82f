// SPDX-License-Identifier: MIT
// What do lanes cost that load 1, 2, 3, ... 1024 elements apart?

#include "../../../common/common.cuh"
#include "warp_walks.cuh"

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

__global__ void fill_with_digits(int* x, std::size_t count, std::uint64_t seed) {
  for (std::size_t i = this_thread(); i < count; i += all_threads()) {
    x[i] = element(seed, i);
  }
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 16_Mi : 65000, block = 512, grid = 0, fetch = 0;
  const Options opt(argc, argv, "03_load_strides", "what do loads cost that lie apart?",
                    {{"n", &n, 1, 1_Gi, "loads"},
                     {"block", &block, 1, 1024, "threads per block"},
                     {"grid", &grid, 1, 2_Gi - 1, "blocks [what the device holds]"},
                     {"fetch", &fetch, 32, 128, "bytes that the L2 fetches at most: 32, 64, 128"}});
  open_device(opt);
  if (fetch > 0) CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, fetch));  // a hint
  if (grid == 0) grid = blocks_held(sum_walk, block);
  const std::size_t elements = most_elements(n);
  ResultTable table(opt, elements * sizeof(int), grid * block * sizeof(long long));
  table.rate_in("GB/s", "read", measured_read_gbps(std::max(2_Gi, n * sizeof(int))));
  const DeviceArray<int> x(opt.list ? 1 : elements);
  fill_with_digits<<<1024, 256>>>(x, x.size(), opt.seed);
  CUDA_CHECK_LAUNCH();
  for (const std::size_t stride : kStrides) {
    const LoadWalk walk{{n, 0, stride}, grid * block, opt.seed};
    add_walk(table, text("stride=", stride), walk, elements, "load",
             [&] { sum_walk<<<grid, block>>>(x, n, walk.next_first(), stride, walk.partial); });
  }
  return table.finish();
}
