// SPDX-License-Identifier: MIT
// Chapter 10, --show loads: what makes last_block_wide fast? It differs from last_block in three
// things, and here is every combination. Included by atomics_last_block.cu.
//
// 4B or 16B     bytes that one load brings
// x1 or x4      loads of a thread that leave before the first value is used
// grid or tile  a thread's next word: a whole grid further, or a block further within a tile
#pragma once

namespace wide_loads {

constexpr unsigned kTurn = 4;  // words that a thread reads in one turn of the grid

__device__ Sum sum_of_squares(int v) { return square(v); }
__device__ Sum sum_of_squares(int4 v) {
  return square(v.x) + square(v.y) + square(v.z) + square(v.w);
}

template <class Word, unsigned kLoads, bool kTiles>
__global__ void sum_by_words(GridSum p) {
  const auto* words = reinterpret_cast<const Word*>(p.x);
  constexpr std::size_t kInts = sizeof(Word) / sizeof(int);
  const std::size_t count = p.n / kInts;
  // In a turn the grid reads 4 words per thread: the same words, in another order.
  const std::size_t block_begins = std::size_t{blockIdx.x} * blockDim.x;
  const std::size_t first = (kTiles ? kTurn : 1) * block_begins + threadIdx.x;
  const std::size_t step = kTiles ? blockDim.x : grid_threads();
  Sum sum = 0;
  for (std::size_t w = first; w < count; w += kTurn * grid_threads()) {
    // kLoads on their way at a time, and no more.
#pragma unroll 1
    for (unsigned k = 0; k < kTurn; k += kLoads) {
      Word v[kLoads];
#pragma unroll
      for (unsigned j = 0; j < kLoads; ++j) {
        const std::size_t at = w + (k + j) * step;
        v[j] = at < count ? words[at] : Word{};
      }
#pragma unroll
      for (unsigned j = 0; j < kLoads; ++j) sum += sum_of_squares(v[j]);
    }
  }
  sum = block_sum(sum + sum_of_share(p, count * kInts));  // and the ints that fill no word
  if (draws_last_ticket(p, sum)) add_partials(p);
}

template <class Word, unsigned kLoads, bool kTiles>
void launch(const GridSum& p) {
  sum_by_words<Word, kLoads, kTiles><<<p.grid, p.block>>>(p);
}

const Version<GridSum> kVersions[] = {
    {"4B_x1_grid", "last_block as it is", launch<int, 1, false>},
    {"4B_x1_tile", "only tiles", launch<int, 1, true>},
    {"4B_x4_grid", "only four loads in flight", launch<int, 4, false>},
    {"4B_x4_tile", "four in flight, and tiles", launch<int, 4, true>},
    {"16B_x1_grid", "only 16 bytes per load", launch<int4, 1, false>},
    {"16B_x1_tile", "16 bytes, and tiles", launch<int4, 1, true>},
    {"16B_x4_grid", "16 bytes, four in flight", launch<int4, 4, false>},
    {"16B_x4_tile", "all three: last_block_wide", launch<int4, 4, true>},
};

}  // namespace wide_loads
