// SPDX-License-Identifier: MIT
// What do lanes cost that store 1, 2, 3, ... 1024 elements apart?

#include <climits>
#include <set>

#include "../../../common/common.cuh"

constexpr std::size_t kWarp = 32;         // lanes: threads that execute one load together
constexpr std::size_t kSectorBytes = 32;  // what a cache fetches; four sectors make a line
constexpr std::size_t kLineBytes = 128;   // what a cache has a tag for

constexpr std::size_t kStrides[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1000, 1024};

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

// How many aligned pieces of `bytes` the 32 lanes of a warp touch with one store between them.
std::size_t pieces_touched(std::size_t stride, std::size_t bytes) {
  std::set<std::size_t> pieces;
  for (std::size_t lane = 0; lane < kWarp; ++lane)
    pieces.insert(lane * stride * sizeof(int) / bytes);
  return pieces.size();
}

// "32 sectors (lines: 8), 12.5 % of the bytes used": what moves is whole sectors.
std::string moved_text(std::size_t stride) {
  const std::size_t sectors = pieces_touched(stride, kSectorBytes);
  char text[96];
  std::snprintf(text, sizeof text, "%2zu sectors (lines: %2zu), %5.1f %% of the bytes used",
                sectors, pieces_touched(stride, kLineBytes),
                100.0 * kWarp * sizeof(int) / static_cast<double>(sectors * kSectorBytes));
  return text;
}

// A launch walks over one window of y, which begins at a line. Small strides take turns between
// several windows, 4 n elements in all: if every launch met the same n, the L2 would still hold a
// part of them.
std::size_t window_of(std::size_t n, std::size_t stride) {
  constexpr std::size_t kPerLine = kLineBytes / sizeof(int);
  return div_up(n * stride, kPerLine) * kPerLine;
}
std::size_t windows_of(std::size_t stride) { return div_up(4, stride); }

// n stores by all threads of a grid, `stride` elements apart: what a row measures.
struct Walk {
  int* y;
  std::size_t n, stride;
  unsigned block, grid;
  mutable std::size_t launches = 0;

  std::size_t elements() const { return windows_of(stride) * window_of(n, stride); }
  double amount() const { return static_cast<double>(n) * sizeof(int); }
  void poison() const { CUDA_CHECK(cudaMemset(y, 0xff, elements() * sizeof(int))); }
  void launch() const {
    const std::size_t first = launches++ % windows_of(stride) * window_of(n, stride);
    store_walk<<<grid, block>>>(y, n, first, stride);
  }
  bool is_right(const std::string& name) const {
    const DeviceArray<unsigned long long> wrong(std::vector<unsigned long long>{0});
    count_wrong<<<1024, 256>>>(y, elements(), n, stride, window_of(n, stride),
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
                     {"grid", &grid, 1, INT_MAX, "blocks [what the device holds]"}});
  const Device device = open_device(opt);
  if (grid == 0) grid = blocks_held(device, store_walk, block);
  // Strides for which there is no room are left out; the first stays, and is refused by the table.
  std::size_t free_bytes = 0, all_bytes = 0, elements = windows_of(1) * window_of(n, 1);
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  for (const std::size_t stride : kStrides) {
    const std::size_t wanted = windows_of(stride) * window_of(n, stride);
    if (wanted * sizeof(int) <= free_bytes / 8 * 7) elements = std::max(elements, wanted);
  }
  ResultTable table(opt, device, elements * sizeof(int));
  table.rate_in("GB/s", "read", measured_read_gbps(device, std::max(2_Gi, n * sizeof(int))));
  const DeviceArray<int> y(opt.list ? 1 : elements);
  for (const std::size_t stride : kStrides) {
    const std::string name = "store=" + std::to_string(stride);
    const Walk walk{y, n, stride, static_cast<unsigned>(block), static_cast<unsigned>(grid)};
    const std::string moved = moved_text(stride);
    if (windows_of(stride) * window_of(n, stride) > elements) {
      table.note(name + " is left out: there is no room for it");
      continue;
    }
    table.add(Version<Walk>{name.c_str(), moved.c_str(), [](const Walk& w) { w.launch(); }}, walk);
    table.note("one store of a warp, " + name + ": " + moved);
    // make profile looks at the last kernel named like the row, and finds none: at the last of all.
    // The first of these two finds what the check has left in the L2, the second what a store
    // leaves.
    for (int i = 0; i < 2 && !opt.list && opt.only == name; ++i) walk.launch();
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  return table.finish();
}
