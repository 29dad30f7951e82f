// SPDX-License-Identifier: MIT
// What else can a block share, besides one array of sums?
//
// carved_arrays  sum, maximum and a count, from three arrays in one dynamic allocation
// barrier_votes  a count, an "all" and an "any" for free, at the barrier itself

#include <climits>

#include "../../../common/common.cuh"
#include "squares.cuh"

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

// What the kernels read and write. Block b leaves its results in element b of each array.
struct BlockResults {
  void poison() const { sums.poison(), maxima.poison(), odd_counts.poison(), flags.poison(); }

  // Compares what block b left with its own ints: `add` folds them, beginning with `first`.
  template <class T, class Add>
  bool matches(const std::string& what, const DeviceArray<T>& actual, T first, Add add) const {
    std::vector<T> expected(grid, first);
    for (std::size_t i = 0; i < n; ++i) add(expected[i / block], host_x[i]);
    return all_equal(what, actual.download(), expected);
  }
  bool odd_counts_match(const std::string& name) const {
    return matches(name + " odd count", odd_counts, 0, [](int& c, int v) { c += v % 2 != 0; });
  }
  bool is_right(const std::string& name) const {
    return odd_counts_match(name) &&
           matches(name + " sum", sums, 0LL, [](long long& s, long long v) { s += v * v; }) &&
           matches(name + " maximum", maxima, INT_MIN, [](int& m, int v) { m = std::max(m, v); });
  }
  bool votes_are_right(const std::string& name) const {
    return odd_counts_match(name) && matches(name + " flags", flags, 1, [](int& f, int v) {
             f = (f & (v < 10 ? 3 : 2)) | (v == 9 ? 2 : 0);
           });
  }

  std::vector<int> host_x;
  unsigned block;
  DeviceArray<int> x{host_x};
  std::size_t n = x.size();
  unsigned grid = blocks_for(n, block);
  DeviceArray<long long> sums{grid};
  DeviceArray<int> maxima{grid}, odd_counts{grid};
  DeviceArray<int> flags{grid};  // bit 0: all values are below 10, bit 1: any value is 9
};

const Version<BlockResults> kVersions[] = {
    {"carved_arrays", "sum, maximum and count from one dynamic array",
     [](const BlockResults& r) {
       const std::size_t bytes = r.block * kCarvedBytesPerThread;
       sum_carved_arrays<<<r.grid, r.block, bytes>>>(r.x, r.n, r.sums, r.maxima, r.odd_counts);
     }},
    {"barrier_votes", "count, all and any at the barrier itself",
     [](const BlockResults& r) {
       count_with_barrier_votes<<<r.grid, r.block>>>(r.x, r.n, r.odd_counts, r.flags);
     },
     &BlockResults::votes_are_right},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 20000, block = 256;
  const Options opt(argc, argv, "05_shared_layouts", "what else can a block share?",
                    {{"n", &n, 1, 1_Gi, "ints"}, {"block", &block, 1, 1024, "threads per block"}});
  ResultTable table(opt, n * sizeof(int), div_up(n, block) * 20);
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  table.without_speedup();  // they do not all do the same work
  const BlockResults results{random_ints(n, 0, 9, opt.seed), static_cast<unsigned>(block)};
  for (const auto& version : kVersions) table.add(version, results);
  return table.finish();
}
