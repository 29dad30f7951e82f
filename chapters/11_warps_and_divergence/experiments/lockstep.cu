// SPDX-License-Identifier: MIT
// Do the lanes of a warp run in lockstep, so that they need not wait for each other?
//
// tree_bare      a warp's sum in shared memory, nothing between the levels: wrong
// tree_volatile  the same with volatile, as it was taught: right by luck
// tree_late      the same in a warp whose lanes come at different times: out of luck
// tree_syncwarp  with __syncwarp before each level: right
// late_syncwarp  the same in a warp whose lanes come at different times: still right

#include "../../../common/common.cuh"

constexpr unsigned kWarp = 32, kMaxBlock = 1024, kBlock = 256;

__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ unsigned lane_number() { return threadIdx.x % kWarp; }
__device__ std::size_t warp_number() { return global_index() / kWarp; }  // of the whole grid

// This thread's element, or 0 past the end of x. Nobody may leave: each lane is needed below.
__device__ int element_or_zero(const int* x, std::size_t n) {
  return global_index() < n ? x[global_index()] : 0;
}

// The upper half of the lanes onto the lower half, five times. Wrong: a lane adds what another was
// to have written a level before, and nothing makes it wait. Nor need it be in memory by then: the
// compiler may read ahead of a write, since it knows of no other thread.
__global__ void sum_tree_bare(const int* x, std::size_t n, int* sums) {
  __shared__ int partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  partial[t] = element_or_zero(x, n);
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    if (lane_number() < distance) partial[t] += partial[t + distance];
  }
  if (lane_number() == 0) sums[warp_number()] = partial[t];
}

// volatile: every access is made, in this order. It was enough as long as lanes went in step.
__device__ int volatile_tree(volatile int* partial, int value) {
  const unsigned t = threadIdx.x;
  partial[t] = value;
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    if (lane_number() < distance) partial[t] = partial[t] + partial[t + distance];
  }
  return partial[t];
}

__global__ void sum_tree_volatile(const int* x, std::size_t n, int* sums) {
  __shared__ volatile int partial[kMaxBlock];
  const int sum = volatile_tree(partial, element_or_zero(x, n));
  if (lane_number() == 0) sums[warp_number()] = sum;
}

// Lets this lane wait, up to three times: that depends on its value.
__device__ void come_late(int value) {
  for (int k = 0; k < (value & 3); ++k) __nanosleep(20);
}

// tree_volatile once more, in a warp whose lanes come one after the other. Nothing makes them wait
// for each other again.
__global__ void sum_tree_late(const int* x, std::size_t n, int* sums) {
  __shared__ volatile int partial[kMaxBlock];
  const int value = element_or_zero(x, n);
  come_late(value);
  const int sum = volatile_tree(partial, value);
  if (lane_number() == 0) sums[warp_number()] = sum;
}

// Right: at __syncwarp the lanes wait for each other, and see what the others wrote before.
__device__ int synced_tree(int* partial, int value) {
  const unsigned t = threadIdx.x;
  partial[t] = value;
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    __syncwarp();  // a level reads what other lanes wrote in the level before
    if (lane_number() < distance) partial[t] += partial[t + distance];
  }
  return partial[t];
}

__global__ void sum_tree_syncwarp(const int* x, std::size_t n, int* sums) {
  __shared__ int partial[kMaxBlock];
  const int sum = synced_tree(partial, element_or_zero(x, n));
  if (lane_number() == 0) sums[warp_number()] = sum;
}

__global__ void sum_late_syncwarp(const int* x, std::size_t n, int* sums) {
  __shared__ int partial[kMaxBlock];
  const int value = element_or_zero(x, n);
  come_late(value);
  const int sum = synced_tree(partial, value);
  if (lane_number() == 0) sums[warp_number()] = sum;
}

// n ints, a thread for each, and a place for each warp's sum.
struct WarpSums {
  // How many of the sums differ from the host's.
  std::size_t count_wrong() const {
    std::vector<int> expected(sums.size());
    for (std::size_t i = 0; i < n; ++i) expected[i / kWarp] += host_x[i];
    const std::vector<int> actual = sums.download();
    std::size_t wrong = 0;
    for (std::size_t w = 0; w < actual.size(); ++w) wrong += actual[w] != expected[w];
    return wrong;
  }

  std::vector<int> host_x;
  DeviceArray<int> x{host_x};
  std::size_t n = x.size();
  unsigned grid = blocks_for(n, kBlock);
  DeviceArray<int> sums{std::size_t{grid} * (kBlock / kWarp)};
};

struct Row {
  const char *name, *summary;
  void (*kernel)(const int* x, std::size_t n, int* sums);
  bool is_promised;  // that every sum is right
};

const Row kRows[] = {
    {"tree_bare", "shared memory, nothing between the levels: wrong", sum_tree_bare, false},
    {"tree_volatile", "the same with volatile: right by luck", sum_tree_volatile, false},
    {"tree_late", "tree_volatile, whose lanes come at different times: wrong", sum_tree_late,
     false},
    {"tree_syncwarp", "__syncwarp before each level: right", sum_tree_syncwarp, true},
    {"late_syncwarp", "tree_syncwarp, whose lanes come at different times: right",
     sum_late_syncwarp, true},
};

// A wrong sum fails the program where something is promised.
int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;
  const Options opt(argc, argv, "11_lockstep", "do the lanes of a warp run in lockstep?",
                    {{"n", &n, 1, 8_Gi, "ints to sum"}});
  const std::size_t bytes = n * sizeof(int);
  ResultTable table(opt, bytes, bytes / kWarp);
  table.rate_in("GB/s", "read", measured_read_gbps(bytes));
  const WarpSums d{random_ints(n, 0, 9, opt.seed)};
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    d.sums.poison();
    const Timing t = time_launches(opt.samples, [&] {
      row.kernel<<<d.grid, kBlock>>>(d.x, d.n, d.sums);
      CUDA_CHECK_LAUNCH();
    });
    const std::size_t wrong = d.count_wrong();
    const char* const check = wrong > 0 ? "wrong" : row.is_promised ? "ok" : "by luck";
    table.row(row.name, t, bytes / t.median_ms / 1e6, wrong == 0 || !row.is_promised, check);
    table.measured(row.name, wrong, "wrong sums", row.name, ": ", wrong, " of ", d.sums.size(),
                   " sums wrong");
  }
  return table.finish();
}
