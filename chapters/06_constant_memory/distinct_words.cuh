// SPDX-License-Identifier: MIT
// The sweeps: how long a load takes by the number of different words that a warp asks for.
#pragma once

#include <string>
#include <vector>

#include "../../common/line_fit.cuh"
#include "constant_words.cuh"

constexpr unsigned kLoads = kOnGpu ? 1024 : 64;  // per thread

// How the words of a sweep lie: load k of a warp reads some of the words 32k ... 32k+31, each times
// `step`, modulo `window`, a power of two. With an odd step all 32 of them are different.
struct Walk {
  unsigned step, window;
};
constexpr Walk kClose{1, 256};         // neighbours, and 1 KiB in all: every cache holds it
constexpr Walk kSpread{1357, kWords};  // 5 KiB from one to the next, and the whole table
const char* const kFromConstant = "distinct=";  // how the rows of a sweep are called
const char* const kFromGlobal = "global=";

// What each thread of a sweep adds up. It depends on its lane only, and there are only 32 lanes.
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

// `loads` loads per thread, each of `distinct` different words per warp, and next to
// nothing else to do. `& (window - 1)` is the remainder for a power of two.
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

// One row per number of different words, from constant memory; a few from global memory as well.
// The rate is the time for which one load of a warp occupies its multiprocessor.
void run_sweep(ResultTable& table, const Options& opt, const Device& device, const Problem& p,
               Walk walk, const std::vector<int>& words) {
  const double loads_per_sm =
      static_cast<double>(div_up(p.n, kWarp)) * kLoads / static_cast<double>(device.sm_count);
  std::vector<double> distinct_words, ns_per_load;
  const auto add_row = [&](const char* source, unsigned distinct, auto&& launch) {
    const std::string name = source + std::to_string(distinct);
    if (!opt.wants(name)) return;
    const auto expected = expected_walk(walk, distinct, kLoads, p.n, p.block, words);
    CUDA_CHECK(cudaMemset(p.y, 0xff, p.n * sizeof(int)));
    const auto run = [&] {
      launch();
      CUDA_CHECK_LAUNCH();
    };
    run();
    bool ok = check(name, p, expected);
    const Timing t = time_launches(opt.samples, run);
    ok = check(name, p, expected) && ok;  // and still right after the timed runs
    const double ns = t.median_ms * 1e6 / loads_per_sm;
    table.add_with_rate(name, t, ns, ok);
    if (source != kFromConstant) return;
    distinct_words.push_back(distinct);
    ns_per_load.push_back(ns);
  };
  for (unsigned d = 1; d <= kWarp; ++d) {
    add_row(kFromConstant, d,
            [&] { walk_constant<<<p.grid, p.block>>>(walk, d, kLoads, p.n, p.y); });
  }
  for (unsigned d = 1; d <= kWarp; d *= 2) {
    add_row(kFromGlobal, d,
            [&] { walk_global<<<p.grid, p.block>>>(walk, d, kLoads, p.n, p.table, p.y); });
  }
  if (!kOnGpu || ns_per_load.size() < 2) return;  // times elsewhere say nothing about a GPU
  const Line line = fit_line(distinct_words, ns_per_load);
  table.measured("fit_base", line.base, "ns/load", "");
  table.measured("fit_per_word", line.slope, "ns/word",
                 "constant memory, fitted line: a load of a warp takes " + digits_text(line.base) +
                     " ns and " + digits_text(line.slope) + " ns per distinct word");
}
