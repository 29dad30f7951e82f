// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 11, write the kernel: lanes that stay together.
//
// Item i walks i % 32 + 1 steps through a table, from start[i], and leaves where it ends. If thread
// t takes item t, the lanes of a warp walk 1, 2, 3 ... 32 steps: all wait for the last, and on
// average half of them are idle. Deal the items out so that no lane waits, wherever n allows it.
// Check it: make lab CH=11 EX=4      A hint: make hint CH=11 EX=4
#include "common/common.cuh"

constexpr unsigned kLengths = 32;

// The item of thread t, n or more if it has none. Threads are numbered 0, 1, 2, ...; there are as
// many as n rounded up to a multiple of kLengths, or more. Each item has one thread.
__device__ std::size_t item_of(std::size_t t, std::size_t n) {
  // TODO: threads of one warp, neighbours in t, should get items with the same i % 32.
  (void)n;
  return t;
  // end of TODO
}

__global__ void walk(const unsigned* table, const unsigned* start, std::size_t n, unsigned* end) {
  const std::size_t t = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t i = item_of(t, n);
  if (i >= n) return;
  const auto steps = static_cast<unsigned>(i % kLengths) + 1;
  unsigned place = start[i];
  for (unsigned k = 0; k < steps; ++k) place = table[place];
  end[i] = place;
}
