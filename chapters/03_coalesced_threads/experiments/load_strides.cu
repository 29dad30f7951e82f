// SPDX-License-Identifier: MIT
// What do lanes cost that load 1, 2, 3, ... 1024 elements apart?

#include <climits>
#include <set>

#include "../../../common/common.cuh"

constexpr std::size_t kWarp = 32;         // lanes: threads that execute one load together
constexpr std::size_t kSectorBytes = 32;  // what a cache fetches; four sectors make a line
constexpr std::size_t kLineBytes = 128;   // what a cache has a tag for

constexpr std::size_t kStrides[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1000, 1024};

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

// How many aligned pieces of `bytes` the 32 lanes of a warp touch with one load between them.
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

// A launch walks over one window of x, which begins at a line. Small strides take turns between
// several windows, 4 n elements in all: if every launch met the same n, the L2 would still hold a
// part of them.
std::size_t window_of(std::size_t n, std::size_t stride) {
  constexpr std::size_t kPerLine = kLineBytes / sizeof(int);
  return div_up(n * stride, kPerLine) * kPerLine;
}
std::size_t windows_of(std::size_t stride) { return div_up(4, stride); }

// n loads by all threads of a grid, `stride` elements apart: what a row measures.
struct Walk {
  const DeviceArray<int>& x;
  std::size_t n, stride;
  unsigned block, grid;
  std::uint64_t seed;
  DeviceArray<long long> partial{std::size_t{grid} * block};
  mutable std::size_t launches = 0, first = 0;  // where the last launch began

  double amount() const { return static_cast<double>(n) * sizeof(int); }
  void poison() const { partial.poison(); }
  void launch() const {
    first = launches++ % windows_of(stride) * window_of(n, stride);
    sum_walk<<<grid, block>>>(x, n, first, stride, partial);
  }
  bool is_right(const std::string& name) const {
    long long sum = 0, expected = 0;
    for (const long long s : partial.download()) sum += s;
    for (std::size_t i = 0; i < n; ++i) expected += square(element(seed, first + i * stride));
    return equals(name, sum, expected);
  }
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 16_Mi : 65000, block = 512, grid = 0, fetch = 0;
  const Options opt(argc, argv, "03_load_strides", "what do loads cost that lie apart?",
                    {{"n", &n, 1, 1_Gi, "loads"},
                     {"block", &block, 1, 1024, "threads per block"},
                     {"grid", &grid, 1, INT_MAX, "blocks [what the device holds]"},
                     {"fetch", &fetch, 32, 128, "bytes that the L2 fetches at most: 32, 64, 128"}});
  const Device device = open_device(opt);
  if (fetch > 0) CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, fetch));  // a hint
  if (grid == 0) grid = blocks_held(device, sum_walk, block);
  // Strides for which there is no room are left out; the first stays, and is refused by the table.
  std::size_t free_bytes = 0, all_bytes = 0, elements = windows_of(1) * window_of(n, 1);
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  for (const std::size_t stride : kStrides) {
    const std::size_t wanted = windows_of(stride) * window_of(n, stride);
    if (wanted * sizeof(int) <= free_bytes / 8 * 7) elements = std::max(elements, wanted);
  }
  ResultTable table(opt, device, elements * sizeof(int), grid * block * sizeof(long long));
  table.rate_in("GB/s", "read", measured_read_gbps(device, std::max(2_Gi, n * sizeof(int))));
  const DeviceArray<int> x(opt.list ? 1 : elements);
  fill_with_digits<<<1024, 256>>>(x, x.size(), opt.seed);
  CUDA_CHECK_LAUNCH();
  for (const std::size_t stride : kStrides) {
    const std::string name = "stride=" + std::to_string(stride);
    const Walk walk{x,       n, stride, static_cast<unsigned>(block), static_cast<unsigned>(grid),
                    opt.seed};
    const std::string moved = moved_text(stride);
    if (windows_of(stride) * window_of(n, stride) > elements) {
      table.note(name + " is left out: there is no room for it");
      continue;
    }
    table.add(Version<Walk>{name.c_str(), moved.c_str(), [](const Walk& w) { w.launch(); }}, walk);
    table.note("one load of a warp, " + name + ": " + moved);
  }
  return table.finish();
}
