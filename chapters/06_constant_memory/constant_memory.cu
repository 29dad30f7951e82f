// SPDX-License-Identifier: MIT
// Chapter 06: when is the constant cache right?
//
// Twelve versions of y[i] = x[i] + table[w]: PATTERN_SOURCE, four patterns for w, three sources.
//   block_*   one word per block    *_constant  the table in constant memory
//   warp_*    one word per warp     *_global    the table in global memory
//   thread_*  one word per thread   *_readonly  the same through the read-only path
//   random_*  scattered words
// register, register_wide, block_wide        no table at all, and 16 bytes per thread
// polynomial_constant, polynomial_readonly   a use: 32 coefficients that every thread needs
// Run: make run CH=06

#include "../../common/common.cuh"

constexpr std::size_t kWarp = 32;
constexpr std::size_t kWords = 16384;  // ints in the table: 64 KiB, all there is
constexpr int kCoefficients = 32;      // of a polynomial of degree 31

// The __constant__ variables of a file have 64 KiB between them, and the table takes them all. So
// the coefficients use the same bytes, at another time: the host copies one or the other first.
__constant__ union ConstantWords {
  int table[kWords];
  float coefficients[kCoefficients];
} constant_words;

__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// Which word of the table thread i adds. What differs is how many words the lanes of a warp want.
enum Pattern { kPerBlock, kPerWarp, kPerThread, kScattered };
template <Pattern kPattern>
__device__ std::size_t word_of(std::size_t i) {
  if constexpr (kPattern == kPerBlock) {
    return blockIdx.x % kWords;
  } else if constexpr (kPattern == kPerWarp) {
    return i / kWarp % kWords;
  } else if constexpr (kPattern == kPerThread) {
    return i % kWords;
  } else {
    return i * 1357 % kWords;  // an odd step: 32 lanes meet 32 words, 5 KiB apart
  }
}

template <Pattern kPattern>
__global__ void add_constant(const int* x, std::size_t n, int* y) {
  const std::size_t i = global_index();
  if (i < n) y[i] = x[i] + constant_words.table[word_of<kPattern>(i)];
}

template <Pattern kPattern>
__global__ void add_global(const int* x, std::size_t n, const int* table, int* y) {
  const std::size_t i = global_index();
  if (i < n) y[i] = x[i] + table[word_of<kPattern>(i)];
}

// __restrict__ is a promise: nothing that this kernel writes through another pointer is in the
// table. So the table does not change while the kernel runs, and loads may take the read-only path.
// __ldg() demands that path, which `const ... __restrict__` alone only allows.
template <Pattern kPattern>
__global__ void add_readonly(const int* __restrict__ x, std::size_t n,
                             const int* __restrict__ table, int* __restrict__ y) {
  const std::size_t i = global_index();
  if (i < n) y[i] = x[i] + __ldg(&table[word_of<kPattern>(i)]);
}

// What the additions cost without any table: the second operand is in a register already.
__global__ void add_register(const int* x, std::size_t n, int* y) {
  const std::size_t i = global_index();
  if (i < n) y[i] = x[i] + static_cast<int>(threadIdx.x);
}

// Adds `word` to four elements that lie side by side: one load and one store of 16 bytes. The last
// thread may have fewer, and takes them one at a time.
__device__ void add_to_four(const int* x, std::size_t n, int word, int* y) {
  const std::size_t i = 4 * global_index();
  if (i + 4 <= n) {
    const int4 v = reinterpret_cast<const int4*>(x)[i / 4];
    reinterpret_cast<int4*>(y)[i / 4] = {v.x + word, v.y + word, v.z + word, v.w + word};
  } else {
    for (std::size_t k = i; k < n; ++k) y[k] = x[k] + word;
  }
}

__global__ void add_register_wide(const int* x, std::size_t n, int* y) {
  add_to_four(x, n, static_cast<int>(threadIdx.x), y);
}

__global__ void add_block_wide(const int* x, std::size_t n, int* y) {
  add_to_four(x, n, constant_words.table[blockIdx.x % kWords], y);
}

// Horner's rule. Every thread needs the same coefficient at the same time. Unrolled, its address is
// known to the compiler: one uniform load brings two of them, once for the whole warp.
__global__ void polynomial_constant(const float* x, std::size_t n, float* y) {
  const std::size_t i = global_index();
  if (i >= n) return;
  float value = 0;
#pragma unroll
  for (int k = kCoefficients - 1; k >= 0; --k) {
    value = value * x[i] + constant_words.coefficients[k];
  }
  y[i] = value;
}

// The same from global memory: a load for every multiply-add, into a register of every lane.
__global__ void polynomial_readonly(const float* __restrict__ x, std::size_t n,
                                    const float* __restrict__ coefficients, float* __restrict__ y) {
  const std::size_t i = global_index();
  if (i >= n) return;
  float value = 0;
#pragma unroll
  for (int k = kCoefficients - 1; k >= 0; --k) {
    value = value * x[i] + __ldg(&coefficients[k]);
  }
  y[i] = value;
}

// ---- the versions ------------------------------------------------------------------------------

// n elements of x, a table, and y, all of them in device memory, for blocks of `block` threads.
template <class T>
struct Arrays {
  std::vector<T> h_x, h_table;
  unsigned block;
  std::size_t n = h_x.size();
  unsigned grid = blocks_for(n, block);  // with an element per thread
  DeviceArray<T> x{h_x}, table{h_table}, y{n};

  void poison() const { y.poison(); }
};

struct Additions : Arrays<int> {
  // `sharing` elements in a row get the same word of the table, the next ones the word `step`
  // further on; after `words` of them it begins again.
  bool adds(const std::string& version, std::size_t sharing, std::size_t step = 1,
            std::size_t words = kWords) const {
    std::vector<int> expected = h_x;
    for (std::size_t i = 0; i < n; ++i) expected[i] += h_table[i / sharing * step % words];
    return all_equal(version, y.download(), expected);
  }
  bool per_block(const std::string& version) const { return adds(version, block); }
  bool per_warp(const std::string& version) const { return adds(version, kWarp); }
  bool per_thread(const std::string& version) const { return adds(version, 1); }
  bool scattered(const std::string& version) const { return adds(version, 1, 1357); }
  bool wide_per_block(const std::string& version) const { return adds(version, 4 * block); }

  // A thread's number in its block is what word 0, 1, 2, ... of the table says, too.
  bool number(const std::string& version) const { return adds(version, 1, 1, block); }
  bool wide_number(const std::string& version) const { return adds(version, 4, 1, block); }
};

// Where the table is.
enum Source { kConstant, kGlobal, kReadonly };

template <Pattern kPattern, Source kSource>
void add(const Additions& d) {
  if (kSource == kConstant) add_constant<kPattern><<<d.grid, d.block>>>(d.x, d.n, d.y);
  if (kSource == kGlobal) add_global<kPattern><<<d.grid, d.block>>>(d.x, d.n, d.table, d.y);
  if (kSource == kReadonly) add_readonly<kPattern><<<d.grid, d.block>>>(d.x, d.n, d.table, d.y);
}

const Version<Additions> kAdditions[] = {
    {"block_constant", "one word per block", add<kPerBlock, kConstant>, &Additions::per_block},
    {"block_global", "from global memory", add<kPerBlock, kGlobal>, &Additions::per_block},
    {"block_readonly", "the read-only path", add<kPerBlock, kReadonly>, &Additions::per_block},
    {"warp_constant", "one word per warp", add<kPerWarp, kConstant>, &Additions::per_warp},
    {"warp_global", "from global memory", add<kPerWarp, kGlobal>, &Additions::per_warp},
    {"warp_readonly", "the read-only path", add<kPerWarp, kReadonly>, &Additions::per_warp},
    {"thread_constant", "one word per thread", add<kPerThread, kConstant>, &Additions::per_thread},
    {"thread_global", "from global memory", add<kPerThread, kGlobal>, &Additions::per_thread},
    {"thread_readonly", "the read-only path", add<kPerThread, kReadonly>, &Additions::per_thread},
    {"random_constant", "scattered words", add<kScattered, kConstant>, &Additions::scattered},
    {"random_global", "from global memory", add<kScattered, kGlobal>, &Additions::scattered},
    {"random_readonly", "the read-only path", add<kScattered, kReadonly>, &Additions::scattered},
    {"register", "no table: what is added is in a register",
     [](auto& d) { add_register<<<d.grid, d.block>>>(d.x, d.n, d.y); }, &Additions::number},
    {"register_wide", "the same, 16 bytes per thread",
     [](auto& d) { add_register_wide<<<blocks_for(d.n, 4 * d.block), d.block>>>(d.x, d.n, d.y); },
     &Additions::wide_number},
    {"block_wide", "one word per block, 16 bytes per thread",
     [](auto& d) { add_block_wide<<<blocks_for(d.n, 4 * d.block), d.block>>>(d.x, d.n, d.y); },
     &Additions::wide_per_block},
};

struct Polynomial : Arrays<float> {
  // y must be (1 + 2x)^31. No x is negative, so no term is, and the sum's relative error is at most
  // that of a term: 62 roundings in its coefficient and 62 in Horner's rule, each of at most 2^-24.
  bool is_right(const std::string& version) const {
    std::vector<double> exact(n);
    for (std::size_t i = 0; i < n; ++i) exact[i] = std::pow(1 + 2.0 * h_x[i], kCoefficients - 1);
    return all_close(version, y.download(), exact, [&](std::size_t i) { return 1e-5 * exact[i]; });
  }
};

const Version<Polynomial> kPolynomials[] = {
    {"polynomial_constant", "a polynomial, its coefficients in constant memory",
     [](auto& d) { polynomial_constant<<<d.grid, d.block>>>(d.x, d.n, d.y); }},
    {"polynomial_readonly", "its coefficients by the read-only path",
     [](auto& d) { polynomial_readonly<<<d.grid, d.block>>>(d.x, d.n, d.table, d.y); }},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 12800000 : 128000, block = 1024;
  const Options opt(argc, argv, "06_constant_memory", "when is the constant cache right?",
                    {{"n", &n, 1, 1_Gi, "elements"}, {"block", &block, 1, 1024, "of additions"}});
  ResultTable table(opt, 2 * n * sizeof(int), sizeof(constant_words));
  table.rate_in("GB/s", "copy", measured_copy_gbps(2 * n * sizeof(int)));
  table.without_speedup();  // the rows are to be compared pattern by pattern

  std::vector<int> words(kWords);
  std::iota(words.begin(), words.end(), 0);  // no word is like another
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, words.data(), sizeof(constant_words)));
  const Additions sums{{random_ints(n, -9, 9, opt.seed), words, static_cast<unsigned>(block)}};
  for (const auto& version : kAdditions) table.add(version, sums);

  std::vector<float> coefficients(kCoefficients, 1);  // of (1 + 2x)^31
  for (int k = 1; k < kCoefficients; ++k)
    coefficients[k] = coefficients[k - 1] * 2 * (kCoefficients - k) / k;
  // In blocks of 256 threads: with 1024 the additions are slower.
  const Polynomial values{{random_floats(n, 0, 4, opt.seed + 2), coefficients, 256}};
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, coefficients.data(), values.table.bytes()));
  for (const auto& version : kPolynomials) table.add(version, values);
  return table.finish();
}
