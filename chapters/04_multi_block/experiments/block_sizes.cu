// SPDX-License-Identifier: MIT
// How many threads should a block have, when the chip holds as many blocks as fit?

#include "../../../common/common.cuh"

constexpr unsigned kInFlight = 4;  // loads per thread of sum_four_in_flight

// This thread's number in the whole grid, and how many there are. Widened before multiplying: the
// product of two unsigned ints wraps at 2^32.
__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t grid_threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

// One load in flight: a thread waits for each value before it asks for the next.
__global__ void sum_grid_stride(const int* x, std::size_t n, long long* partial) {
  long long sum = 0;
#pragma unroll 1
  for (std::size_t i = global_index(); i < n; i += grid_threads()) {
    sum += static_cast<long long>(x[i]) * x[i];
  }
  partial[global_index()] = sum;
}

// Four loads leave before the first value is used: one wait for four.
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

constexpr unsigned kBlocks[] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024};  // of threads

bool adds_up(const std::string& name, const std::vector<long long>& partial, long long expected) {
  return equals(name, std::accumulate(partial.begin(), partial.end(), 0LL), expected);
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;
  const Options opt(argc, argv, "04_block_sizes", "how many threads should a block have?",
                    {{"n", &n, 1, 16_Gi, "ints"}});
  ResultTable table(opt, n * sizeof(int), 16_Mi);
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const std::vector<int> values = random_ints(n, 0, 9, opt.seed);
  const long long expected = std::inner_product(values.begin(), values.end(), values.begin(), 0LL);
  const DeviceArray<int> x(values);
  for (const unsigned loads : {1u, kInFlight}) {
    const auto kernel = loads == 1 ? sum_grid_stride : sum_four_in_flight;
    for (const unsigned block : kBlocks) {
      const unsigned grid = blocks_held(sum_grid_stride, block);  // one wave
      const DeviceArray<long long> partial(grid * block);
      const std::string name = text("block=", block, " loads=", loads);
      table.add(
          name, partial, [&] { kernel<<<grid, block>>>(x, n, partial); },
          [&] { return adds_up(name, partial.download(), expected); });
    }
  }
  return table.finish();
}
