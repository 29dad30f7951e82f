// SPDX-License-Identifier: MIT
// Chapter 11, --show paths: what it costs when the lanes of a warp take different paths. Included
// by warps_and_divergence.cu.
//
// by_block=k, by_warp=k, by_lane=k  k paths; who takes which is chosen by block, warp or lane
// alone=k                           by lane, and only one warp on the whole chip
// loop_by_warp, loop_by_lane        loops of 1 to 32 lengths, one for a warp or one for a lane
// short_agree, short_differ         an if with one statement on each side; do the lanes agree?
// long_agree, long_differ           an if with eight statements on each side
#pragma once

#include <map>
#include <string>

#include "../../common/line_fit.cuh"

constexpr unsigned kPaths = 32;

// What differs between two launches of one kernel.
struct Fork {
  unsigned share;   // neighbours that go one way: a lane, a warp, a block
  unsigned paths;   // into how many
  unsigned steps;   // of each path, a multiple of 8
  unsigned factor;  // what every path multiplies by, not known to the compiler

  // Neighbours get different paths, and warps that an SM holds together do, too.
  __host__ __device__ unsigned path_of(unsigned thread) const {
    const unsigned who = thread / share;
    return (5 * who + 13 * (who / 32)) % paths;
  }
};

// Path number kPath: a chain of steps that no other path has.
template <unsigned kPath>
__device__ unsigned walk(unsigned v, unsigned steps, unsigned factor) {
#pragma unroll 1
  for (unsigned k = 0; k < steps; k += 8) {
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) v = (v ^ (kPath + 1)) * factor;
  }
  return v;
}

// Takes path number `path` of kFirst, ... kFirst + kCount - 1: left or right, until one is left.
template <unsigned kFirst = 0, unsigned kCount = kPaths>
__device__ unsigned take_path(unsigned path, unsigned v, const Fork& f) {
  if constexpr (kCount == 1) {
    return walk<kFirst>(v, f.steps, f.factor);
  } else if (path < kFirst + kCount / 2) {
    return take_path<kFirst, kCount / 2>(path, v, f);
  } else {
    return take_path<kFirst + kCount / 2, kCount / 2>(path, v, f);
  }
}

__device__ unsigned thread_number() { return static_cast<unsigned>(global_index()); }

__global__ void take_paths(Fork f, unsigned* ends) {
  ends[thread_number()] = take_path(f.path_of(thread_number()), lane_number(), f);
}

// Path k is k + 1 turns of one loop: the warp leaves it when its last lane does.
__global__ void take_loops(Fork f, unsigned* ends) {
  const unsigned turns = f.path_of(thread_number()) + 1;
  ends[thread_number()] = walk<0>(lane_number(), turns * f.steps, f.factor);
}

// Which way a thread goes in turn k.
__host__ __device__ inline bool goes_left(const Fork& f, unsigned thread, unsigned k) {
  return (f.path_of(thread) + k) % 2 == 0;
}

// Both sides are so short that the compiler needs no branch for them.
__global__ void take_short_branches(Fork f, unsigned* ends) {
  unsigned v = lane_number();
#pragma unroll 1
  for (unsigned k = 0; k < f.steps; ++k) {
    if (goes_left(f, thread_number(), k)) {
      v = v * f.factor;
    } else {
      v = v ^ f.factor;
    }
  }
  ends[thread_number()] = v;
}

__global__ void take_long_branches(Fork f, unsigned* ends) {
  unsigned v = lane_number();
#pragma unroll 1
  for (unsigned k = 0; k < f.steps / 16; ++k) {
    if (goes_left(f, thread_number(), k)) {
      v = walk<0>(v, 16, f.factor);
    } else {
      v = walk<1>(v, 16, f.factor);
    }
  }
  ends[thread_number()] = v;
}

namespace divergent_paths {

// One row: which kernel, how its threads part, and what a thread is to end with. The first row of
// a group is what the others are compared with.
struct Row {
  std::string name, group;
  void (*launch)(Fork f, unsigned grid, unsigned block, unsigned* ends);
  Fork fork;
  unsigned (*end_of)(const Fork& f, unsigned thread);
};

constexpr unsigned kFactor = 1664525;  // odd: no bit of a product is lost

// The same by the host: the path is a number there.
inline unsigned walked(unsigned path, unsigned v, unsigned steps) {
  for (unsigned k = 0; k < steps; ++k) v = (v ^ (path + 1)) * kFactor;
  return v;
}
inline unsigned end_of_path(const Fork& f, unsigned thread) {
  return walked(f.path_of(thread), thread % kWarp, f.steps);
}
inline unsigned end_of_loop(const Fork& f, unsigned thread) {
  return walked(0, thread % kWarp, (f.path_of(thread) + 1) * f.steps);
}
inline unsigned end_of_short(const Fork& f, unsigned thread) {
  unsigned v = thread % kWarp;
  for (unsigned k = 0; k < f.steps; ++k) v = goes_left(f, thread, k) ? v * kFactor : v ^ kFactor;
  return v;
}
inline unsigned end_of_long(const Fork& f, unsigned thread) {
  unsigned v = thread % kWarp;
  for (unsigned k = 0; k < f.steps / 16; ++k) v = walked(goes_left(f, thread, k) ? 0 : 1, v, 16);
  return v;
}

inline void launch_paths(Fork f, unsigned grid, unsigned block, unsigned* ends) {
  take_paths<<<grid, block>>>(f, ends);
}
inline void launch_loops(Fork f, unsigned grid, unsigned block, unsigned* ends) {
  take_loops<<<grid, block>>>(f, ends);
}
inline void launch_short_branches(Fork f, unsigned grid, unsigned block, unsigned* ends) {
  take_short_branches<<<grid, block>>>(f, ends);
}
inline void launch_long_branches(Fork f, unsigned grid, unsigned block, unsigned* ends) {
  take_long_branches<<<grid, block>>>(f, ends);
}

// All rows, for blocks of `block` threads.
inline std::vector<Row> rows_of(unsigned block, unsigned steps) {
  std::vector<Row> rows;
  const auto add_paths = [&](const std::string& name, unsigned share, unsigned paths) {
    const bool alone = name == "alone";
    rows.push_back({name + "=" + std::to_string(paths),
                    alone ? name : "paths",
                    launch_paths,
                    {share, paths, alone ? 8 * steps : steps, kFactor},
                    end_of_path});
  };
  for (unsigned paths = 1; paths <= kPaths; paths *= 2) add_paths("by_lane", 1, paths);
  for (const unsigned paths : {2u, kPaths}) add_paths("by_warp", kWarp, paths);
  for (const unsigned paths : {2u, kPaths}) add_paths("by_block", block, paths);
  for (unsigned paths = 1; paths <= kPaths; paths *= 2) add_paths("alone", 1, paths);
  const auto add_pair = [&](const std::string& group, const char* agree, const char* differ,
                            auto* launch, unsigned paths, unsigned all_steps, auto* end_of) {
    rows.push_back({group + agree, group, launch, {kWarp, paths, all_steps, kFactor}, end_of});
    rows.push_back({group + differ, group, launch, {1, paths, all_steps, kFactor}, end_of});
  };
  add_pair("loop", "_by_warp", "_by_lane", launch_loops, kPaths, steps / 16, end_of_loop);
  add_pair("short", "_agree", "_differ", launch_short_branches, 2, steps, end_of_short);
  add_pair("long", "_agree", "_differ", launch_long_branches, 2, steps, end_of_long);
  return rows;
}

inline void name_rows(Options& opt) {
  for (const Row& row : rows_of(256, 128))
    opt.version(row.name, "lanes, warps or blocks on " + std::to_string(row.fork.paths) + " paths");
}

// What every thread is to end with. Threads that share lane and path end alike.
inline std::vector<unsigned> expected_ends(const Row& row, unsigned threads) {
  std::vector<unsigned> ends(threads);
  std::vector<int> known(std::size_t{kPaths} * kWarp, -1);  // by path and lane: who has it
  for (unsigned t = 0; t < threads; ++t) {
    int& same = known[row.fork.path_of(t) * kWarp + t % kWarp];
    ends[t] = same < 0 ? row.end_of(row.fork, t) : ends[static_cast<unsigned>(same)];
    if (same < 0) same = static_cast<int>(t);
  }
  return ends;
}

inline Measured measure(const Row& row, Samples samples, unsigned grid, unsigned block) {
  if (row.group == "alone") grid = 1, block = kWarp;
  const DeviceArray<unsigned> ends(std::size_t{grid} * block);
  const std::vector<unsigned> expected = expected_ends(row, grid * block);
  return measure_checked(
      samples, [&] { ends.poison(); }, [&] { row.launch(row.fork, grid, block, ends.get()); },
      [&] {
        return all_equal(row.name, ends.download().data(), expected.data(), expected.size());
      });
}

// The line through the first six times, of 1, 2, 4, ... 32 paths by lane, in times of one path.
inline void note_line(ResultTable& table, const std::string& name, const std::vector<double>& ms) {
  if (!kOnGpu || !table.options().only.empty()) return;
  std::vector<double> paths, times;
  for (std::size_t k = 0; k < 6; ++k) {
    paths.push_back(static_cast<double>(1u << k));
    times.push_back(ms[k] / ms[0]);
  }
  const Line line = fit_line(paths, times);
  char text[128];
  std::snprintf(text, sizeof text, "%s: time = %.3f + %.3f per path, in times of one path",
                name.c_str(), line.base, line.slope);
  table.measured(name + " slope", line.slope, "per path", text);
  table.measured(name + " base", line.base, "paths", "");
}

// As many blocks as the chip holds at once, or fewer if n is small.
inline int run(ResultTable& table, const Device& device, std::size_t n, unsigned block) {
  constexpr unsigned kSteps = kOnGpu ? 2048 : 128;  // a multiple of 128: a loop's is a 16th of it
  if (kOnGpu) table.rate_in("of first");
  table.without_speedup();
  const auto grid =
      static_cast<unsigned>(std::min(div_up(n, block), blocks_held(device, take_paths, block)));
  std::map<std::string, std::vector<double>> times;  // by group
  for (const Row& row : rows_of(block, kSteps)) {
    if (!table.options().wants(row.name)) continue;
    const Measured m = measure(row, table.options().sampling(), grid, block);
    std::vector<double>& of_group = times[row.group];
    of_group.push_back(m.time.median_ms);
    table.add_with_rate(row.name, m.time, m.time.median_ms / of_group[0], m.ok);
  }
  for (const char* group : {"paths", "alone"}) note_line(table, group, times[group]);
  return table.finish();
}

}  // namespace divergent_paths
