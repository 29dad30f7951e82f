// SPDX-License-Identifier: MIT
// What do the patterns cost as the literature has them, where all blocks use the same few words?
//
// There the number of a thread *within its block* chooses the word: a block of 1024 threads uses
// 1024 words at most. The rows block_* and register are those of the chapter's program.

#include "../../../common/common.cuh"

constexpr std::size_t kWarp = 32;
constexpr std::size_t kWords = 16384;  // ints in the table: 64 KiB, all there is

__constant__ int constant_words[kWords];

__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// Which word of the table a thread adds.
enum Pattern { kPerBlock, kPerWarp, kPerThread, kScattered };
template <Pattern kPattern>
__device__ std::size_t word_of_thread() {
  if constexpr (kPattern == kPerBlock) {
    return blockIdx.x % kWords;
  } else if constexpr (kPattern == kPerWarp) {
    return threadIdx.x / kWarp;  // 32 words in use
  } else if constexpr (kPattern == kPerThread) {
    return threadIdx.x;  // 4 KiB in use
  } else {
    return threadIdx.x * 1357u % kWords;  // 4 KiB in use, scattered over the table
  }
}

template <Pattern kPattern>
__global__ void add_constant(const int* x, std::size_t n, int* y) {
  const std::size_t i = global_index();
  if (i < n) y[i] = x[i] + constant_words[word_of_thread<kPattern>()];
}

template <Pattern kPattern>
__global__ void add_global(const int* x, std::size_t n, const int* table, int* y) {
  const std::size_t i = global_index();
  if (i < n) y[i] = x[i] + table[word_of_thread<kPattern>()];
}

template <Pattern kPattern>
__global__ void add_readonly(const int* __restrict__ x, std::size_t n,
                             const int* __restrict__ table, int* __restrict__ y) {
  const std::size_t i = global_index();
  if (i < n) y[i] = x[i] + __ldg(&table[word_of_thread<kPattern>()]);
}

__global__ void add_register(const int* x, std::size_t n, int* y) {
  const std::size_t i = global_index();
  if (i < n) y[i] = x[i] + static_cast<int>(threadIdx.x);
}

// n ints, a table, and their sums, for blocks of `block` threads.
struct Additions {
  std::vector<int> h_x, h_table;
  unsigned block;
  std::size_t n = h_x.size();
  unsigned grid = blocks_for(n, block);
  DeviceArray<int> x{h_x}, table{h_table}, y{n};

  void poison() const { y.poison(); }

  // `sharing` threads of a block get the same word, the next ones the word `step` further on; the
  // first ones of the next block get the word `block_step` further on.
  bool adds(const std::string& version, std::size_t sharing, std::size_t step,
            std::size_t block_step = 0) const {
    std::vector<int> expected = h_x;
    for (std::size_t i = 0; i < n; ++i)
      expected[i] += h_table[(i / block * block_step + i % block / sharing * step) % kWords];
    return all_equal(version, y.download(), expected);
  }
  bool per_block(const std::string& version) const { return adds(version, block, 0, 1); }
  bool per_warp(const std::string& version) const { return adds(version, kWarp, 1); }
  bool per_thread(const std::string& version) const { return adds(version, 1, 1); }
  bool number(const std::string& version) const { return per_thread(version); }  // word t is t
  bool scattered(const std::string& version) const { return adds(version, 1, 1357); }
};

// Where the table is.
enum Source { kConstant, kGlobal, kReadonly };

template <Pattern kPattern, Source kSource>
void add(const Additions& d) {
  if (kSource == kConstant) add_constant<kPattern><<<d.grid, d.block>>>(d.x, d.n, d.y);
  if (kSource == kGlobal) add_global<kPattern><<<d.grid, d.block>>>(d.x, d.n, d.table, d.y);
  if (kSource == kReadonly) add_readonly<kPattern><<<d.grid, d.block>>>(d.x, d.n, d.table, d.y);
}

const Version<Additions> kVersions[] = {
    {"block_constant", "one word per block", add<kPerBlock, kConstant>, &Additions::per_block},
    {"block_global", "from global memory", add<kPerBlock, kGlobal>, &Additions::per_block},
    {"block_readonly", "the read-only path", add<kPerBlock, kReadonly>, &Additions::per_block},
    {"warp_in_block_constant", "32 words in use, one per warp", add<kPerWarp, kConstant>,
     &Additions::per_warp},
    {"warp_in_block_global", "from global memory", add<kPerWarp, kGlobal>, &Additions::per_warp},
    {"warp_in_block_readonly", "the read-only path", add<kPerWarp, kReadonly>,
     &Additions::per_warp},
    {"thread_in_block_constant", "1024 words in use, one per thread", add<kPerThread, kConstant>,
     &Additions::per_thread},
    {"thread_in_block_global", "from global memory", add<kPerThread, kGlobal>,
     &Additions::per_thread},
    {"thread_in_block_readonly", "the read-only path", add<kPerThread, kReadonly>,
     &Additions::per_thread},
    {"random_in_block_constant", "1024 words, scattered", add<kScattered, kConstant>,
     &Additions::scattered},
    {"random_in_block_global", "from global memory", add<kScattered, kGlobal>,
     &Additions::scattered},
    {"random_in_block_readonly", "the read-only path", add<kScattered, kReadonly>,
     &Additions::scattered},
    {"register", "no table: what is added is in a register",
     [](const Additions& d) { add_register<<<d.grid, d.block>>>(d.x.get(), d.n, d.y.get()); },
     &Additions::number},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 12800000 : 128000, block = 1024;
  const Options opt(argc, argv, "06_within_block", "what do the literature's patterns cost?",
                    {{"n", &n, 1, 1_Gi, "ints"}, {"block", &block, 1, 1024, "threads per block"}});
  ResultTable table(opt, 2 * n * sizeof(int), sizeof(constant_words));
  table.rate_in("GB/s", "copy", measured_copy_gbps(2 * n * sizeof(int)));
  table.without_speedup();  // the rows are to be compared pattern by pattern
  std::vector<int> words(kWords);
  std::iota(words.begin(), words.end(), 0);
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, words.data(), sizeof(constant_words)));
  const Additions sums{random_ints(n, -9, 9, opt.seed), words, static_cast<unsigned>(block)};
  for (const auto& version : kVersions) table.add(version, sums);
  return table.finish();
}
