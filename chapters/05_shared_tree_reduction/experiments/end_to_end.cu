// SPDX-License-Identifier: MIT
// What does the whole sum cost, from the data in the host's memory to an answer there?

#include "../../../common/common.cuh"
#include "squares.cuh"

constexpr unsigned kMaxBlock = 1024;  // threads per block, a limit of the hardware
constexpr unsigned kSteps = 4;        // from the host's memory and back
constexpr unsigned kItems = 8;        // elements per thread of sum_eight_each

__global__ void sum_shared_sequential(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  partial[threadIdx.x] = square_or_zero(x, n, global_index());
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  fold_to_front(partial, blockDim.x);
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

// The squares of this thread's eight elements. They are blockDim.x apart, so that neighbouring
// lanes read neighbours. No load needs another, but nvcc 13 puts seven behind the first one's use.
__device__ long long sum_of_eight(const int* x, std::size_t n) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kItems * blockDim.x;
  long long sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) {
    sum += square_or_zero(x, n, first + k * blockDim.x + threadIdx.x);
  }
  return sum;
}

__global__ void sum_eight_each(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  partial[threadIdx.x] = sum_of_eight(x, n);
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  fold_to_front(partial, blockDim.x);
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

// The sum in four steps, with one thread for each int or for eight of them; by the host's clock.
struct Trip {
  const std::vector<int>& x;
  unsigned block;
  bool eight;
  unsigned grid = blocks_for(x.size(), eight ? kItems* block : block);
  DeviceArray<int> d_x{x.size()};
  DeviceArray<long long> d_sums{grid};
  std::vector<long long> sums = std::vector<long long>(grid);
  long long sum = -1;

  void step(unsigned k) {
    if (k == 0)  // from ordinary (pageable) memory of the host; chapter 09 has faster ways
      CUDA_CHECK(cudaMemcpy(d_x, x.data(), d_x.bytes(), cudaMemcpyHostToDevice));
    if (k == 1) {
      const auto kernel = eight ? sum_eight_each : sum_shared_sequential;
      kernel<<<grid, block>>>(d_x, x.size(), d_sums);
      CUDA_CHECK_LAUNCH();
    }
    if (k == 2) CUDA_CHECK(cudaMemcpy(sums.data(), d_sums, d_sums.bytes(), cudaMemcpyDeviceToHost));
    if (k == 3) sum = std::accumulate(sums.begin(), sums.end(), 0LL);
    if (k == kSteps)  // instead of all these: the host alone
      sum = std::inner_product(x.begin(), x.end(), x.begin(), 0LL);
  }
  void steps(unsigned first, unsigned end) {
    for (unsigned k = first; k < end; ++k) step(k);
  }
};

struct Row {
  const char *name, *summary;
  unsigned first, end;  // steps
  bool eight;
};

const Row kRows[] = {
    {"whole", "all of it: data in, kernel, sums out, host adds", 0, kSteps, false},
    {"copy_in", "its first step: the ints to the device, from pageable memory", 0, 1, false},
    {"kernel", "its second step: shared_sequential, until it is done", 1, 2, false},
    {"sums_out", "its third step: a sum per block to the host", 2, 3, false},
    {"host_adds", "its last step: the host adds them", 3, kSteps, false},
    {"whole_eight", "all of it again, with eight_each for the kernel", 0, kSteps, true},
    {"host_alone", "the host adds the squares itself, with one thread", kSteps, kSteps + 1, false},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 20000, block = 256;
  const Options opt(argc, argv, "05_end_to_end", "what does the whole sum cost?",
                    {{"n", &n, 1, 1_Gi, "ints"}, {"block", &block, 1, 1024, "threads per block"}});
  ResultTable table(opt, n * sizeof(int), div_up(n, block) * sizeof(long long));
  table.rate_in("% of whole");
  table.without_speedup();
  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const long long expected = std::inner_product(x.begin(), x.end(), x.begin(), 0LL);
  double whole_ms = 0;
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    Trip trip{x, static_cast<unsigned>(block), row.eight};
    trip.steps(0, row.first);
    trip.sum = -1;
    const Timing t = time_on_host(opt.samples, [&] {
      trip.steps(row.first, row.end);
      CUDA_CHECK(cudaDeviceSynchronize());
    });
    trip.steps(row.end, kSteps);  // the answer shows whether the step was right
    if (&row == &kRows[0]) whole_ms = t.median_ms;
    table.row(row.name, t, whole_ms > 0 ? 100 * t.median_ms / whole_ms : 0,
              equals(row.name, trip.sum, expected));
  }
  return table.finish();
}
