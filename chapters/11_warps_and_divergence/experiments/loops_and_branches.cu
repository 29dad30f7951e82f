// SPDX-License-Identifier: MIT
// What do loops of different lengths cost, and branches that are short or long?
//
// loop_by_warp, loop_by_lane  loops of 1 to 32 lengths, one for a warp or one for a lane
// short_agree, short_differ   an if with one statement on each side; do the lanes agree?
// long_agree, long_differ     an if with eight statements on each side

#include <vector>

#include "../../../common/common.cuh"

constexpr unsigned kWarp = 32, kBlock = 256, kPaths = 32;
constexpr unsigned kFactor = 1664525, kSteps = kOnGpu ? 2048 : 128;

// What differs between two launches of one kernel.
struct Fork {
  unsigned share;   // neighbours that go one way: a lane, a warp, a block
  unsigned paths;   // into how many
  unsigned steps;   // of each path, a multiple of 16
  unsigned factor;  // what every path multiplies by, not known to the compiler

  // Neighbours get different paths, and warps that an SM holds together do, too.
  __host__ __device__ unsigned path_of(unsigned thread) const {
    const unsigned who = thread / share;
    return (5 * who + 13 * (who / 32)) % paths;
  }
};

// A chain of steps: each side of a branch has its own.
template <unsigned kPath>
__device__ unsigned walk(unsigned v, unsigned steps, unsigned factor) {
#pragma unroll 1
  for (unsigned k = 0; k < steps; k += 8) {
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) v = (v ^ (kPath + 1)) * factor;
  }
  return v;
}

__device__ unsigned thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Path k is k + 1 turns of one loop: the warp leaves it when its last lane does.
__global__ void take_loops(Fork f, unsigned* ends) {
  const unsigned turns = f.path_of(thread_number()) + 1;
  ends[thread_number()] = walk<0>(threadIdx.x % kWarp, turns * f.steps, f.factor);
}

// Which way a thread goes in turn k.
__host__ __device__ bool goes_left(unsigned path, unsigned k) { return (path + k) % 2 == 0; }

// Both sides are so short that the compiler needs no branch for them.
__global__ void take_short_branches(Fork f, unsigned* ends) {
  unsigned v = threadIdx.x % kWarp;
#pragma unroll 1
  for (unsigned k = 0; k < f.steps; ++k) {
    if (goes_left(f.path_of(thread_number()), k)) {
      v = v * f.factor;
    } else {
      v = v ^ f.factor;
    }
  }
  ends[thread_number()] = v;
}

__global__ void take_long_branches(Fork f, unsigned* ends) {
  unsigned v = threadIdx.x % kWarp;
#pragma unroll 1
  for (unsigned k = 0; k < f.steps / 16; ++k) {
    if (goes_left(f.path_of(thread_number()), k)) {
      v = walk<0>(v, 16, f.factor);
    } else {
      v = walk<1>(v, 16, f.factor);
    }
  }
  ends[thread_number()] = v;
}

// What each of them is to make of v on one path, by the host.
unsigned end_of_loop(unsigned path, unsigned v, unsigned steps) {
  for (unsigned k = 0; k < (path + 1) * steps; ++k) v = (v ^ 1) * kFactor;
  return v;
}
unsigned end_of_short(unsigned path, unsigned v, unsigned steps) {
  for (unsigned k = 0; k < steps; ++k) v = goes_left(path, k) ? v * kFactor : v ^ kFactor;
  return v;
}
unsigned end_of_long(unsigned path, unsigned v, unsigned steps) {
  for (unsigned k = 0; k < steps; ++k) v = (v ^ (goes_left(path, k / 16) ? 1 : 2)) * kFactor;
  return v;
}

// A kernel with two rows: its lanes agree, or they differ.
struct Pair {
  const char *agree, *differ, *summary;
  void (*launch)(Fork f, unsigned grid, unsigned* ends);
  unsigned (*end_of)(unsigned path, unsigned v, unsigned steps);
  unsigned paths;
};

const Pair kPairs[] = {
    {"loop_by_warp", "loop_by_lane", "loops of 1 to 32 lengths",
     [](Fork f, unsigned grid, unsigned* ends) { take_loops<<<grid, kBlock>>>(f, ends); },
     end_of_loop, kPaths},
    {"short_agree", "short_differ", "an if with one statement on each side",
     [](Fork f, unsigned grid, unsigned* ends) { take_short_branches<<<grid, kBlock>>>(f, ends); },
     end_of_short, 2},
    {"long_agree", "long_differ", "an if with eight statements on each side",
     [](Fork f, unsigned grid, unsigned* ends) { take_long_branches<<<grid, kBlock>>>(f, ends); },
     end_of_long, 2},
};

bool is_right(const std::string& name, const Pair& pair, const Fork& fork,
              const DeviceArray<unsigned>& ends) {
  std::vector<unsigned> expected(ends.size());
  for (unsigned t = 0; t < expected.size(); ++t)
    expected[t] = pair.end_of(fork.path_of(t), t % kWarp, fork.steps);
  return all_equal(name, ends.download().data(), expected.data(), expected.size());
}

int main(int argc, char** argv) {
  std::size_t blocks = 0;
  const Options opt(
      argc, argv, "11_loops_and_branches", "what do loops and branches cost?",
      {{"blocks", &blocks, 1, 64_Ki, "blocks of 256 threads; left out: all that fit"}});
  const Device device = open_device(opt);
  if (blocks == 0) blocks = blocks_held(device, take_loops, kBlock);
  ResultTable table(opt, device, blocks * kBlock * sizeof(unsigned));
  table.rate_in("of first");
  table.without_speedup();
  for (const Pair& pair : kPairs) {
    double first_ms = 0;
    for (const unsigned share : {kWarp, 1u}) {
      const char* const name = share > 1 ? pair.agree : pair.differ;
      if (!table.wants(name, pair.summary)) continue;
      const Fork fork{share, pair.paths, 2 * kSteps / pair.paths, kFactor};  // about equally far
      const DeviceArray<unsigned> ends(blocks * kBlock);
      const auto run = [&] {
        pair.launch(fork, static_cast<unsigned>(blocks), ends);
        CUDA_CHECK_LAUNCH();
      };
      run();
      const bool right = is_right(name, pair, fork, ends);
      const Timing t = time_launches(opt.samples, run);
      if (first_ms == 0) first_ms = t.median_ms;
      table.row(name, t, t.median_ms / first_ms, right && is_right(name, pair, fork, ends));
    }
  }
  return table.finish();
}
