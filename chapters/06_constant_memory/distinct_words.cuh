// SPDX-License-Identifier: MIT
// Chapter 06, the sweeps: how long a load takes by the number of different words that a warp asks
// for. Included by constant_memory.cu, whose table the kernels walk through.
#pragma once

#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "../../common/line_fit.cuh"

// How the words of a sweep lie: load k of a warp reads some of the words 32k ... 32k+31, each times
// `step`, modulo `window`, a power of two. With an odd step all 32 of them are different.
struct Walk {
  unsigned step, window;
};
constexpr Walk kClose{1, 256};         // neighbours, and 1 KiB in all: every cache holds it
constexpr Walk kSpread{1357, kWords};  // 5 KiB further each time, modulo the table

// `loads` loads per thread, each of `distinct` different words per warp, and next to nothing else
// to do. `& (window - 1)` is the remainder for a power of two.
__global__ void walk_constant(Walk walk, unsigned distinct, unsigned loads, std::size_t n, int* y) {
  const std::size_t i = global_index();
  const unsigned mine = threadIdx.x % kWarp % distinct;
  int sum = 0;
  for (unsigned k = 0; k < loads; ++k) {
    sum += constant_words.table[(k * kWarp + mine) * walk.step & (walk.window - 1)];
  }
  if (i < n) y[i] = sum;
}

__global__ void walk_global(Walk walk, unsigned distinct, unsigned loads, std::size_t n,
                            const int* table, int* y) {
  const std::size_t i = global_index();
  const unsigned mine = threadIdx.x % kWarp % distinct;
  int sum = 0;
  for (unsigned k = 0; k < loads; ++k) {
    sum += table[(k * kWarp + mine) * walk.step & (walk.window - 1)];
  }
  if (i < n) y[i] = sum;
}

// What each thread adds up. It depends on its lane only, and there are only 32 lanes.
std::vector<int> expected_walk(Walk walk, unsigned distinct, unsigned loads, std::size_t n,
                               std::size_t block, const std::vector<int>& table) {
  std::vector<int> of_lane(kWarp, 0), y(n);
  for (std::size_t lane = 0; lane < kWarp; ++lane) {
    for (std::size_t k = 0; k < loads; ++k) {
      of_lane[lane] += table[(k * kWarp + lane % distinct) * walk.step % walk.window];
    }
  }
  for (std::size_t i = 0; i < n; ++i) y[i] = of_lane[i % block % kWarp];
  return y;
}

namespace distinct_words {

constexpr unsigned kLoads = kOnGpu ? 1024 : 64;  // per thread
const char* const kFromConstant = "distinct=";   // how the rows of a sweep are called
const char* const kFromGlobal = "global=";

void add_option(Options& opt, std::string* sweep) {
  opt.add("sweep", sweep, {"distinct", "spread"},
          "1 to 32 words per load of a warp, side by side or far apart");
}

// The rows of a sweep: one per number of different words from constant memory, and a few from
// global memory.
void name_rows(Options& opt) {
  for (unsigned d = 1; d <= kWarp; ++d) {
    opt.version(kFromConstant + std::to_string(d), "words per load, constant memory");
  }
  for (unsigned d = 1; d <= kWarp; d *= 2) {
    opt.version(kFromGlobal + std::to_string(d), "words per load, global memory");
  }
}

// The time in nanoseconds for which one load of a warp occupies its multiprocessor, when n threads
// make `loads` each in so many milliseconds.
double load_ns(double ms, std::size_t n, unsigned loads, int sm_count) {
  const double loads_per_sm = static_cast<double>(div_up(n, kWarp)) * loads / sm_count;
  return ms * 1e6 / loads_per_sm;
}

// Measures them and ends the table; returns the program's exit status.
int run_sweep(ResultTable& table, const Device& device, const Additions& a,
              const std::string& sweep) {
  if (kOnGpu) table.rate_in("ns/load");
  const Options& opt = table.options();
  const Walk walk = sweep == "spread" ? kSpread : kClose;
  std::vector<double> distinct_words, ns_per_load;
  const auto add_row = [&](const char* source, unsigned distinct, auto&& launch) {
    const std::string name = source + std::to_string(distinct);
    if (!opt.wants(name)) return;
    const std::vector<int> expected =
        expected_walk(walk, distinct, kLoads, a.n, a.block, a.h_table);
    const Measured m = measure_checked(
        opt.samples, [&] { a.y.poison(); }, launch,
        [&] { return all_equal(name, a.y.download().data(), expected.data(), a.n); });
    const double ns = load_ns(m.time.median_ms, a.n, kLoads, device.sm_count);
    table.add_with_rate(name, m.time, ns, m.ok);
    if (source != kFromConstant) return;
    distinct_words.push_back(distinct);
    ns_per_load.push_back(ns);
  };
  for (unsigned d = 1; d <= kWarp; ++d) {
    add_row(kFromConstant, d,
            [&] { walk_constant<<<a.grid, a.block>>>(walk, d, kLoads, a.n, a.y.get()); });
  }
  for (unsigned d = 1; d <= kWarp; d *= 2) {
    add_row(kFromGlobal, d, [&] {
      walk_global<<<a.grid, a.block>>>(walk, d, kLoads, a.n, a.table.get(), a.y.get());
    });
  }
  // Times on the CPU backend say nothing about a GPU, and a line needs two points.
  if (kOnGpu && ns_per_load.size() > 1) {
    const Line line = fit_line(distinct_words, ns_per_load);
    table.measured("fit_base", line.base, "ns/load", "");
    table.measured("fit_per_word", line.slope, "ns/word",
                   "constant memory, fitted line: a load of a warp takes " +
                       digits_text(line.base) + " ns and " + digits_text(line.slope) +
                       " ns per distinct word");
  }
  return table.finish();
}

}  // namespace distinct_words
