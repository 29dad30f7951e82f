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

// The program's first tree, neighbours first: at distance 1, 2, 4, ... every thread whose index is
// a multiple of twice the distance adds the partial sum at that distance. Every thread of the block
// must call it, with a barrier after the last write to partial.
__device__ void add_neighbours(long long* partial) {
  const unsigned t = threadIdx.x;
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    if (t % (2 * distance) == 0 && t + distance < blockDim.x) partial[t] += partial[t + distance];
    __syncthreads();  // the next level reads sums that other threads have just written
  }
}

// The two kernels differ in the memory that holds the tree, and in nothing else.
__global__ void sum_global_modulo(const int* x, std::size_t n, long long* scratch,
                                  long long* sums) {
  long long* partial = scratch + static_cast<std::size_t>(blockIdx.x) * blockDim.x;
  partial[threadIdx.x] = square_or_zero(x, n, global_index());
  __syncthreads();  // the first level reads what the neighbours wrote
  add_neighbours(partial);
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

__global__ void sum_shared_modulo(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  partial[threadIdx.x] = square_or_zero(x, n, global_index());
  __syncthreads();  // the first level reads what the neighbours wrote
  add_neighbours(partial);
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

enum class Tree { kSequential, kEightEach, kSharedModulo, kGlobalModulo };

// The sum in four steps, with one thread for each int or for eight of them; by the host's clock.
struct Trip {
  const std::vector<int>& x;
  unsigned block;
  Tree tree;
  unsigned grid = blocks_for(x.size(), tree == Tree::kEightEach ? kItems * block : block);
  DeviceArray<int> d_x{x.size()};
  DeviceArray<long long> scratch{tree == Tree::kGlobalModulo ? std::size_t{grid} * block : 0};
  DeviceArray<long long> d_sums{grid};
  std::vector<long long> sums = std::vector<long long>(grid);
  long long sum = -1;

  void step(unsigned k) {
    if (k == 0)  // from ordinary (pageable) memory of the host; chapter 09 has faster ways
      CUDA_CHECK(cudaMemcpy(d_x, x.data(), d_x.bytes(), cudaMemcpyHostToDevice));
    if (k == 1) launch();
    if (k == 2) CUDA_CHECK(cudaMemcpy(sums.data(), d_sums, d_sums.bytes(), cudaMemcpyDeviceToHost));
    if (k == 3) sum = std::accumulate(sums.begin(), sums.end(), 0LL);
    if (k == kSteps)  // instead of all these: the host alone
      sum = std::inner_product(x.begin(), x.end(), x.begin(), 0LL);
  }
  void launch() const {
    const std::size_t n = x.size();
    const int* const ints = d_x;
    long long* const out = d_sums;
    if (tree == Tree::kSequential) sum_shared_sequential<<<grid, block>>>(ints, n, out);
    if (tree == Tree::kEightEach) sum_eight_each<<<grid, block>>>(ints, n, out);
    if (tree == Tree::kSharedModulo) sum_shared_modulo<<<grid, block>>>(ints, n, out);
    if (tree == Tree::kGlobalModulo)
      sum_global_modulo<<<grid, block>>>(ints, n, scratch.get(), out);
    CUDA_CHECK_LAUNCH();
  }
  void steps(unsigned first, unsigned end) {
    for (unsigned k = first; k < end; ++k) step(k);
  }
};

struct Row {
  const char *name, *summary;
  unsigned first, end;  // steps
  Tree tree = Tree::kSequential;
};

const Row kRows[] = {
    {"whole", "all of it: data in, kernel, sums out, host adds", 0, kSteps},
    {"copy_in", "its first step: the ints to the device, from pageable memory", 0, 1},
    {"kernel", "its second step: shared_sequential, until it is done", 1, 2},
    {"sums_out", "its third step: a sum per block to the host", 2, 3},
    {"host_adds", "its last step: the host adds them", 3, kSteps},
    {"whole_eight", "all of it again, with eight_each for the kernel", 0, kSteps, Tree::kEightEach},
    {"whole_global", "all of it, with a tree in global memory", 0, kSteps, Tree::kGlobalModulo},
    {"whole_shared", "all of it, with that tree in shared memory", 0, kSteps, Tree::kSharedModulo},
    {"kernel_global", "the second step of whole_global", 1, 2, Tree::kGlobalModulo},
    {"kernel_shared", "the second step of whole_shared", 1, 2, Tree::kSharedModulo},
    {"host_alone", "the host adds the squares itself, with one thread", kSteps, kSteps + 1},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 20000, block = 256;
  const Options opt(argc, argv, "05_end_to_end", "what does the whole sum cost?",
                    {{"n", &n, 1, 1_Gi, "ints"}, {"block", &block, 1, 1024, "threads per block"}});
  ResultTable table(opt, n * sizeof(int), div_up(n, block) * (block + 1) * sizeof(long long));
  table.rate_in("% of whole");
  table.without_speedup();
  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const long long expected = std::inner_product(x.begin(), x.end(), x.begin(), 0LL);
  double whole_ms = 0;
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    Trip trip{x, static_cast<unsigned>(block), row.tree};
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
