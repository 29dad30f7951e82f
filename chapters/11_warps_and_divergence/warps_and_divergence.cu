// SPDX-License-Identifier: MIT
// Chapter 11: what happens when the lanes of a warp disagree?
//
// tree_bare      a warp's sum in shared memory, nothing between the levels: wrong
// tree_volatile  the same with volatile, as in 2008: right by luck; tree_late: out of luck
// tree_syncwarp  the same, with __syncwarp before each level
// shuffle_down   values go from lane to lane, without memory; shuffle_xor: all lanes get the sum
// reduce_add     the same by one instruction; cg_reduce: by cooperative groups
// cub_warp       the same by the library (GPU only)
// block_tree, block_shuffle, block_wide, cub_block   the sum of a block: block_sums.cuh
// Run: make run CH=11, ARGS="--show paths" (votes, visibility) or "--try deadlock" for more

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <numeric>
#include <vector>

#include "../../common/common.cuh"

constexpr unsigned kWarp = 32, kMaxBlock = 1024, kAllLanes = 0xffffffffu;
constexpr std::size_t kMaxN = 8_Gi;

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

// Right: the lanes wait for each other, and see what the others wrote before.
__global__ void sum_tree_syncwarp(const int* x, std::size_t n, int* sums) {
  __shared__ int partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  partial[t] = element_or_zero(x, n);
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    __syncwarp();  // a level reads what other lanes wrote in the level before
    if (lane_number() < distance) partial[t] += partial[t + distance];
  }
  if (lane_number() == 0) sums[warp_number()] = partial[t];
}

// No memory: each lane gets the register of the lane `distance` further up, and adds it. Past the
// last lane it gets its own back; what such lanes add up reaches lane 0 nowhere. Only lane 0 has
// the sum.
template <class T>
__device__ T sum_down(T value) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(kAllLanes, value, distance);
  }
  return value;
}

__global__ void sum_shuffle_down(const int* x, std::size_t n, int* sums) {
  const int sum = sum_down(element_or_zero(x, n));
  if (lane_number() == 0) sums[warp_number()] = sum;
}

// Partners swap: lane 5 (00101) with 21 (10101), with 13, 1, 7, 4. All lanes end with the sum.
__device__ int sum_xor(int value) {
  for (int bit = kWarp / 2; bit > 0; bit /= 2) value += __shfl_xor_sync(kAllLanes, value, bit);
  return value;
}

__global__ void sum_shuffle_xor(const int* x, std::size_t n, int* sums) {
  const int sum = sum_xor(element_or_zero(x, n));
  if (lane_number() == 0) sums[warp_number()] = sum;
}

// One instruction, for 32-bit integers, from sm_80 on. (Without it the row is left out.)
__global__ void sum_reduce_add(const int* x, std::size_t n, int* sums) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const int sum = __reduce_add_sync(kAllLanes, element_or_zero(x, n));
  if (lane_number() == 0) sums[warp_number()] = sum;
#endif
}

// A tile of 32 threads is a warp. The library picks the instruction, or shuffles.
__global__ void sum_cg_reduce(const int* x, std::size_t n, int* sums) {
  namespace cg = cooperative_groups;
  const auto warp = cg::tiled_partition<kWarp>(cg::this_thread_block());
  const int sum = cg::reduce(warp, element_or_zero(x, n), cg::plus<int>());
  if (warp.thread_rank() == 0) sums[warp_number()] = sum;
}

// ---- the versions ------------------------------------------------------------------------------

// n ints, a thread for each, and places for what warps and blocks leave. What warps sum up must fit
// an int.
struct Sums {
  Sums(const std::vector<int>& values, unsigned threads)
      : x(values),
        n(values.size()),
        grid(static_cast<unsigned>(std::max<std::size_t>(1, div_up(n, threads)))),
        block(threads),
        of_warps(std::size_t{grid} * (threads / kWarp)),
        of_blocks(grid) {}
  void poison() const { of_warps.poison(), of_blocks.poison(); }

  DeviceArray<int> x;
  std::size_t n;
  unsigned grid, block;  // block: whole warps
  DeviceArray<int> of_warps;
  DeviceArray<long long> of_blocks;
};

const Version<Sums> kVersions[] = {
    {"tree_syncwarp", "shared memory, __syncwarp before each level",
     [](const Sums& d) {
       sum_tree_syncwarp<<<d.grid, d.block>>>(d.x.get(), d.n, d.of_warps.get());
     }},
    {"shuffle_down", "from lane to lane, the sum in lane 0",
     [](const Sums& d) {
       sum_shuffle_down<<<d.grid, d.block>>>(d.x.get(), d.n, d.of_warps.get());
     }},
    {"shuffle_xor", "partners swap, the sum in every lane",
     [](const Sums& d) { sum_shuffle_xor<<<d.grid, d.block>>>(d.x.get(), d.n, d.of_warps.get()); }},
    {"reduce_add", "one instruction (sm_80 and later)",
     [](const Sums& d) { sum_reduce_add<<<d.grid, d.block>>>(d.x.get(), d.n, d.of_warps.get()); }},
    {"cg_reduce", "cooperative groups: reduce over a tile of 32",
     [](const Sums& d) { sum_cg_reduce<<<d.grid, d.block>>>(d.x.get(), d.n, d.of_warps.get()); }},
};

// The sum of every `count` neighbours, by the host.
template <class T>
std::vector<T> sums_of_each(const std::vector<int>& x, std::size_t count, std::size_t places) {
  std::vector<T> sums(places);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i / count] += x[i];
  return sums;
}

bool check(const std::string& version, const Sums& d, const std::vector<int>& expected) {
  return all_equal(version, d.of_warps.download().data(), expected.data(), expected.size());
}

#include "block_sums.cuh"       // the rows below the warps' own
#include "broken_sums.cuh"      // the rows above them
#include "divergent_paths.cuh"  // --show paths
#include "reconvergence.cuh"    // --try deadlock
#include "visibility.cuh"       // --show visibility
#include "votes.cuh"            // --show votes

bool is_there(const Version<Sums>& v, const Device& device) {
  return v.name != std::string("reduce_add") || !kOnGpu || device.major >= 8;
}

int add_rows(ResultTable& table, const Device& device, const std::vector<int>& x, const Sums& d) {
  const auto expected = sums_of_each<int>(x, kWarp, d.of_warps.size());
  const auto bytes = static_cast<double>(d.x.bytes());
  if (kOnGpu) table.rate_in_gbps("read", measure_yardstick(device, d.x.bytes()).read_gbps);
  broken_sums::add_rows(table, d, expected);
  for (const Version<Sums>& v : kVersions) {
    if (!table.options().wants(v.name)) continue;
    if (!is_there(v, device)) {
      table.note(std::string(v.name) + ": this chip has no such instruction");
      continue;
    }
    add_measured_row(
        table, v.name, bytes, [&] { d.poison(); }, [&] { v.launch(d); },
        [&] { return check(v.name, d, expected); });
  }
  block_sums::add_rows(table, x, d, expected);
  return table.finish();
}

void name_rows(Options& opt, const std::string& show, const std::string& attempt) {
  if (!attempt.empty()) return reconvergence::name_rows(opt);
  if (show == "paths") return divergent_paths::name_rows(opt);
  if (show == "votes") return votes::name_rows(opt);
  if (show == "visibility") return visibility::name_rows(opt);
  opt.versions(broken_sums::kVersions);
  opt.versions(kVersions);
  block_sums::name_rows(opt);
}

int main(int argc, char** argv) {
  Options opt("11_warps_and_divergence", "what happens when the lanes of a warp disagree?");
  std::size_t n = kOnGpu ? 64_Mi : 250000;  // the CPU default ends inside a warp
  std::size_t block = 256;
  std::string show, attempt;
  opt.add("n", &n, 1, kMaxN, "ints to sum");
  opt.add("block", &block, kWarp, kMaxBlock, "threads per block, a multiple of 32");
  opt.add("show", &show, {"paths", "votes", "visibility"}, "other rows than the sums");
  opt.add("try", &attempt, {"deadlock"}, "lanes that wait for each other; what hangs is stopped");
  opt.parse(argc, argv, [&] { name_rows(opt, show, attempt); });
  if (block % kWarp != 0) opt.usage_error("--block " + std::to_string(block) + ": not whole warps");
  if (!show.empty() && !attempt.empty()) opt.usage_error("--show and --try: one or the other");
  const Device device = open_device(opt);
  const std::size_t blocks = div_up(n, block), bytes = n * sizeof(int);
  require_device_memory(opt, "--n " + std::to_string(n), bytes + bytes / 4 + 16 * blocks);
  if (reconvergence::is_child()) return reconvergence::run_case();

  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const Sums data(x, static_cast<unsigned>(block));
  ResultTable table(opt, device, "n = " + std::to_string(n) + " · block " + std::to_string(block),
                    bytes);
  if (!attempt.empty()) return reconvergence::run(table, argv[0]);
  if (show == "paths") return divergent_paths::run(table, device, n, data.block);
  if (show == "votes") return votes::run(table, device, n, data.block);
  if (show == "visibility") return visibility::run(table);
  return add_rows(table, device, x, data);
}
