// SPDX-License-Identifier: MIT
// What do the patterns cost as the literature has them, where all blocks use the same few words?
//
// There the number of a thread *within its block* chooses the word: a block of 1024 threads uses
// 1024 words at most. The rows block_* and register are those of the chapter's program.
//
// *_switch_*: there a switch in the kernel chooses the pattern at run time. All other kernels are
// compiled for one pattern each.

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

// One kernel for all patterns: what it is told decides.
__device__ std::size_t word_by_switch(Pattern pattern) {
  switch (pattern) {
    case kPerBlock:
      return blockIdx.x % kWords;
    case kPerWarp:
      return threadIdx.x / kWarp;
    case kPerThread:
      return threadIdx.x;
    default:
      return threadIdx.x * 1357u % kWords;
  }
}

__global__ void add_constant_by_switch(const int* x, std::size_t n, Pattern pattern, int* y) {
  const std::size_t i = global_index();
  if (i < n) y[i] = x[i] + constant_words[word_by_switch(pattern)];
}

__global__ void add_global_by_switch(const int* x, std::size_t n, const int* table, Pattern pattern,
                                     int* y) {
  const std::size_t i = global_index();
  if (i < n) y[i] = x[i] + table[word_by_switch(pattern)];
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

  // The word of each pattern once more, by the number of the block and of the thread within it.
  template <Pattern kPattern>
  bool adds(const std::string& version) const {
    std::vector<int> expected = h_x;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t t = i % block;
      const std::size_t word[] = {i / block, t / kWarp, t, t * 1357};
      expected[i] += h_table[word[kPattern] % kWords];
    }
    return all_equal(version, y.download(), expected);
  }
};

// The rows of a pattern: the table in constant memory, in global memory, and there again by the
// read-only path; then from the first two by the kernels that choose the pattern as they run.
template <Pattern kPattern>
void add_rows(ResultTable& table, const Additions& sums, const std::string& pattern,
              const char* words) {
  const auto add = [&](const char* source, const char* summary, void (*launch)(const Additions&)) {
    const std::string name = pattern + source;
    table.add({name.c_str(), summary, launch, &Additions::adds<kPattern>}, sums);
  };
  add("_constant", words,
      [](auto& d) { add_constant<kPattern><<<d.grid, d.block>>>(d.x, d.n, d.y); });
  add("_global", "from global memory",
      [](auto& d) { add_global<kPattern><<<d.grid, d.block>>>(d.x, d.n, d.table, d.y); });
  add("_readonly", "the read-only path",
      [](auto& d) { add_readonly<kPattern><<<d.grid, d.block>>>(d.x, d.n, d.table, d.y); });
  add("_switch_constant", "the pattern chosen by a switch",
      [](auto& d) { add_constant_by_switch<<<d.grid, d.block>>>(d.x, d.n, kPattern, d.y); });
  add("_switch_global", "from global memory",
      [](auto& d) { add_global_by_switch<<<d.grid, d.block>>>(d.x, d.n, d.table, kPattern, d.y); });
}

// Word t of the table is t, so the number of a thread is what kPerThread adds, too.
const Version<Additions> kRegister = {
    "register", "no table: what is added is in a register",
    [](const Additions& d) { add_register<<<d.grid, d.block>>>(d.x.get(), d.n, d.y.get()); },
    &Additions::adds<kPerThread>};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 12800000 : 128000, block = 1024;
  const Options opt(argc, argv, "06_within_block", "what do the literature's patterns cost?",
                    {{"n", &n, 1, 1_Gi, "ints"}, {"block", &block, 1, 1024, "threads per block"}});
  ResultTable table(opt, 2 * n * sizeof(int), sizeof(constant_words));
  table.longest_name("thread_in_block_switch_constant");
  table.rate_in("GB/s", "copy", measured_copy_gbps(2 * n * sizeof(int)));
  table.without_speedup();  // the rows are to be compared pattern by pattern
  std::vector<int> words(kWords);
  std::iota(words.begin(), words.end(), 0);
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, words.data(), sizeof(constant_words)));
  const Additions sums{random_ints(n, -9, 9, opt.seed), words, static_cast<unsigned>(block)};
  add_rows<kPerBlock>(table, sums, "block", "one word per block");
  add_rows<kPerWarp>(table, sums, "warp_in_block", "32 words in use, one per warp");
  add_rows<kPerThread>(table, sums, "thread_in_block", "1024 words in use, one per thread");
  add_rows<kScattered>(table, sums, "random_in_block", "1024 words, scattered");
  table.add(kRegister, sums);
  return table.finish();
}
