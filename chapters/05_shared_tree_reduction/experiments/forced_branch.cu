// SPDX-License-Identifier: MIT
// What do warps cost that have nothing to add, as predicated instructions and behind a branch?
//
// mask_predicated         the tree by a mask as in the lesson: its short if becomes predicates
// mask_branch             the same threads add the same slots, behind a branch
// interleaved_predicated  the tree of the first threads as in the lesson
// interleaved_branch      the same, behind a branch
// Per block of 256 a warp without a lane that adds meets 17 additions in the trees by a mask and 52
// in the others; with predicates it executes two loads and a store each time, all switched off.

#include "../../../common/common.cuh"
#include "squares.cuh"

constexpr unsigned kMaxBlock = 1024;  // threads per block, a limit of the hardware

__global__ void sum_mask_predicated(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // a level reads what other threads wrote in the level before
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    const bool adds = (t & (2 * distance - 1)) == 0;
    if (adds && t + distance < blockDim.x) partial[t] += partial[t + distance];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// A loop in place of the if: it runs once or not at all, because its second turn would be past the
// block. The compiler cannot know that, so a warp without a lane that adds jumps over the body.
__global__ void sum_mask_branch(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // a level reads what other threads wrote in the level before
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    const bool adds = (t & (2 * distance - 1)) == 0;
    for (unsigned k = t; adds && k + distance < blockDim.x; k += blockDim.x) {
      partial[k] += partial[k + distance];
    }
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

__global__ void sum_interleaved_predicated(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // a level reads what other threads wrote in the level before
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    const unsigned left = 2 * distance * t;
    if (left + distance < blockDim.x) partial[left] += partial[left + distance];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// Here, too, the second turn would be past the block.
__global__ void sum_interleaved_branch(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  const unsigned t = threadIdx.x;
  partial[t] = square_or_zero(x, n, global_index());
  __syncthreads();  // a level reads what other threads wrote in the level before
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    for (unsigned left = 2 * distance * t; left + distance < blockDim.x; left += blockDim.x) {
      partial[left] += partial[left + distance];
    }
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

const Version<SharedInts> kVersions[] = {
    {"mask_predicated", "threads picked by a mask, predicates", launch<sum_mask_predicated>},
    {"mask_branch", "the same threads, behind a branch", launch<sum_mask_branch>},
    {"interleaved_predicated", "the first threads, predicates", launch<sum_interleaved_predicated>},
    {"interleaved_branch", "the first threads, behind a branch", launch<sum_interleaved_branch>},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 20000, block = 256;
  const Options opt(argc, argv, "05_forced_branch", "what do warps cost that have nothing to add?",
                    {{"n", &n, 1, 1_Gi, "ints"}, {"block", &block, 1, 1024, "threads per block"}});
  ResultTable table(opt, n * sizeof(int), div_up(n, block) * sizeof(long long));
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const SharedInts sums(random_ints(n, 0, 9, opt.seed), blocks_for(n, block),
                        static_cast<unsigned>(block));
  for (const auto& version : kVersions) table.add(version, sums);
  return table.finish();
}
