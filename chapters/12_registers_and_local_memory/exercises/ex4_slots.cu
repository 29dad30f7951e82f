// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 12, write the kernel: an array of each thread in shared memory.
//
// Thread t looks at the values 0 to 9 in its column of x, kRows of them, and leaves the one that
// comes most often (the smallest of those that do). Its ten counters are an array with an index
// that only the data knows: registers have none. Put them into shared memory so that no two lanes
// ever meet in a bank, whatever values they have. Blocks have 32 to 256 threads, a multiple of 32.
// Check it: make lab CH=12 EX=4      A hint: make hint CH=12 EX=4
#include "common/common.cuh"

constexpr unsigned kRows = 40, kValues = 10;

// Value k of thread i stands at x[k * threads + i].
__global__ void most_frequent(const int* x, std::size_t threads, int* result) {
  extern __shared__ int slots[];  // kValues for each thread of the block
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= threads) return;
  // TODO: which slot is this thread's counter of value v? Start at 0, count, look for the largest.
  int count[kValues] = {};
  for (unsigned k = 0; k < kRows; ++k) ++count[x[k * threads + i]];
  int best = 0;
  for (int v = 1; v < static_cast<int>(kValues); ++v) {
    if (count[v] > count[best]) best = v;
  }
  result[i] = best;
  (void)slots;  // not used yet
  // end of TODO
}
