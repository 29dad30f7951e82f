// SPDX-License-Identifier: MIT
// Chapter 11: what the experiments share whose threads go different ways.
#pragma once

#include "../../../common/common.cuh"

constexpr unsigned kWarp = 32, kBlock = 256, kPaths = 32;
constexpr unsigned kFactor = 1664525;  // odd: no bit of a product is lost

// What differs between two launches of one kernel.
struct Fork {
  unsigned share;             // neighbours that go one way: a lane, a warp, a block
  unsigned paths;             // into how many
  unsigned steps;             // of each path, a multiple of 16
  unsigned factor = kFactor;  // what every path multiplies by, not known to the compiler

  // Neighbours get different paths, and warps that an SM holds together do, too.
  __host__ __device__ unsigned path_of(unsigned thread) const {
    const unsigned who = thread / share;
    return (5 * who + 13 * (who / 32)) % paths;
  }
};

// One launch, and what each thread leaves: the end of its path.
struct Walks {
  void run() const {
    kernel<<<grid, block>>>(fork, ends);
    CUDA_CHECK_LAUNCH();
  }
  bool is_right(const std::string& name) const {
    std::vector<unsigned> of_path(kPaths * kWarp), expected(ends.size());
    for (unsigned i = 0; i < of_path.size(); ++i)  // each lane on each path
      of_path[i] = end_of(i / kWarp, i % kWarp, fork.steps);
    for (unsigned t = 0; t < expected.size(); ++t)
      expected[t] = of_path[fork.path_of(t) * kWarp + t % kWarp];
    return all_equal(name, ends.download(), expected);
  }

  // Adds a row, whose rate is its time in times of the first one. Returns its time; 0: not wanted.
  double add_to(ResultTable& table, const std::string& name, const char* summary,
                double* first_ms) const {
    if (!table.wants(name, summary)) return 0;
    run();
    const bool right = is_right(name);
    const Timing t = time_launches(table.opt.samples, [&] { run(); });
    if (*first_ms == 0) *first_ms = t.median_ms;
    table.row(name, t, t.median_ms / *first_ms, right && is_right(name));
    return t.median_ms;
  }

  void (*kernel)(Fork f, unsigned* ends);
  unsigned (*end_of)(unsigned path, unsigned v, unsigned steps);  // by the host, for a lane v
  Fork fork;
  unsigned grid, block;
  DeviceArray<unsigned> ends{std::size_t{grid} * block};
};
