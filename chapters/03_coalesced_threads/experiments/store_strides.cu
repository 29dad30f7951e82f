// SPDX-License-Identifier: MIT
// What do lanes cost that store 1, 2, 3, ... 1024 elements apart?

#include "../../../common/common.cuh"
#include "warp_walks.cuh"

// What a walk of stores leaves at its element i: never negative, so never what was there before.
__host__ __device__ constexpr int stored(std::size_t i) { return static_cast<int>(i & 0x7fffffff); }

// Which thread this is, counted through all blocks of the launch.
__device__ std::size_t this_thread() {
  const std::size_t before_my_block = std::size_t{blockIdx.x} * blockDim.x;
  return before_my_block + threadIdx.x;
}

// How many threads the launch has.
__device__ std::size_t all_threads() { return std::size_t{gridDim.x} * blockDim.x; }

// A walk of stores: element i goes to y[offset + i * stride]. A store is not waited for, so one at
// a time will do.
__global__ void store_walk(int* y, std::size_t n, std::size_t offset, std::size_t stride) {
  for (std::size_t i = this_thread(); i < n; i += all_threads()) {
    y[offset + i * stride] = stored(i);
  }
}

// Compares every element below `count`, between the steps of the walk too: there it must be as
// poison() left it. The walk has filled the first `filled` of its windows.
__global__ void count_wrong(const int* y, std::size_t count, std::size_t n, std::size_t stride,
                            std::size_t window, std::size_t filled, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::size_t j = this_thread(); j < count; j += all_threads()) {
    const std::size_t place = j % window, i = place / stride;
    const bool stepped_on = j / window < filled && place % stride == 0 && i < n;
    mine += y[j] != (stepped_on ? stored(i) : -1);
  }
  if (mine > 0) atomicAdd(wrong, mine);
}

// A walk of stores, whose check sees the elements between its steps, too.
struct StoreWalk : Walk {
  int* y;

  void poison() const { CUDA_CHECK(cudaMemset(y, 0xff, elements_of(n, stride) * sizeof(int))); }
  bool is_right(const std::string& name) const {
    const DeviceArray<unsigned long long> wrong(std::vector<unsigned long long>{0});
    count_wrong<<<1024, 256>>>(y, elements_of(n, stride), n, stride, window_of(n, stride),
                               std::min(launches, windows_of(stride)), wrong);
    CUDA_CHECK_LAUNCH();
    return equals(name + ", wrong elements", wrong.download()[0], 0ULL);
  }
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 16_Mi : 65000, block = 512, grid = 0;
  const Options opt(argc, argv, "03_store_strides", "what do stores cost that lie apart?",
                    {{"n", &n, 1, 1_Gi, "stores"},
                     {"block", &block, 1, 1024, "threads per block"},
                     {"grid", &grid, 1, 2_Gi - 1, "blocks [what the device holds]"}});
  open_device(opt);
  if (grid == 0) grid = blocks_held(store_walk, block);
  const std::size_t elements = most_elements(n);
  ResultTable table(opt, elements * sizeof(int));
  table.rate_in("GB/s", "read", measured_read_gbps(std::max(2_Gi, n * sizeof(int))));
  const DeviceArray<int> y(opt.list ? 1 : elements);
  for (const std::size_t stride : kStrides) {
    const std::string name = "store=" + std::to_string(stride);
    const StoreWalk walk{{n, 0, stride}, y};
    const auto launch = [&] { store_walk<<<grid, block>>>(y, n, walk.next_first(), stride); };
    if (!add_walk(table, name, walk, elements, "store", launch)) continue;
    // make profile looks at the last kernel named like the row, and finds none: at the last of all.
    // The first of these two finds what the check has left in the L2, the second what a store
    // leaves.
    for (int i = 0; i < 2 && !opt.list && opt.only == name; ++i) launch();
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  return table.finish();
}
