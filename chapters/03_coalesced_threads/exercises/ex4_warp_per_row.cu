// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 03, write the kernel: a warp for every row.
//
// A matrix of rows x columns ints lies in memory row after row. With one thread per row, the lanes
// of a warp would be a whole row apart. So a warp takes a row: its lanes read neighbours. Lane l
// adds columns l, l + 32, l + 64, ... and leaves the sum in partial[row * 32 + l], 0 when there are
// no columns. The warps of all blocks take the rows in order; blocks have 32, 64, ... or 1024
// threads.
// Check it: make lab CH=03 EX=4      A hint: make hint CH=03 EX=4
#include "common/common.cuh"

constexpr unsigned kWarp = 32;

__global__ void sum_of_rows(const int* x, std::size_t rows, std::size_t columns,
                            long long* partial) {
  // TODO: which row is this warp's, which lane is this thread; then the loop.
  (void)x, (void)rows, (void)columns, (void)partial;  // not used yet
  // end of TODO
}

// Launches the fewest blocks that have a warp for each row. There is at least one row.
void launch_sum_of_rows(const int* x, std::size_t rows, std::size_t columns, long long* partial,
                        unsigned block) {
  // TODO: how many blocks?
  const unsigned blocks = 1;
  // end of TODO
  sum_of_rows<<<blocks, block>>>(x, rows, columns, partial);
  CUDA_CHECK_LAUNCH();
}
