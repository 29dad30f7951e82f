// SPDX-License-Identifier: MIT
// How far is the best order of addresses from what NVIDIA's library reaches?

#include "../../../common/common.cuh"

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

__global__ void fill_with_digits(int* x, std::size_t count, std::uint64_t seed) {
  for (std::size_t i = this_thread(); i < count; i += all_threads()) {
    x[i] = element(seed, i);
  }
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

__global__ void sum_dealt_out(const int* x, std::size_t n, long long* partial) {
  const std::size_t threads = all_threads(), t = this_thread();
  partial[t] = sum_four_ahead(x, t, n, threads);
}

// n ints, filled on the device, and one partial sum per thread.
struct GridSum {
  std::size_t n, block, grid;
  DeviceArray<int> x{n};
  DeviceArray<long long> partial{grid * block};
  DeviceArray<char> scratch{1_Mi};  // for CUB: what it wants for itself, and more
  long long expected = 0;

  void poison() const { partial.poison(); }
  bool adds_up(const std::string& name, std::size_t sums) const {
    long long sum = 0;
    for (const long long s : partial.download(sums)) sum += s;
    return equals(name, sum, expected);
  }
  bool is_right(const std::string& name) const { return adds_up(name, partial.size()); }
  bool first_is_right(const std::string& name) const { return adds_up(name, 1); }
};

// CUB, NVIDIA's library: for GPUs only, and from CUDA 12.4 on with what is used here.
#if !defined(__CUDA_CPU__) && CUDART_VERSION >= 12040
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

struct SquareOf {
  __device__ long long operator()(int v) const { return square(v); }
};

void sum_by_cub(const GridSum& s) {
  std::size_t bytes = s.scratch.bytes();
  CUDA_CHECK(cub::DeviceReduce::TransformReduce(s.scratch.get(), bytes, s.x.get(), s.partial.get(),
                                                s.n, cuda::std::plus<>{}, SquareOf{}, 0LL));
}
#endif

const Version<GridSum> kVersions[] = {
    {"grid_strided_four", "neighbours by neighbours, four loads in flight per thread",
     [](const GridSum& s) { sum_dealt_out<<<s.grid, s.block>>>(s.x, s.n, s.partial); }},
#ifdef CUB_VERSION  // its header is there
    {"cub", "the same sum by cub::DeviceReduce", sum_by_cub, &GridSum::first_is_right},
#endif
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 16_Mi : 65000, block = 512;
  const Options opt(
      argc, argv, "03_beside_cub", "how far is it to what the library reaches?",
      {{"n", &n, 1, 16_Gi, "ints to sum"}, {"block", &block, 1, 1024, "threads per block"}});
  open_device(opt);
  const unsigned grid = blocks_held(sum_dealt_out, block);
  ResultTable table(opt, n * sizeof(int), grid * block * sizeof(long long));
  table.rate_in("GB/s", "read", measured_read_gbps(std::max(2_Gi, n * sizeof(int))));
  GridSum sum{n, block, grid};
  fill_with_digits<<<1024, 256>>>(sum.x, n, opt.seed);
  CUDA_CHECK_LAUNCH();
  for (std::size_t i = 0; i < n; ++i) sum.expected += square(element(opt.seed, i));
  for (const auto& version : kVersions) table.add(version, sum);
  return table.finish();
}
