// SPDX-License-Identifier: MIT
// What makes last_block_wide fast?
// It differs from last_block in three things.
// 4B or 16B     bytes that one load brings
// x1 or x4      loads of a thread that leave before the first value is used
// grid or tile  a thread's next word: a whole grid further, or a block further within a tile

#include "../../../common/common.cuh"
#include "sum_memory.cuh"

constexpr unsigned kTurn = 4;  // words that a thread reads in one turn of the grid

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
#pragma unroll 1
    for (unsigned k = 0; k < kTurn; k += kLoads) {  // kLoads on their way, no more
      Word v[kLoads];
#pragma unroll
      for (unsigned j = 0; j < kLoads; ++j) {
        const std::size_t at = w + (k + j) * step;
        v[j] = at < count ? words[at] : Word{};
      }
#pragma unroll
      for (unsigned j = 0; j < kLoads; ++j) sum += square(v[j]);
    }
  }
  sum = block_sum(sum + sum_of_share(p, count * kInts));  // and the ints that fill no word
  if (draws_last_ticket(p, sum)) add_partials(p);
}

template <class Word, unsigned kLoads, bool kTiles>
void launch(const SumMemory& d) {
  sum_by_words<Word, kLoads, kTiles><<<d.sum.grid, d.sum.block>>>(d.sum);
}

const Version<SumMemory> kVersions[] = {
    {"4B_x1_grid", "last_block as it is", launch<int, 1, false>},
    {"4B_x1_tile", "only tiles", launch<int, 1, true>},
    {"4B_x4_grid", "only four loads in flight", launch<int, 4, false>},
    {"4B_x4_tile", "four in flight, and tiles", launch<int, 4, true>},
    {"16B_x1_grid", "only 16 bytes per load", launch<int4, 1, false>},
    {"16B_x1_tile", "16 bytes, and tiles", launch<int4, 1, true>},
    {"16B_x4_grid", "16 bytes, four in flight", launch<int4, 4, false>},
    {"16B_x4_tile", "all three: last_block_wide", launch<int4, 4, true>},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, block = 512;
  const Options opt(argc, argv, "10_loads_and_tiles", "what makes last_block_wide fast?",
                    {{"n", &n, 1, 16_Gi, "ints to sum"},
                     {"block", &block, kWarp, kMaxBlock, "threads per block", kWarp}});
  ResultTable table(opt, n * sizeof(int), 2_Mi);
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const unsigned held = blocks_held(sum_by_words<int, 1, false>, block);
  const unsigned grid = std::min(held, blocks_for(n, 4 * kTurn * block));
  const SumMemory memory{random_ints(n, 0, 9, opt.seed), grid, static_cast<unsigned>(block)};
  for (const auto& version : kVersions) table.add(version, memory);
  return table.finish();
}
