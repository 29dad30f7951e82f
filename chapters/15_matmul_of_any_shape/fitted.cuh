// SPDX-License-Identifier: MIT
// Chapter 15: what the model of choice.cuh knows of an H200. These are data: fitted, not derived.
//
// How they were fitted. On an H200 (CUDA 13.0, driver 580.159.04, November 2026) all ways to
// compute some 700 random shapes were timed (seeds 30, 33, 34, 77, 78 and 79 of
// common/tools/measure/beside_cublas.cu), and thin ones at 450 shapes more with at most 16 rows or
// columns. First the times of each tile or kernel were fitted to those measured, then all of them
// so that the way with the least predicted time takes the least measured time. At 336 shapes that
// were held back (seeds 80, 81 and 82) four choices were below 0.90 of cuBLAS after the first
// step, and one after the second. Shapes of seeds 41 and 42 were drawn later, and never fitted to.
// The times of all ways, and the program that fitted, are not stored: what is chosen for seeds 30,
// 41 and 42 is, with its predicted and its measured time (results/h200_shapes.csv).
//
// On another GPU the kernels are right, and the choice is a guess: its numbers want to be fitted
// anew.
#pragma once

/// In microseconds: what a step of a block takes from a multiprocessor that has enough of them,
/// what it takes at least, and what is before and after a tile's steps, once and for each block.
struct StepTimes {
  double full, alone, begin, each;
};

/// A tile (see Tile), and its times where rows of A and B are aligned, and where they are not.
struct FittedTile {
  unsigned rows, columns, depth, warp_rows, warp_columns, lanes_down, per_sm;
  StepTimes wide, narrow;
};

constexpr FittedTile kTiles[] = {
    {128, 256, 16, 64, 64, 8, 1, {1.84, 1.74, 6.35, 0.714}, {2.13, 1.72, 5.1, 5.32}},
    {64, 128, 16, 32, 64, 4, 3, {0.646, 0.537, 2.94, 0.035}, {0.66, 0.408, 3.22, 0.75}},
    {32, 128, 16, 32, 32, 4, 5, {0.393, 0.293, 1.58, 0}, {0.413, 0.439, 2.27, 0.125}},
    {32, 64, 16, 32, 32, 4, 8, {0.218, 0.461, 1.73, 0.046}, {0.219, 0.487, 2.55, 0.055}},
    {32, 32, 16, 16, 32, 4, 12, {0.156, 0.282, 1.5, 0.01}, {0.159, 0.251, 1.58, 0.028}},
    {32, 32, 32, 16, 32, 4, 8, {0.313, 0.357, 1.84, 0}, {0.382, 0.267, 2.11, 0.027}},
    {16, 128, 32, 16, 32, 4, 4, {0.546, 0.198, 1.45, 0}, {0.659, 0.417, 2.2, 0.046}},
    {16, 64, 16, 16, 32, 4, 12, {0.142, 0.263, 1.15, 0.022}, {0.164, 0.26, 1.93, 0.035}},
};

/// multiply_few_rows: C has `holds` rows at most, and a block has `columns`. A step is a term.
struct FittedRows {
  unsigned holds, columns;
  StepTimes times;
};

constexpr FittedRows kFewRows[] = {
    {1, 32, {0.00076, 0.00391, 1.15, 0.198}}, {2, 8, {0.00112, 0, 1.15, 0.581}},
    {4, 32, {0.00181, 0.00297, 1.15, 0.348}}, {8, 64, {0.00921, 0.00735, 1.15, 0.136}},
    {12, 8, {0.0018, 0.0013, 1.15, 0.728}},   {12, 64, {0.00666, 0.0085, 1.15, 0.646}},
};

/// multiply_few_columns: C has `holds` columns at most, `sharers` threads share k and have `rows`
/// rows. A step is a term.
struct FittedColumns {
  unsigned holds, sharers, rows;
  StepTimes times;
};

constexpr FittedColumns kFewColumns[] = {
    {1, 32, 2, {0, 0.00243, 0.98, 0.221}},        {2, 32, 1, {0, 0.00116, 0.98, 0.59}},
    {2, 32, 2, {0.00057, 0.00168, 0.98, 0.359}},  {2, 256, 1, {0, 0.00033, 0.98, 0.772}},
    {4, 32, 1, {0.00075, 0.00146, 0.98, 0.246}},  {8, 8, 1, {0.00684, 0.00411, 0.98, 0.248}},
    {8, 32, 2, {0.0015, 0.00318, 0.98, 0.679}},   {8, 256, 1, {0.00015, 0.0001, 0.98, 0.689}},
    {12, 32, 2, {0.0017, 0.00337, 0.98, 0.94}},   {16, 8, 2, {0.01218, 0.01577, 0.98, 1.213}},
    {16, 32, 2, {0.00309, 0.00433, 0.98, 1.148}},
};

// All in microseconds, bytes per microsecond, or factors.
constexpr double kLaunch = 3.35;
// Memory: of all matrices with aligned rows, of A and of B with others, and of copies of them.
constexpr double kMemory = 2.49e6, kMemoryOfA = 1.59e6, kMemoryOfB = 2.37e6,
                 kMemoryOfCopies = 2.93e6;
constexpr double kSecondKernel = 7.96;  // copies of A and B: with the wait between two kernels
constexpr double kL2 = 5.26e6;          // what tiles read of A and B
constexpr double kL2OfSums = 6.31e6;    // partial sums
// A step in the kernel that shares tiles: of the largest tile, in whose loop nvcc puts 70 of 94
// loads of factors in runs (4 of 94 where tiles are whole), and of others.
constexpr double kSharedLarge = 1.17, kShared = 1.04;
// What a ticket costs: beginning in two tiles, once, and for each part of 32 elements per thread.
constexpr double kTicketBegins = 1.3, kTicket = 2.26, kTicketOfPart = 0.268;
// And a second pass.
constexpr double kPassBegins = 3.17, kPass = 3.61, kPassOfPart = 0.171;
// Thin products: streaming from memory, or from the L2 by rows and by columns; the last block's
// sum over the parts, for rows and for columns.
constexpr double kThinMemory = 4.7e6, kThinL2OfRows = 6.7e6, kThinL2OfColumns = 7.1e6;
constexpr double kThinRowParts = 1.3, kThinRowPart = 0.041;
constexpr double kThinColumnParts = 1.35, kThinColumnPart = 0.043;
// Few terms: for a term, and how it grows with the blocks; writing C.
constexpr double kTermsBegin = 4.2, kTerm = 0.126, kTermOfBlock = 0.0032, kTermsMemory = 3.2e6;
