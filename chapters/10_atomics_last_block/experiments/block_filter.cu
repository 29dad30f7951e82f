// SPDX-License-Identifier: MIT
// A filter that asks the common counter once for a whole block: how near is it to the library?
//
// filter_block  one atomic for a block: its threads take places from a counter of its own
// filter_cub    the same by cub::DeviceSelect, which also keeps the order

#include <map>

#include "../../../common/common.cuh"

// What is filtered, and where to.
struct Filter {
  const int* x;  // n values
  std::size_t n;
  unsigned grid, block;
  int* kept;                  // room for n
  unsigned long long* count;  // of those kept
};

__host__ __device__ bool is_kept(int v) { return v % 2 != 0; }

__device__ std::size_t first_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t stride() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

__global__ void filter_block(Filter p) {
  __shared__ unsigned kept_here;            // of the block's elements of this turn
  __shared__ unsigned long long our_first;  // place
  // All threads stay while the first has an element: the barriers need them.
  for (std::size_t i = first_index(); i - threadIdx.x < p.n; i += stride()) {
    if (threadIdx.x == 0) kept_here = 0;
    __syncthreads();  // nobody takes a place before it is 0
    const bool keep = i < p.n && is_kept(p.x[i]);
    const unsigned mine = keep ? atomicAdd(&kept_here, 1u) : 0;
    __syncthreads();  // thread 0 asks for as many places as all have taken
    if (threadIdx.x == 0) our_first = atomicAdd(p.count, 1ull * kept_here);
    __syncthreads();  // all learn where theirs begin
    if (keep) p.kept[our_first + mine] = p.x[i];
  }
}

// How often each value was kept. In which order is up to the atomics.
using Tally = std::map<int, std::size_t>;

struct FilterMemory {
  FilterMemory(const std::vector<int>& values, unsigned grid, unsigned block)
      : x(values), kept(x.size()), filter{x, x.size(), grid, block, kept, count} {
    for (const int v : values)
      if (is_kept(v)) ++expected[v];
  }

  double amount() const { return 0; }  // no rate is shown
  void poison() const { kept.poison(); }
  bool is_right(const std::string& version) const {
    const std::size_t how_many = count.download()[0];
    if (how_many > x.size()) return report_wrong(version, ", the count", how_many, x.size());
    Tally tally;
    for (const int v : kept.download(how_many)) ++tally[v];
    return tally == expected ||
           report_wrong(version, ", the values kept", tally.size(), expected.size());
  }

  DeviceArray<int> x, kept;
  DeviceArray<unsigned long long> count{1};
  DeviceArray<char> scratch{x.size() / 64 + 1_Mi};  // what CUB wants for itself, and more
  Filter filter;
  Tally expected;
};

const Version<FilterMemory> kFilterBlock = {
    "filter_block", "one atomic per block and turn, places by a shared counter",
    [](const FilterMemory& m) {
      CUDA_CHECK(cudaMemsetAsync(m.count, 0, m.count.bytes()));
      filter_block<<<m.filter.grid, m.filter.block>>>(m.filter);
    }};

#if !defined(__CUDA_CPU__)
#include <cub/device/device_select.cuh>

struct IsKept {
  __host__ __device__ bool operator()(int v) const { return is_kept(v); }
};

const std::vector<Version<FilterMemory>> kCub = {
    {"filter_cub", "by cub::DeviceSelect", [](const FilterMemory& m) {
       std::size_t bytes = m.scratch.bytes();
       CUDA_CHECK(cub::DeviceSelect::If(m.scratch.get(), bytes, m.x.get(), m.kept.get(),
                                        m.count.get(), static_cast<int>(m.x.size()), IsKept{}));
     }}};
#else
const std::vector<Version<FilterMemory>> kCub;
#endif

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, block = 512;
  const Options opt(
      argc, argv, "10_block_filter", "how near to the library is one atomic a block?",
      {{"n", &n, 1, 2_Gi - 1, "ints to filter"}, {"block", &block, 1, 1024, "threads per block"}});
  const Device device = open_device(opt);
  const unsigned grid =
      std::min(blocks_for(n, 16 * block), blocks_held(device, filter_block, block));
  ResultTable table(opt, device, n * sizeof(int), n * sizeof(int) + n / 64 + 1_Mi);
  const FilterMemory memory(random_ints(n, 0, 9, opt.seed), grid, static_cast<unsigned>(block));
  table.add(kFilterBlock, memory);
  for (const auto& version : kCub) table.add(version, memory);
  return table.finish();
}
