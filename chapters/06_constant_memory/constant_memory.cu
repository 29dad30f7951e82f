// SPDX-License-Identifier: MIT
// Chapter 06: when is the constant cache right?
//
// Twelve versions of y[i] = x[i] + table[w]: PATTERN_SOURCE, four patterns for w, three sources.
//   block_*   one word per block    *_constant  the table in constant memory
//   warp_*    one word per warp     *_global    the table in global memory
//   thread_*  one word per thread   *_readonly  the same through the read-only path
//   random_*  scattered words
// polynomial_constant, polynomial_readonly   a use: 32 coefficients that every thread needs
// Run: make run CH=06
//      make run CH=06 ARGS="--sweep distinct"    1 to 32 different words per load of a warp
//      make run CH=06 ARGS="--try large_copy"    a copy that does not fit is refused

#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "constant_words.cuh"  // the __constant__ variable
#include "distinct_words.cuh"  // --sweep
#include "polynomial.cuh"      // polynomial_*

constexpr std::size_t kMaxBlock = 1024;
constexpr std::size_t kMaxN = 1_Gi;

enum class Pattern { kBlock, kWarp, kThread, kRandom };

// ---- host reference ----------------------------------------------------------------------------

std::size_t expected_word(Pattern pattern, std::size_t i, std::size_t block) {
  const std::size_t numbers[] = {i / block, i / kWarp, i, i * 1357};
  return numbers[static_cast<int>(pattern)] % kWords;
}

std::vector<int> expected_sums(Pattern pattern, const std::vector<int>& x,
                               const std::vector<int>& table, std::size_t block) {
  std::vector<int> y(x.size());
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + table[expected_word(pattern, i, block)];
  return y;
}

// ---- kernels -----------------------------------------------------------------------------------

// Which word of the table thread i adds. The patterns differ in one thing: how many different words
// the 32 lanes of a warp ask for. 1357 is odd: 32 threads in a row meet 32 words, 5 KiB from one to
// the next.
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

// A __constant__ variable is used by its name; it is no argument of the kernel.
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

// ---- the versions ------------------------------------------------------------------------------

template <Pattern kPattern>
void launch_constant(const Problem& p) {
  add_constant<kPattern><<<p.grid, p.block>>>(p.x, p.n, p.y);
}
template <Pattern kPattern>
void launch_global(const Problem& p) {
  add_global<kPattern><<<p.grid, p.block>>>(p.x, p.n, p.table, p.y);
}
template <Pattern kPattern>
void launch_readonly(const Problem& p) {
  add_readonly<kPattern><<<p.grid, p.block>>>(p.x, p.n, p.table, p.y);
}

const Version<Problem> kVersions[] = {
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

Pattern pattern_of(const std::string& version) {
  return version[0] == 'b'   ? Pattern::kBlock
         : version[0] == 'w' ? Pattern::kWarp
         : version[0] == 't' ? Pattern::kThread
                             : Pattern::kRandom;
}

// ---- constant memory, from the host -------------------------------------------------------------

// The host writes constant memory by the name of the variable. In two halves, to show the offset:
// like the size it counts bytes.
void upload_words(const std::vector<int>& words) {
  constexpr std::size_t kHalf = sizeof(constant_words) / 2;
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, words.data(), kHalf));
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, words.data() + kWords / 2, kHalf, kHalf));
}

std::vector<int> download_words() {
  std::vector<int> words(kWords);
  CUDA_CHECK(cudaMemcpyFromSymbol(words.data(), constant_words, sizeof(constant_words)));
  return words;
}

// One int too many. The runtime knows how large the variable is, refuses, and copies nothing. A
// program that can go on without the copy looks at the code instead of ending at it.
int try_large_copy(const std::vector<int>& words) {
  const std::vector<int> longer(kWords + 1, -1);
  const std::size_t bytes = longer.size() * sizeof(int);
  const cudaError_t status = cudaMemcpyToSymbol(constant_words, longer.data(), bytes);
  std::printf("%zu bytes to a variable of %zu: %s: %s\n", bytes, sizeof(constant_words),
              cudaGetErrorName(status), cudaGetErrorString(status));
  CUDA_CHECK(cudaGetLastError() == status ? cudaSuccess : cudaErrorUnknown);  // and now forgotten
  const bool unchanged =
      all_equal("constant memory", download_words().data(), words.data(), kWords);
  std::printf("handled: the table is %s\n", unchanged ? "as it was" : "DAMAGED");
  return status != cudaSuccess && unchanged ? kExitOk : kExitWrong;
}

// ---- checks and measurements -------------------------------------------------------------------

void run_additions(ResultTable& table, const Options& opt, const Problem& p,
                   const std::vector<int>& x, const std::vector<int>& words) {
  for (const auto& version : kVersions) {
    if (!opt.wants(version.name)) continue;
    const std::vector<int> expected = expected_sums(pattern_of(version.name), x, words, p.block);
    // Poison: a version that writes nothing must not pass on what the one before it left.
    CUDA_CHECK(cudaMemset(p.y, 0xff, p.n * sizeof(int)));
    add_measured_row(
        table, opt, version.name, 2.0 * static_cast<double>(p.n) * sizeof(int),
        [&] { version.launch(p); }, [&] { return check(version.name, p, expected); });
  }
}

int main(int argc, char** argv) {
  Options opt("06_constant_memory", "when is the constant cache right?");
  std::size_t n = 0, block = 1024;
  std::string sweep, attempt;
  opt.add("n", &n, 1, kMaxN,
          kOnGpu ? "additions [12800000; in a sweep: the threads that the device holds]"
                 : "additions [128000; in a sweep: the threads that the device holds]");
  opt.add("block", &block, 1, kMaxBlock, "threads per block");
  opt.add("sweep", &sweep, {"distinct", "spread"},
          "1 to 32 words per load of a warp, side by side or far apart");
  opt.add("try", &attempt, {"large_copy"}, "a copy that has to be refused");
  opt.parse(argc, argv, [&] {  // the rows of a sweep are its versions
    if (sweep.empty()) {
      opt.versions(kVersions);
      opt.versions(kPolynomials);
      return;
    }
    for (unsigned d = 1; d <= kWarp; ++d) {
      opt.version(kFromConstant + std::to_string(d), "words per load, constant memory");
    }
    for (unsigned d = 1; d <= kWarp; d *= 2) {
      opt.version(kFromGlobal + std::to_string(d), "words per load, global memory");
    }
  });
  const Device device = open_device(opt);
  if (n == 0) n = !sweep.empty() ? device.thread_slots() : kOnGpu ? 12800000 : 128000;
  const std::size_t bytes = n * sizeof(int), table_bytes = kWords * sizeof(int);
  require_device_memory(opt, "--n " + std::to_string(n), 4 * bytes + 2 * table_bytes);

  const std::vector<int> words = random_ints(kWords, -kLimit, kLimit, opt.seed);
  upload_words(words);
  if (!all_equal("constant memory", download_words().data(), words.data(), kWords)) {
    return kExitWrong;
  }
  if (attempt == "large_copy") return try_large_copy(words);

  const std::vector<int> x = random_ints(n, -kLimit, kLimit, opt.seed + 1);
  int *d_x = nullptr, *d_words = nullptr, *d_y = nullptr;
  CUDA_CHECK(cudaMalloc(&d_x, bytes));
  CUDA_CHECK(cudaMalloc(&d_words, table_bytes));
  CUDA_CHECK(cudaMalloc(&d_y, bytes));
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(d_words, words.data(), table_bytes, cudaMemcpyHostToDevice));
  const auto grid = static_cast<unsigned>(div_up(n, block));
  const Problem p = {d_x, d_words, d_y, n, grid, static_cast<unsigned>(block)};

  const std::string workload = "n = " + std::to_string(n) + " · block " + std::to_string(block);
  ResultTable table(opt, device, (sweep.empty() ? "" : sweep + " sweep · ") + workload,
                    (sweep.empty() ? 2 * bytes : bytes) + table_bytes);
  if (sweep.empty()) {
    if (kOnGpu) table.rate_in_gbps("copy", measure_yardstick(device).copy_gbps);
    table.without_speedup();  // the rows are to be compared pattern by pattern
    run_additions(table, opt, p, x, words);
    run_polynomials(table, opt, n);
  } else {
    if (kOnGpu) table.rate_in("ns/load");
    run_sweep(table, opt, device, p, sweep == "spread" ? kSpread : kClose, words);
  }
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_words));
  CUDA_CHECK(cudaFree(d_y));
  return table.finish();
}
