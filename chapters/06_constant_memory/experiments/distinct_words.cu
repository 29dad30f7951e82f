// SPDX-License-Identifier: MIT
// How long does a load take, by the number of different words that a warp asks for?
//
// distinct=1 ... distinct=32  from constant memory
// global=1 ... global=32      from global memory
// address=32                  from constant memory by its address: a load like any other
// Far apart instead of side by side: ARGS="--step 1357 --window 16Ki"

#include "../../../common/common.cuh"

constexpr std::size_t kWarp = 32;
constexpr std::size_t kWords = 16384;            // ints in the table: 64 KiB
constexpr unsigned kLoads = kOnGpu ? 1024 : 64;  // per thread

__constant__ int constant_words[kWords];

__device__ std::size_t global_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// How the words lie: load k of a warp reads some of the words 32k ... 32k+31, each times `step`,
// modulo `window`, a power of two. With an odd step all 32 of them are different.
struct Walk {
  unsigned step, window;
};

// `loads` loads per thread, each of `distinct` different words per warp, and next to nothing else
// to do. `& (window - 1)` is the remainder for a power of two.
__global__ void walk_constant(Walk walk, unsigned distinct, unsigned loads, std::size_t n, int* y) {
  const std::size_t i = global_index();
  const unsigned mine = threadIdx.x % kWarp % distinct;
  int sum = 0;
  for (unsigned k = 0; k < loads; ++k)
    sum += constant_words[(k * kWarp + mine) * walk.step & (walk.window - 1)];
  if (i < n) y[i] = sum;
}

__global__ void walk_global(Walk walk, unsigned distinct, unsigned loads, std::size_t n,
                            const int* table, int* y) {
  const std::size_t i = global_index();
  const unsigned mine = threadIdx.x % kWarp % distinct;
  int sum = 0;
  for (unsigned k = 0; k < loads; ++k)
    sum += table[(k * kWarp + mine) * walk.step & (walk.window - 1)];
  if (i < n) y[i] = sum;
}

// n threads that walk through a table, each with so many loads.
struct Walks {
  std::vector<int> h_table;
  Walk walk;
  unsigned block, loads, multiprocessors;
  std::size_t n;
  unsigned grid = blocks_for(n, block);
  DeviceArray<int> table{h_table}, y{n};

  // Without an address the words are read by their name.
  void launch(const int* from, unsigned distinct) const {
    if (from == nullptr)
      walk_constant<<<grid, block>>>(walk, distinct, loads, n, y);
    else
      walk_global<<<grid, block>>>(walk, distinct, loads, n, from, y);
    CUDA_CHECK_LAUNCH();
  }

  // What a thread adds up depends on its lane only, and there are only 32 lanes.
  bool is_right(const std::string& name, unsigned distinct) const {
    std::vector<int> of_lane(kWarp, 0), expected(n);
    for (std::size_t lane = 0; lane < kWarp; ++lane)
      for (std::size_t k = 0; k < loads; ++k)
        of_lane[lane] += h_table[(k * kWarp + lane % distinct) * walk.step % walk.window];
    for (std::size_t i = 0; i < n; ++i) expected[i] = of_lane[i % block % kWarp];
    return all_equal(name, y.download(), expected);
  }

  // For how many nanoseconds one load of a warp occupies its multiprocessor.
  double load_ns(double ms) const {
    return ms * 1e6 * multiprocessors / (static_cast<double>(div_up(n, kWarp)) * loads);
  }
};

// A kernel that gets this address reads the constant words as it reads all global memory.
int* address_of_constant_words() {
  void* address = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&address, constant_words));
  return static_cast<int*>(address);
}

// Base and slope of the line y = base + slope * x with the smallest sum of squared distances in y,
// for x = 1, 2, 3, ...
std::pair<double, double> fit_line(const std::vector<double>& y) {
  const double count = y.size();
  const double mean_x = (count + 1) / 2, mean_y = std::accumulate(y.begin(), y.end(), 0.0) / count;
  double along_both = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    along_both += (static_cast<double>(i + 1) - mean_x) * (y[i] - mean_y);
  const double slope = along_both / (count * (count * count - 1) / 12);
  return {mean_y - slope * mean_x, slope};
}

// One row. Returns its nanoseconds per load; 0 if the row is not wanted.
double add_row(ResultTable& table, const Walks& walks, const std::string& kind, const int* from,
               unsigned distinct) {
  const std::string name = kind + std::to_string(distinct);
  if (!table.wants(name, "different words per load of a warp")) return 0;
  walks.y.poison();
  walks.launch(from, distinct);
  const bool right = walks.is_right(name, distinct);
  const Timing t = time_launches(table.opt.samples, [&] { walks.launch(from, distinct); });
  const double ns = walks.load_ns(t.median_ms);
  table.row(name, t, ns, walks.is_right(name, distinct) && right);
  return ns;
}

int main(int argc, char** argv) {
  std::size_t n = 0, block = 1024, step = 1, window = 256;
  const Options opt(argc, argv, "06_distinct_words", "how long does a load of so many words take?",
                    {{"n", &n, 1, 1_Gi, "threads [as many as the device holds]"},
                     {"block", &block, 1, 1024, "threads per block"},
                     {"step", &step, 1, kWords, "words from one lane's to the next lane's"},
                     {"window", &window, 1, kWords, "words that are walked through: 2^k"}});
  if ((window & (window - 1)) != 0) opt.usage_error("--window: expected a power of two");
  const Device device = open_device(opt);
  const unsigned multiprocessors = device.multiProcessorCount;
  if (n == 0) n = std::size_t{multiprocessors} * device.maxThreadsPerMultiProcessor;
  ResultTable table(opt, (n + kWords) * sizeof(int));
  table.rate_in("ns/load");
  table.without_speedup();
  const std::vector<int> words = random_ints(kWords, -999999, 999999, opt.seed);  // sums fit an int
  const Walk walk{static_cast<unsigned>(step), static_cast<unsigned>(window)};
  const Walks walks{words, walk, static_cast<unsigned>(block), kLoads, multiprocessors, n};
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, words.data(), sizeof(constant_words)));
  std::vector<double> ns;
  for (unsigned distinct = 1; distinct <= kWarp; ++distinct)
    ns.push_back(add_row(table, walks, "distinct=", nullptr, distinct));
  for (unsigned distinct = 1; distinct <= kWarp; distinct *= 2)
    add_row(table, walks, "global=", walks.table, distinct);
  add_row(table, walks, "address=", address_of_constant_words(), kWarp);
  if (kOnGpu && *std::min_element(ns.begin(), ns.end()) > 0) {  // all rows were wanted
    const auto [base, slope] = fit_line(ns);
    table.measured("fit_base", base, "ns/load");
    table.measured("fit_per_word", slope, "ns/word",
                   "constant memory, fitted line: a load of a warp takes ", base, " ns and ", slope,
                   " ns per distinct word");
  }
  return table.finish();
}
