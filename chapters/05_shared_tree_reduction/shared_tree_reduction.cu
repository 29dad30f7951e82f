// SPDX-License-Identifier: MIT
// Chapter 05: how do the threads of a block add up together?
//
// global_modulo       a tree of partial sums in global memory, neighbours first
// shared_one_thread   partial sums in shared memory, thread 0 adds them all
// shared_modulo       the tree in shared memory, neighbours first, a remainder picks the threads
// shared_interleaved  the same additions by the first threads: whole warps go idle, banks conflict
// shared_sequential   the upper half onto the lower half: no divergence, no bank conflicts
// dynamic_shared      the same, with the array sized by the launch
// carved_arrays, barrier_votes, opt_in_tile   what else a block shares: shared_layouts.cuh
// eight_each, last_warp, wide_loads, cub_block   the top of the ladder: eight_each.cuh
// Run: make run CH=05, with ARGS="--show end_to_end" or ARGS="--try stray_bytes" for more

#include <climits>
#include <numeric>
#include <vector>

#include "../../common/common.cuh"

constexpr std::size_t kMaxBlock = 1024;  // threads per block, a limit of the hardware
constexpr std::size_t kMaxN = 16_Gi;

// The element this thread is responsible for.
__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// The square of x[i], or 0 (which changes no sum) for threads past the end of x. They must not
// return early: everyone is needed at the barriers below.
__device__ long long square_or_zero(const int* x, std::size_t n, std::size_t i) {
  return i < n ? static_cast<long long>(x[i]) * x[i] : 0;
}

// Neighbours first: at distance 1, 2, 4, ... every thread whose index is a multiple of twice the
// distance adds the partial sum at that distance. Each level goes through global memory.
__global__ void sum_global_modulo(const int* x, std::size_t n, long long* scratch,
                                  long long* sums) {
  const unsigned t = threadIdx.x;
  long long* partial = scratch + static_cast<std::size_t>(blockIdx.x) * blockDim.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // a level reads what other threads wrote in the level before
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    if (t % (2 * distance) == 0 && t + distance < blockDim.x) partial[t] += partial[t + distance];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// Shared memory, but no tree: one thread adds while all others have nothing to do.
__global__ void sum_shared_one_thread(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];  // one slot per thread, not per block
  const unsigned t = threadIdx.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // thread 0 is about to read every slot
  if (t == 0) {
    long long sum = 0;
    for (unsigned k = 0; k < blockDim.x; ++k) sum += partial[k];
    sums[blockIdx.x] = sum;
  }
}

// The first tree again, in shared memory. Up to distance 16 every warp has a few lanes that work.
// Further on most warps have none, and still each of their lanes computes the remainder.
__global__ void sum_shared_modulo(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // a level reads what other threads wrote in the level before
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    if (t % (2 * distance) == 0 && t + distance < blockDim.x) partial[t] += partial[t + distance];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// The same pairs, but the first threads do the work, so that whole warps drop out. Lanes that work
// together are 2 * distance slots of 8 bytes apart, as above, and now all are neighbours in one
// warp: from distance 8 on they meet in two banks.
__global__ void sum_shared_interleaved(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // a level reads what other threads wrote in the level before
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    const unsigned left = 2 * distance * t;
    if (left + distance < blockDim.x) partial[left] += partial[left + distance];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// Folds partial[0..count) into partial[0], the upper half onto the lower half: lanes that work are
// neighbours and so are their slots. When the count is odd the middle slot waits for the next
// level. Every thread of the block must call it, with a barrier after the last write to partial.
__device__ void fold_to_front(long long* partial, unsigned count) {
  while (count > 1) {
    const unsigned half = (count + 1) / 2;
    for (unsigned k = threadIdx.x; k < count - half; k += blockDim.x) {
      partial[k] += partial[half + k];
    }
    __syncthreads();  // the next level reads sums that other threads have just written
    count = half;
  }
}

__global__ void sum_shared_sequential(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  partial[threadIdx.x] = square_or_zero(x, n, global_index());
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  fold_to_front(partial, blockDim.x);
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

// The launch says how many bytes (not elements) the array has: just what this block size needs.
__global__ void sum_dynamic_shared(const int* x, std::size_t n, long long* sums) {
  extern __shared__ long long dynamic_partial[];
  dynamic_partial[threadIdx.x] = square_or_zero(x, n, global_index());
  __syncthreads();  // as above
  fold_to_front(dynamic_partial, blockDim.x);
  if (threadIdx.x == 0) sums[blockIdx.x] = dynamic_partial[0];
}

// ---- the versions ------------------------------------------------------------------------------

// What the versions read and write: n ints, one thread for each, and a place for the sum of every
// block.
struct BlockSums {
  BlockSums(const std::vector<int>& values, std::size_t threads)
      : x(values),
        n(values.size()),
        grid(static_cast<unsigned>(std::max<std::size_t>(1, div_up(n, threads)))),
        block(static_cast<unsigned>(threads)),
        scratch(grid * threads),
        sums(grid) {}

  DeviceArray<int> x;
  std::size_t n;
  unsigned grid, block;
  DeviceArray<long long> scratch;  // one partial sum per thread, for the tree in global memory
  DeviceArray<long long> sums;     // one sum of squares per block
};

#include "shared_layouts.cuh"  // three more versions, on the same ints

const Version<BlockSums> kVersions[] = {
    {"global_modulo", "tree in global memory, neighbours first",
     [](const BlockSums& d) {
       sum_global_modulo<<<d.grid, d.block>>>(d.x.get(), d.n, d.scratch.get(), d.sums.get());
     }},
    {"shared_one_thread", "shared memory, thread 0 adds",
     [](const BlockSums& d) {
       sum_shared_one_thread<<<d.grid, d.block>>>(d.x.get(), d.n, d.sums.get());
     }},
    {"shared_modulo", "tree in shared memory, neighbours first, by remainder",
     [](const BlockSums& d) {
       sum_shared_modulo<<<d.grid, d.block>>>(d.x.get(), d.n, d.sums.get());
     }},
    {"shared_interleaved", "the same pairs by the first threads",
     [](const BlockSums& d) {
       sum_shared_interleaved<<<d.grid, d.block>>>(d.x.get(), d.n, d.sums.get());
     }},
    {"shared_sequential", "upper half onto lower half",
     [](const BlockSums& d) {
       sum_shared_sequential<<<d.grid, d.block>>>(d.x.get(), d.n, d.sums.get());
     }},
    {"dynamic_shared", "the array sized by the launch",
     [](const BlockSums& d) {
       const std::size_t bytes = d.block * sizeof(long long);  // bytes, not elements
       sum_dynamic_shared<<<d.grid, d.block, bytes>>>(d.x.get(), d.n, d.sums.get());
     }},
};

long long reference(const std::vector<int>& x) {
  return std::accumulate(x.begin(), x.end(), 0LL,
                         [](long long sum, long long v) { return sum + v * v; });
}

// Finishes on the host: adds the sums of the blocks and compares.
bool check(const std::string& version, const BlockSums& d, long long expected) {
  const std::vector<long long> sums = d.sums.download();
  return equals(version, std::accumulate(sums.begin(), sums.end(), 0LL), expected);
}

#include "eight_each.cuh"   // the rows at the top of the ladder
#include "end_to_end.cuh"   // --show
#include "stray_bytes.cuh"  // --try

void name_versions(Options& opt) {
  opt.versions(kVersions);
  opt.versions(shared_layouts::kVersions);
  eight_each::name_rows(opt);
  name_cub_row(opt);
}

// Prints a row for each version. Returns the exit status of the program.
int add_rows(ResultTable& table, const Device& device, const std::vector<int>& x,
             const BlockSums& data) {
  const long long expected = reference(x);
  const std::size_t bytes = data.x.bytes();
  if (kOnGpu) table.rate_in_gbps("read", measure_yardstick(device, bytes).read_gbps);
  add_version_rows(
      table, kVersions, data, static_cast<double>(bytes), [&] { data.sums.poison(); },
      [&](const char* version) { return check(version, data, expected); });
  shared_layouts::add_rows(table, x, data);
  eight_each::add_rows(table, data, expected);
  add_cub_row(table, table.options(), data.x.get(), data.n, expected);
  return table.finish();
}

int main(int argc, char** argv) {
  Options opt("05_shared_tree_reduction", "how do the threads of a block add up together?");
  std::size_t n = kOnGpu ? 64_Mi : 20000;  // the CPU default ends inside a block
  std::size_t block = 256;
  std::string show, attempt;
  opt.add("n", &n, 1, kMaxN, "ints to sum");
  opt.add("block", &block, 1, kMaxBlock, "threads per block");
  opt.add("show", &show, {"end_to_end"}, "the sum with the copies and what the host adds");
  opt.add("try", &attempt, {"stray_bytes"}, "an array too small, in a launch that hides it");
  opt.parse(argc, argv, [&] { show.empty() ? name_versions(opt) : end_to_end::name_rows(opt); });
  const Device device = open_device(opt);
  if (!attempt.empty()) return stray_bytes::run();
  const std::size_t blocks = div_up(n, block), bytes = n * sizeof(int);
  if (blocks > INT_MAX) opt.usage_error("--n and --block: a grid has at most 2147483647 blocks");
  require_device_memory(opt, "--n " + std::to_string(n),
                        bytes + blocks * (block + 1) * sizeof(long long) +
                            blocks * shared_layouts::BlockResults::kBytesPerBlock);

  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const BlockSums data(x, block);
  ResultTable table(opt, device, "n = " + std::to_string(n) + " · block " + std::to_string(block),
                    bytes);
  return show.empty() ? add_rows(table, device, x, data) : end_to_end::run(table, x, data);
}
