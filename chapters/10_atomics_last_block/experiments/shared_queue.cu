// SPDX-License-Identifier: MIT
// How long is the queue at a block's word of shared memory, if nothing else is to be done?
//
// Nobody loads anything: each thread brings its own number in the grid.
// atomic_per_thread  every thread adds to one 64-bit word of its block, as in shared_atomics
// atomic_per_warp    each warp adds by shuffles, and one lane to the word
// no_atomic          the block adds by shuffles, as in atomic_per_block

#include "../../../common/common.cuh"
#include "sum_memory.cuh"

template <bool kPerWarp>
__global__ void add_in_shared(GridSum p) {
  __shared__ Sum total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();  // nobody adds before it is 0
  Sum mine = global_index();
  if (kPerWarp) mine = warp_sum(mine);
  if (!kPerWarp || threadIdx.x % kWarp == 0) atomicAdd(&total, mine);
  __syncthreads();  // thread 0 reads it when all have added
  if (threadIdx.x == 0) p.partials[blockIdx.x] = total;
}

__global__ void add_by_shuffles(GridSum p) {
  const Sum sum = block_sum(global_index());
  if (threadIdx.x == 0) p.partials[blockIdx.x] = sum;
}

struct QueueMemory : SumMemory {
  // Block b has the threads from b * block on.
  bool sums_are_right(const std::string& version) const {
    std::vector<Sum> expected;
    for (Sum b = 0; b < grid; ++b)
      expected.push_back(b * block * block + Sum{block} * (block - 1) / 2);
    return all_equal(version, partials.download(), expected);
  }
};

const Version<QueueMemory> kVersions[] = {
    {"atomic_per_thread", "all threads of a block at one word",
     [](auto& m) { add_in_shared<false><<<m.sum.grid, m.sum.block>>>(m.sum); },
     &QueueMemory::sums_are_right},
    {"atomic_per_warp", "one lane of each warp",
     [](auto& m) { add_in_shared<true><<<m.sum.grid, m.sum.block>>>(m.sum); },
     &QueueMemory::sums_are_right},
    {"no_atomic", "shuffles", [](auto& m) { add_by_shuffles<<<m.sum.grid, m.sum.block>>>(m.sum); },
     &QueueMemory::sums_are_right},
};

int main(int argc, char** argv) {
  std::size_t block = 512;
  const Options opt(argc, argv, "10_shared_queue", "how long is the queue in shared memory?",
                    {{"block", &block, kWarp, kMaxBlock, "threads per block", kWarp}});
  open_device(opt);
  const unsigned grid = blocks_held(add_in_shared<false>, block);
  ResultTable table(opt, grid * sizeof(Sum), 2_Mi);
  const QueueMemory memory{{{0}, grid, static_cast<unsigned>(block)}};
  for (const auto& version : kVersions) table.add(version, memory);
  return table.finish();
}
