// SPDX-License-Identifier: MIT
// What does a sum cost where there is little but launches?
//
// Many in a row, each of another n, on another grid, to a place of its own. The kernels are those
// of atomics_last_block.cu.

#include "../../../common/common.cuh"
#include "sum_memory.cuh"

__global__ void sum_atomic_per_block(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (threadIdx.x == 0) atomicAdd(p.result, sum);
}

__global__ void leave_partials(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (threadIdx.x == 0) p.partials[blockIdx.x] = sum;
}

__global__ void add_left_partials(GridSum p) { add_partials(p); }

__global__ void sum_last_block(GridSum p) {
  const Sum sum = block_sum(sum_of_share(p));
  if (draws_last_ticket(p, sum)) add_partials(p);
}

// Many sums in one SumMemory: all draw from its ticket. Each leaves its result in its own place.
struct SmallSums {
  SmallSums(const std::vector<int>& values, unsigned grid, unsigned block, std::size_t launches)
      : memory{values, grid, block}, results(launches), expected(launches) {
    for (unsigned k = 0; k < launches; ++k) {
      GridSum sum = memory.sum;
      sum.n = 7ull * k % std::min(sum.n + 1, 5_Ki);
      sum.grid = 1 + k % grid;
      sum.result = results.get() + k;
      for (std::size_t i = 0; i < sum.n; ++i)
        expected[k] += static_cast<Sum>(1LL * values[i] * values[i]);
      sums.push_back(sum);
    }
  }

  void poison() const { memory.poison(), results.poison(); }
  bool is_right(const std::string& version) const {
    return all_equal(version, results.download(), expected) &&
           equals(version + ", the ticket", memory.ticket.download()[0], 0u);
  }

  SumMemory memory;
  DeviceArray<Sum> results;
  std::vector<GridSum> sums;
  std::vector<Sum> expected;
};

const Version<SmallSums> kVersions[] = {
    {"atomic_per_block", "set the result to 0, then one atomic per block",
     [](const SmallSums& d) {
       for (const GridSum& p : d.sums) {
         CUDA_CHECK(cudaMemsetAsync(p.result, 0, sizeof(Sum)));
         sum_atomic_per_block<<<p.grid, p.block>>>(p);
       }
     }},
    {"two_launches", "partial sums; a second launch adds them",
     [](const SmallSums& d) {
       for (const GridSum& p : d.sums) {
         leave_partials<<<p.grid, p.block>>>(p);
         add_left_partials<<<1, p.block>>>(p);
       }
     }},
    {"last_block", "partial sums; the last block to finish adds them",
     [](const SmallSums& d) {
       for (const GridSum& p : d.sums) sum_last_block<<<p.grid, p.block>>>(p);
     }},
};

int main(int argc, char** argv) {
  std::size_t n = 5_Ki, block = 512, launches = kOnGpu ? 10000 : 200;
  const Options opt(argc, argv, "10_many_small_sums", "what does a sum cost, if it is small?",
                    {{"n", &n, 1, 1_Gi, "ints"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block", kWarp},
                     {"launches", &launches, 1, 1_Mi, "sums in a row"}});
  ResultTable table(opt, n * sizeof(int), 2_Mi + launches * sizeof(Sum));
  const unsigned grid = blocks_held(sum_last_block, block);
  const SmallSums sums(random_ints(n, 0, 9, opt.seed), grid, block, launches);
  for (const auto& version : kVersions) table.add(version, sums);
  return table.finish();
}
