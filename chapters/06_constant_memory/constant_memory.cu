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
// Run: make run CH=06, with ARGS= "--sweep distinct", "--show copies", "--try large_copy" for more

#include <vector>

#include "../../common/common.cuh"

constexpr std::size_t kWarp = 32;
constexpr std::size_t kWords = 16384;  // ints in the table: 64 KiB, all there is
constexpr int kCoefficients = 32;      // of a polynomial of degree 31

// The __constant__ variables of a file have 64 KiB between them, and the table takes them all. So
// the coefficients use the same bytes, at another time: the host copies one or the other first.
union ConstantWords {
  int table[kWords];
  float coefficients[kCoefficients];
};
__constant__ ConstantWords constant_words;  // kernels use it by its name; it is no argument

__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// Which word of the table thread i adds. What differs is how many words the lanes of a warp want.
// 1357 is odd: 32 threads in a row meet 32 words, 5 KiB from one to the next, modulo the table.
enum class Pattern { kBlock, kWarp, kThread, kRandom };
template <Pattern kPattern>
__device__ std::size_t word_of(std::size_t i) {
  if constexpr (kPattern == Pattern::kBlock) {
    return blockIdx.x % kWords;
  } else if constexpr (kPattern == Pattern::kWarp) {
    return i / kWarp % kWords;
  } else if constexpr (kPattern == Pattern::kThread) {
    return i % kWords;
  } else {
    return i * 1357 % kWords;
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

// Horner's rule. Every thread needs the same coefficient at the same time. Unrolled, its address is
// known to the compiler: one load serves a whole warp, or the multiply-add fetches it by itself.
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

// The same from global memory: a load for every multiply-add, though all but the first hit the L1.
__global__ void polynomial_readonly(const float* __restrict__ x, std::size_t n,
                                    const float* __restrict__ coefficients, float* __restrict__ y) {
  const std::size_t i = global_index();
  if (i >= n) return;
  float value = 0;
#pragma unroll
  for (int k = kCoefficients - 1; k >= 0; --k) value = value * x[i] + __ldg(&coefficients[k]);
  y[i] = value;
}

#include "symbol_copies.cuh"  // constant memory, from the host

// ---- the versions ------------------------------------------------------------------------------

constexpr std::size_t kMaxBlock = 1024;
constexpr std::size_t kMaxN = 1_Gi;
constexpr int kLimit = 999999;  // of a value; 1024 of them can be added in an int

// What the twelve read and write, one thread per sum. The table is also in constant memory.
struct Additions {
  std::vector<int> h_x, h_table;
  unsigned block;
  std::size_t n = h_x.size();
  unsigned grid = static_cast<unsigned>(std::max<std::size_t>(1, div_up(n, block)));
  DeviceArray<int> x{h_x}, table{h_table}, y{n};
};

template <Pattern kPattern>
void launch_constant(const Additions& d) {
  add_constant<kPattern><<<d.grid, d.block>>>(d.x.get(), d.n, d.y.get());
}
template <Pattern kPattern>
void launch_global(const Additions& d) {
  add_global<kPattern><<<d.grid, d.block>>>(d.x.get(), d.n, d.table.get(), d.y.get());
}
template <Pattern kPattern>
void launch_readonly(const Additions& d) {
  add_readonly<kPattern><<<d.grid, d.block>>>(d.x.get(), d.n, d.table.get(), d.y.get());
}

const Version<Additions> kVersions[] = {
    {"block_constant", "one word per block, from constant memory",
     launch_constant<Pattern::kBlock>},
    {"block_global", "the same from global memory", launch_global<Pattern::kBlock>},
    {"block_readonly", "the same by the read-only path", launch_readonly<Pattern::kBlock>},
    {"warp_constant", "one word per warp, from constant memory", launch_constant<Pattern::kWarp>},
    {"warp_global", "the same from global memory", launch_global<Pattern::kWarp>},
    {"warp_readonly", "the same by the read-only path", launch_readonly<Pattern::kWarp>},
    {"thread_constant", "one word per thread, from constant memory",
     launch_constant<Pattern::kThread>},
    {"thread_global", "the same from global memory", launch_global<Pattern::kThread>},
    {"thread_readonly", "the same by the read-only path", launch_readonly<Pattern::kThread>},
    {"random_constant", "scattered words, from constant memory", launch_constant<Pattern::kRandom>},
    {"random_global", "the same from global memory", launch_global<Pattern::kRandom>},
    {"random_readonly", "the same by the read-only path", launch_readonly<Pattern::kRandom>},
};

// The patterns have the initials of their names.
Pattern pattern_of(const std::string& version) {
  return static_cast<Pattern>(std::string("bwtr").find(version[0]));
}

std::size_t expected_word(Pattern pattern, std::size_t i, std::size_t block) {
  const std::size_t numbers[] = {i / block, i / kWarp, i, i * 1357};
  return numbers[static_cast<int>(pattern)] % kWords;
}

// Compares every sum with the host's.
bool check(const std::string& version, const Additions& d) {
  const Pattern p = pattern_of(version);
  std::vector<int> expected = d.h_x;
  for (std::size_t i = 0; i < d.n; ++i) expected[i] += d.h_table[expected_word(p, i, d.block)];
  return all_equal(version, d.y.download().data(), expected.data(), d.n);
}

#include "distinct_words.cuh"    // --sweep
#include "polynomial.cuh"        // what the polynomial_* read and write, and their rows
#include "register_operand.cuh"  // three more rows, on the same ints
#include "symbol_rows.cuh"       // --show copies
#include "within_block.cuh"      // --show within_block

// The rows depend on what is shown.
void name_rows(Options& opt, const std::string& sweep, const std::string& show) {
  if (!sweep.empty()) return distinct_words::name_rows(opt);
  if (show == "copies") return symbol_rows::name_rows(opt);
  show.empty() ? opt.versions(kVersions) : opt.versions(within_block::kVersions);
  opt.versions(register_operand::kVersions);
  if (show.empty()) opt.versions(polynomial::kVersions);
}

// Prints the rows of the additions, the published patterns if `show` says so. Returns the exit
// status of the program.
int add_rows(ResultTable& table, const Device& device, const Additions& data,
             const std::string& show) {
  if (kOnGpu) table.rate_in_gbps("copy", measure_yardstick(device, 2 * data.x.bytes()).copy_gbps);
  table.without_speedup();  // the rows are to be compared pattern by pattern
  if (show.empty()) {
    add_version_rows(
        table, kVersions, data, 2.0 * static_cast<double>(data.x.bytes()), [&] { data.y.poison(); },
        [&](const char* version) { return check(version, data); });
  } else {
    within_block::add_rows(table, data);
  }
  register_operand::add_rows(table, data);
  if (show.empty()) polynomial::add_rows(table, data.n);
  return table.finish();
}

int main(int argc, char** argv) {
  Options opt("06_constant_memory", "when is the constant cache right?");
  std::size_t n = 0, block = 1024;
  std::string sweep, show, attempt;
  opt.add("n", &n, 1, kMaxN,
          kOnGpu ? "additions [12800000; in a sweep: the threads that the device holds]"
                 : "additions [128000; in a sweep: the threads that the device holds]");
  opt.add("block", &block, 1, kMaxBlock, "threads per block");
  distinct_words::add_option(opt, &sweep);
  opt.add("show", &show, {"within_block", "copies"}, "the published patterns; copies of symbols");
  opt.add("try", &attempt, {"large_copy"}, "a copy that has to be refused");
  opt.parse(argc, argv, [&] { name_rows(opt, sweep, show); });
  const Device device = open_device(opt);
  if (n == 0) n = !sweep.empty() ? device.thread_slots() : kOnGpu ? 12800000 : 128000;
  require_device_memory(opt, "--n " + std::to_string(n), (4 * n + 2 * kWords) * sizeof(int));
  const std::vector<int> words = random_ints(kWords, -kLimit, kLimit, opt.seed);
  if (!upload_words(words)) return kExitWrong;
  if (attempt == "large_copy") return try_large_copy(words);
  if (show == "copies") return symbol_rows::run(opt, device, words);
  const Additions data = {random_ints(n, -kLimit, kLimit, opt.seed + 1), words,
                          static_cast<unsigned>(block)};
  const std::string size = "n = " + std::to_string(n) + " · block " + std::to_string(block);
  ResultTable table(opt, device, (sweep.empty() ? "" : sweep + " sweep · ") + size,
                    (sweep.empty() ? 2 : 1) * data.x.bytes() + data.table.bytes());
  if (!sweep.empty()) return distinct_words::run_sweep(table, device, data, sweep);
  return add_rows(table, device, data, show);
}
