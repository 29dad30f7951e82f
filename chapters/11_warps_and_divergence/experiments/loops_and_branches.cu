// SPDX-License-Identifier: MIT
// What do loops of different lengths cost, and branches that are short or long?
//
// loop_by_warp, loop_by_lane  loops of 1 to 32 lengths, one for a warp or one for a lane
// short_agree, short_differ   an if with one statement on each side; do the lanes agree?
// long_agree, long_differ     an if with 16 steps of a chain on each side

#include "../../../common/common.cuh"
#include "forks.cuh"

constexpr unsigned kSteps = kOnGpu ? 2048 : 128;

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
  void (*kernel)(Fork f, unsigned* ends);
  unsigned (*end_of)(unsigned path, unsigned v, unsigned steps);
  unsigned paths;
};

const Pair kPairs[] = {
    {"loop_by_warp", "loop_by_lane", "loops of 1 to 32 lengths", take_loops, end_of_loop, kPaths},
    {"short_agree", "short_differ", "an if with one statement on each side", take_short_branches,
     end_of_short, 2},
    {"long_agree", "long_differ", "an if with 16 steps of a chain on each side", take_long_branches,
     end_of_long, 2},
};

int main(int argc, char** argv) {
  std::size_t blocks = 0, block = kBlock;
  const Options opt(argc, argv, "11_loops_and_branches", "what do loops and branches cost?",
                    {{"blocks", &blocks, 1, 64_Ki, "blocks; left out: all that fit"},
                     {"block", &block, 32, 1_Ki, "threads per block"}});
  open_device(opt);
  const auto threads = static_cast<unsigned>(block);
  if (blocks == 0) blocks = blocks_held(take_loops, threads);
  ResultTable table(opt, blocks * threads * sizeof(unsigned));
  table.rate_in("of first");
  table.without_speedup();
  for (const Pair& pair : kPairs) {
    double first_ms = 0;
    for (const unsigned share : {kWarp, 1u}) {
      const Fork fork{share, pair.paths, 2 * kSteps / pair.paths};  // about equally far
      const Walks walks{pair.kernel, pair.end_of, fork, static_cast<unsigned>(blocks), threads};
      walks.add_to(table, share > 1 ? pair.agree : pair.differ, pair.summary, &first_ms);
    }
  }
  return table.finish();
}
