// SPDX-License-Identifier: MIT
// Who adds up the threads, and where does each add up its share, when it has thousands of elements?
//
// WHERE_WHO: where a thread adds up its share, and who adds the shares of a block
//   register_*      in a register; the shared slot is written once
//   slot_*          in its slot of shared memory, at every element
//   stored_slot_*   the same slot, volatile: no compiler may keep it in a register meanwhile
//   *_one_thread    thread 0 adds the slots
//   *_tree          the upper half onto the lower half
// Few blocks go over all of x in steps of the grid: 8 of 64 threads with 2048 elements each, as in
// the lecture notes that these two comparisons are from.

#include "../../../common/common.cuh"
#include "squares.cuh"

constexpr unsigned kMaxBlock = 1024;  // threads per block, a limit of the hardware

enum Where { kRegister, kSlot, kStoredSlot };

// The squares of this thread's share: every element that is a whole number of grids behind its
// first.
template <Where kWhere>
__device__ void add_up_share(const int* x, std::size_t n, long long* slot) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  if constexpr (kWhere == kRegister) {
    long long sum = 0;
    for (std::size_t i = global_index(); i < n; i += step) sum += square_or_zero(x, n, i);
    *slot = sum;
  } else if constexpr (kWhere == kSlot) {
    *slot = 0;
    for (std::size_t i = global_index(); i < n; i += step) *slot += square_or_zero(x, n, i);
  } else {
    volatile long long* const stored = slot;
    *stored = 0;
    for (std::size_t i = global_index(); i < n; i += step)
      *stored = *stored + square_or_zero(x, n, i);
  }
}

template <Where kWhere>
__global__ void sum_one_thread(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  add_up_share<kWhere>(x, n, &partial[threadIdx.x]);
  __syncthreads();  // thread 0 is about to read every slot
  if (threadIdx.x == 0) {
    long long sum = 0;
    for (unsigned k = 0; k < blockDim.x; ++k) sum += partial[k];
    sums[blockIdx.x] = sum;
  }
}

template <Where kWhere>
__global__ void sum_tree(const int* x, std::size_t n, long long* sums) {
  __shared__ long long partial[kMaxBlock];
  add_up_share<kWhere>(x, n, &partial[threadIdx.x]);
  __syncthreads();  // the first level reads what the upper half of the threads wrote
  fold_to_front(partial, blockDim.x);
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

const Version<SharedInts> kVersions[] = {
    {"register_one_thread", "in a register, thread 0 adds", launch<sum_one_thread<kRegister>>},
    {"register_tree", "in a register, a tree adds", launch<sum_tree<kRegister>>},
    {"slot_one_thread", "in its slot, thread 0 adds", launch<sum_one_thread<kSlot>>},
    {"slot_tree", "in its slot, a tree adds", launch<sum_tree<kSlot>>},
    {"stored_slot_one_thread", "in a volatile slot, thread 0 adds",
     launch<sum_one_thread<kStoredSlot>>},
    {"stored_slot_tree", "in a volatile slot, a tree adds", launch<sum_tree<kStoredSlot>>},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 1_Mi : 20000, blocks = 8, block = 64;
  const Options opt(argc, argv, "05_slots_in_a_loop",
                    "who adds, when a thread has thousands of elements?",
                    {{"n", &n, 1, 1_Gi, "ints"},
                     {"blocks", &blocks, 1, 1_Mi, "in the grid"},
                     {"block", &block, 1, kMaxBlock, "threads per block"}});
  ResultTable table(opt, n * sizeof(int), blocks * sizeof(long long));
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const SharedInts work(random_ints(n, 0, 9, opt.seed), static_cast<unsigned>(blocks),
                        static_cast<unsigned>(block));
  for (const auto& version : kVersions) table.add(version, work);
  return table.finish();
}
