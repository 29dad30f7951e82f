// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 15, predict, then measure: what does the last wave cost?
//
// Put your predictions in place of the -1; change nothing else. The check has twelve blocks stand
// for twelve multiprocessors, and counts. It says too low or too high, never the number.
// Check it: make lab CH=15 EX=1      A hint: make hint CH=15 EX=1
#include "common/common.cuh"

// A GPU of 12 multiprocessors, each of which computes one tile of C at a time, in steps of 16
// terms. All products have k = 256. How many steps does the busiest multiprocessor make?
constexpr int kFullWave = -1;    // TODO: C has 384 x 1024 elements, a tile 128 x 256
constexpr int kFourMore = -1;    // TODO: C has 384 x 1028 elements, a tile 128 x 256
constexpr int kSmallTiles = -1;  // TODO: C has 384 x 1028 elements, a tile 64 x 128
constexpr int kSplit = -1;       // TODO: C has 128 x 512, a tile 128 x 256, each in 6 parts along k
constexpr int kEvenShares = -1;  // TODO: 384 x 1028, tiles of 128 x 256, even shares of all steps

// Of those even shares: how often does a block add what it has of a tile to C, all blocks together?
constexpr int kAdditions = -1;  // TODO: once for each tile that it has steps of

// Each step of a tile loads its rows of A and its columns of B, 16 terms of each. How many times as
// many elements do all tiles of 64 x 128 load as all tiles of 128 x 256?
constexpr int kTimesAsMany = -1;  // TODO: C has 384 x 1024 elements
