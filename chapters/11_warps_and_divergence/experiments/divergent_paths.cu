// SPDX-License-Identifier: MIT
// What does a warp pay for each path that its lanes take?
//
// by_block=k, by_warp=k, by_lane=k  k paths; who takes which is chosen by block, warp or lane
// alone=k                           by lane, and only one warp on the whole chip

#include "../../../common/common.cuh"
#include "forks.cuh"

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

__global__ void take_paths(Fork f, unsigned* ends) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  ends[thread] = take_path(f.path_of(thread), threadIdx.x % kWarp, f);
}

unsigned end_of_path(unsigned path, unsigned v, unsigned steps) {
  for (unsigned k = 0; k < steps; ++k) v = (v ^ (path + 1)) * kFactor;
  return v;
}

// The straight line closest to the times of 1, 2, 4, ... 32 paths, in times of one path.
void note_line(ResultTable& table, const std::string& name, const std::vector<double>& ms) {
  double x = 0, y = 0, xx = 0, xy = 0, paths = 1;
  for (const double time : ms) {
    if (!kOnGpu || time == 0) return;  // no time, or one row is not wanted
    x += paths, y += time / ms[0], xx += paths * paths, xy += paths * time / ms[0];
    paths *= 2;
  }
  const double count = ms.size();
  const double slope = (count * xy - x * y) / (count * xx - x * x), base = (y - slope * x) / count;
  table.measured(name + " slope", slope, "per path", name, ": time = ", base, " + ", slope,
                 " per path, in times of one path");
  table.measured(name + " base", base, "paths");
}

int main(int argc, char** argv) {
  std::size_t blocks = 0;
  const Options opt(
      argc, argv, "11_divergent_paths", "what does a warp pay for each path?",
      {{"blocks", &blocks, 1, 64_Ki, "blocks of 256 threads; left out: all that fit"}});
  open_device(opt);
  if (blocks == 0) blocks = blocks_held(take_paths, kBlock);
  ResultTable table(opt, blocks * kBlock * sizeof(unsigned));
  table.rate_in("of first");
  table.without_speedup();
  double first_ms = 0, first_alone_ms = 0;
  const auto add = [&](const char* who, const Fork& fork, unsigned grid, unsigned block,
                       double* first) {
    const Walks walks{take_paths, end_of_path, fork, grid, block};
    return walks.add_to(table, text(who, "=", fork.paths), "paths; who chooses?", first);
  };
  constexpr unsigned kSteps = kOnGpu ? 2048 : 128, kStepsAlone = kOnGpu ? 8 * kSteps : 16;
  std::vector<double> by_lane, alone;
  for (unsigned paths = 1; paths <= kPaths; paths *= 2)
    by_lane.push_back(add("by_lane", {1, paths, kSteps}, blocks, kBlock, &first_ms));
  for (const auto& [who, share] : {std::pair("by_warp", kWarp), std::pair("by_block", kBlock)})
    for (const unsigned paths : {2u, kPaths})
      add(who, {share, paths, kSteps}, blocks, kBlock, &first_ms);
  for (unsigned paths = 1; paths <= kPaths; paths *= 2)
    alone.push_back(add("alone", {1, paths, kStepsAlone}, 1, kWarp, &first_alone_ms));
  note_line(table, "paths", by_lane);
  note_line(table, "alone", alone);
  return table.finish();
}
