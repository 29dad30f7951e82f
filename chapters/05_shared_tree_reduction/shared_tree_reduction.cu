// SPDX-License-Identifier: MIT
// Chapter 05: how do the threads of a block add up together?
//
// global_modulo       a tree of partial sums in global memory, neighbours first
// shared_one_thread   partial sums in shared memory, thread 0 adds them all
// shared_modulo       the tree in shared memory, neighbours first, chosen by a remainder
// shared_interleaved  the same additions by the first threads: whole warps go idle, banks conflict
// shared_sequential   the upper half onto the lower half: no divergence, no bank conflicts
// dynamic_shared      the same, with the array sized by the launch
// carved_arrays       sum, maximum and a count, from three arrays in one dynamic allocation
// barrier_votes       a count, an "all" and an "any" for free, at the barrier itself
// opt_in_tile         64 KiB of shared memory per block: above the limit that holds without asking
// Run: make run CH=05

#include <algorithm>
#include <climits>
#include <numeric>
#include <vector>

#include "../../common/common.cuh"

constexpr std::size_t kMaxBlock = 1024;  // threads per block, a limit of the hardware
constexpr std::size_t kMaxN = std::size_t{1} << 34;
constexpr unsigned kTileItems = 8192;  // 64 KiB of 8-byte partial sums

// What a version reads and writes. Each block b leaves its results in element b of the last four.
struct Problem {
  const int* x;  // n values
  std::size_t n;
  unsigned grid, block;  // one thread per element
  long long* scratch;    // one partial sum per thread, for the tree in global memory
  long long* sums;       // per block: sum of squares
  int* maxima;           // per block: largest value
  int* odd_counts;       // per block: how many values are odd
  int* flags;            // per block: bit 0: all values below 10, bit 1: any value is 9
};

// ---- host reference ----------------------------------------------------------------------------

struct Expected {
  long long sum = 0;
  int maximum = INT_MIN;
  long long odd = 0;
  bool all_below_10 = true, any_is_9 = false;
};

Expected reference(const std::vector<int>& x) {
  Expected e;
  for (const int v : x) {
    e.sum += static_cast<long long>(v) * v;
    e.maximum = std::max(e.maximum, v);
    e.odd += v % 2 != 0;
    e.all_below_10 = e.all_below_10 && v < 10;
    e.any_is_9 = e.any_is_9 || v == 9;
  }
  return e;
}

// ---- kernels -----------------------------------------------------------------------------------

// The element this thread is responsible for.
__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// Its square, or 0 (which changes no sum) for the threads past the end of x. They must not return
// early: everyone is needed at the barriers below.
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

// The first tree again, in shared memory. In every warp some lanes work and some do not, at every
// level: with the remainder as condition no warp ever gets to rest.
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

// The same pairs, but the first threads do the work, so that whole warps drop out. Now neighbouring
// lanes are 2 * distance slots of 8 bytes apart: from distance 8 on they all meet in two banks.
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
// level. Every thread of the block must call it; partial must have been written before a barrier.
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

// There is one dynamic array per launch. Several typed ones are carved from it, those with the
// strictest alignment first, so that each begins where its type may begin for any block size.
constexpr std::size_t kCarvedBytesPerThread =
    sizeof(long long) + sizeof(int) + sizeof(unsigned short);

__global__ void sum_carved_arrays(const int* x, std::size_t n, long long* sums, int* maxima,
                                  int* odd_counts) {
  extern __shared__ long long carved[];
  long long* sum = carved;                                              // multiples of 8
  int* maximum = reinterpret_cast<int*>(sum + blockDim.x);              // multiples of 4
  auto* odd = reinterpret_cast<unsigned short*>(maximum + blockDim.x);  // multiples of 2

  const unsigned t = threadIdx.x;
  const std::size_t i = global_index();
  sum[t] = square_or_zero(x, n, i);
  maximum[t] = i < n ? x[i] : INT_MIN;  // the identity of max, as 0 is of +
  odd[t] = i < n && x[i] % 2 != 0;
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  for (unsigned count = blockDim.x; count > 1; count = (count + 1) / 2) {
    const unsigned half = (count + 1) / 2;
    if (t < count - half) {
      sum[t] += sum[half + t];
      maximum[t] = max(maximum[t], maximum[half + t]);
      odd[t] = static_cast<unsigned short>(odd[t] + odd[half + t]);
    }
    __syncthreads();  // the next level reads what other threads have just written
  }
  if (t == 0) {
    sums[blockIdx.x] = sum[0];
    maxima[blockIdx.x] = maximum[0];
    odd_counts[blockIdx.x] = odd[0];
  }
}

// Three barriers that also count, and, or a predicate over all threads of the block: no array at
// all.
__global__ void count_with_barrier_votes(const int* x, std::size_t n, int* odd_counts, int* flags) {
  const std::size_t i = global_index();
  const int odd = __syncthreads_count(i < n && x[i] % 2 != 0);
  const int all_below_10 = __syncthreads_and(i >= n || x[i] < 10);
  const int any_is_9 = __syncthreads_or(i < n && x[i] == 9);
  if (threadIdx.x == 0) {
    odd_counts[blockIdx.x] = odd;
    flags[blockIdx.x] = (all_below_10 ? 1 : 0) | (any_is_9 ? 2 : 0);
  }
}

// A tile of 8192 partial sums per block, whatever the number of threads: 64 KiB, which a launch may
// ask for only after cudaFuncSetAttribute has raised the kernel's limit.
__global__ void sum_opt_in_tile(const int* x, std::size_t n, long long* sums) {
  extern __shared__ long long tile[];
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kTileItems;
  for (unsigned k = threadIdx.x; k < kTileItems; k += blockDim.x) {
    tile[k] = square_or_zero(x, n, first + k);
  }
  __syncthreads();  // the fold reads slots of other threads
  fold_to_front(tile, kTileItems);
  if (threadIdx.x == 0) sums[blockIdx.x] = tile[0];
}

// Blocks of that version: one per tile, at least one.
unsigned tile_grid(std::size_t n) {
  return static_cast<unsigned>(std::max<std::size_t>(1, div_up(n, kTileItems)));
}

// ---- the ladder --------------------------------------------------------------------------------

const Version<Problem> kVersions[] = {
    {"global_modulo", "tree in global memory, neighbours first",
     [](const Problem& p) { sum_global_modulo<<<p.grid, p.block>>>(p.x, p.n, p.scratch, p.sums); }},
    {"shared_one_thread", "shared memory, thread 0 adds",
     [](const Problem& p) { sum_shared_one_thread<<<p.grid, p.block>>>(p.x, p.n, p.sums); }},
    {"shared_modulo", "tree in shared memory, neighbours first, by remainder",
     [](const Problem& p) { sum_shared_modulo<<<p.grid, p.block>>>(p.x, p.n, p.sums); }},
    {"shared_interleaved", "the same pairs by the first threads",
     [](const Problem& p) { sum_shared_interleaved<<<p.grid, p.block>>>(p.x, p.n, p.sums); }},
    {"shared_sequential", "upper half onto lower half",
     [](const Problem& p) { sum_shared_sequential<<<p.grid, p.block>>>(p.x, p.n, p.sums); }},
    {"dynamic_shared", "the array sized by the launch",
     [](const Problem& p) {
       sum_dynamic_shared<<<p.grid, p.block, p.block * sizeof(long long)>>>(p.x, p.n, p.sums);
     }},
    {"carved_arrays", "sum, maximum and count from one dynamic array",
     [](const Problem& p) {
       sum_carved_arrays<<<p.grid, p.block, p.block * kCarvedBytesPerThread>>>(
           p.x, p.n, p.sums, p.maxima, p.odd_counts);
     }},
    {"barrier_votes", "count, all and any at the barrier itself",
     [](const Problem& p) {
       count_with_barrier_votes<<<p.grid, p.block>>>(p.x, p.n, p.odd_counts, p.flags);
     }},
    {"opt_in_tile", "64 KiB of shared memory per block",
     [](const Problem& p) {
       constexpr int kBytes = kTileItems * sizeof(long long);
       CUDA_CHECK(cudaFuncSetAttribute(sum_opt_in_tile, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       kBytes));
       sum_opt_in_tile<<<tile_grid(p.n), p.block, kBytes>>>(p.x, p.n, p.sums);
     }},
};

// Copies what the version left per block, finishes it on the host, and compares. A version leaves
// the outputs it does not compute as they were: poisoned.
bool check(const std::string& version, const Problem& p, const Expected& expected) {
  const std::size_t blocks = version == "opt_in_tile" ? tile_grid(p.n) : p.grid;
  bool ok = true;
  if (version != "barrier_votes") {
    std::vector<long long> sums(blocks);
    CUDA_CHECK(cudaMemcpy(sums.data(), p.sums, blocks * sizeof(long long), cudaMemcpyDeviceToHost));
    ok &= equals(version + " sum", std::accumulate(sums.begin(), sums.end(), 0LL), expected.sum);
  }
  if (version == "carved_arrays") {
    std::vector<int> maxima(blocks);
    CUDA_CHECK(cudaMemcpy(maxima.data(), p.maxima, blocks * sizeof(int), cudaMemcpyDeviceToHost));
    ok &= equals(version + " maximum", *std::max_element(maxima.begin(), maxima.end()),
                 expected.maximum);
  }
  if (version == "carved_arrays" || version == "barrier_votes") {
    std::vector<int> odd(blocks);
    CUDA_CHECK(cudaMemcpy(odd.data(), p.odd_counts, blocks * sizeof(int), cudaMemcpyDeviceToHost));
    ok &=
        equals(version + " odd count", std::accumulate(odd.begin(), odd.end(), 0LL), expected.odd);
  }
  if (version == "barrier_votes") {
    std::vector<int> flags(blocks);
    CUDA_CHECK(cudaMemcpy(flags.data(), p.flags, blocks * sizeof(int), cudaMemcpyDeviceToHost));
    int all = 1, any = 0;
    for (const int f : flags) all &= f, any |= f;
    ok &= equals(version + " all below 10", (all & 1) != 0, expected.all_below_10);
    ok &= equals(version + " any is 9", (any & 2) != 0, expected.any_is_9);
  }
  return ok;
}

int main(int argc, char** argv) {
  Options opt("05_shared_tree_reduction", "how do the threads of a block add up together?");
  opt.versions(kVersions);
  name_cub_row(opt);
  std::size_t n = kOnGpu ? 64_Mi : 250000;  // the CPU default ends inside a block
  std::size_t block = 256;
  opt.add("n", &n, 1, kMaxN, "ints to sum");
  opt.add("block", &block, 1, kMaxBlock, "threads per block");
  opt.parse(argc, argv);
  const Device device = open_device(opt);

  const std::size_t blocks = div_up(n, block);  // block <= kTileItems: enough for every version
  if (blocks > INT_MAX) opt.usage_error("--n and --block: a grid has at most 2147483647 blocks");
  const std::size_t bytes = n * sizeof(int);
  const std::size_t bytes_per_block = sizeof(long long) + 3 * sizeof(int);
  require_device_memory(opt, "--n " + std::to_string(n),
                        bytes + blocks * (block * sizeof(long long) + bytes_per_block));

  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const Expected expected = reference(x);

  int* d_x = nullptr;
  Problem p{};
  CUDA_CHECK(cudaMalloc(&d_x, bytes));
  CUDA_CHECK(cudaMalloc(&p.scratch, blocks * block * sizeof(long long)));
  CUDA_CHECK(cudaMalloc(&p.sums, blocks * sizeof(long long)));
  CUDA_CHECK(cudaMalloc(&p.maxima, blocks * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&p.odd_counts, blocks * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&p.flags, blocks * sizeof(int)));
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
  p.x = d_x;
  p.n = n;
  p.grid = static_cast<unsigned>(blocks);
  p.block = static_cast<unsigned>(block);

  ResultTable table(opt, device, "n = " + std::to_string(n) + " · block " + std::to_string(block),
                    bytes);
  if (kOnGpu) table.rate_in_gbps("read", measure_yardstick(device).read_gbps);
  for (const auto& version : kVersions) {
    if (!opt.wants(version.name)) continue;
    // Poison: a version that writes nothing must not pass on what the one before it left.
    CUDA_CHECK(cudaMemset(p.sums, 0xff, blocks * sizeof(long long)));
    CUDA_CHECK(cudaMemset(p.maxima, 0xff, blocks * sizeof(int)));
    CUDA_CHECK(cudaMemset(p.odd_counts, 0xff, blocks * sizeof(int)));
    CUDA_CHECK(cudaMemset(p.flags, 0xff, blocks * sizeof(int)));
    const auto run = [&] {
      version.launch(p);
      CUDA_CHECK_LAUNCH();
    };
    run();
    bool ok = check(version.name, p, expected);
    const Timing t = time_launches(opt.samples, run);
    ok = check(version.name, p, expected) && ok;  // and still right after the timed runs
    table.add(version.name, t, static_cast<double>(bytes), ok);
  }
  add_cub_row(table, opt, d_x, n, expected.sum);

  for (void* d : {static_cast<void*>(d_x), static_cast<void*>(p.scratch),
                  static_cast<void*>(p.sums), static_cast<void*>(p.maxima),
                  static_cast<void*>(p.odd_counts), static_cast<void*>(p.flags)}) {
    CUDA_CHECK(cudaFree(d));
  }
  return table.finish();
}
