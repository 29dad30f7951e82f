// SPDX-License-Identifier: MIT
// cooperative_groups on the CPU backend: ranks, shuffles, votes, reductions and barriers of every
// group.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>
#include <vector>

#include "../catch.hpp"
#include "../kernel_testing.cuh"

namespace cg = cooperative_groups;

namespace {

// Ranks and sizes as counted by hand.
__global__ void check_ranks(int* wrong) {
  const cg::thread_block block = cg::this_thread_block();
  const unsigned linear = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  int mistakes = 0;
  mistakes += block.thread_rank() != linear || cg::thread_rank(block) != linear;
  mistakes += block.size() != threads || block.num_threads() != threads;
  mistakes += block.group_index().x != blockIdx.x || block.thread_index().y != threadIdx.y;
  mistakes += block.dim_threads().x != blockDim.x;

  const auto warp = cg::tiled_partition<32>(block);
  mistakes += warp.thread_rank() != linear % 32 || warp.size() != 32;
  mistakes +=
      warp.meta_group_rank() != linear / 32 || warp.meta_group_size() != (threads + 31) / 32;
  const auto quad = cg::tiled_partition<4>(warp);
  mistakes += quad.thread_rank() != linear % 4 || quad.num_threads() != 4;
  mistakes += quad.meta_group_rank() != linear % 32 / 4 || quad.meta_group_size() != 8;

  const cg::thread_group dynamic = cg::tiled_partition(block, 8);
  mistakes += dynamic.thread_rank() != linear % 8;
  const cg::thread_group finer = cg::tiled_partition(dynamic, 2);
  mistakes += finer.thread_rank() != linear % 2;
  const cg::thread_group whole = block;
  mistakes += whole.thread_rank() != linear || cg::group_size(whole) != threads;

  const cg::grid_group grid = cg::this_grid();
  const unsigned long long block_number =
      (blockIdx.z * gridDim.y + blockIdx.y) * static_cast<unsigned long long>(gridDim.x) +
      blockIdx.x;
  mistakes += grid.thread_rank() != block_number * threads + linear;
  mistakes += grid.block_rank() != block_number || grid.is_valid();
  if (mistakes != 0) atomicAdd(wrong, mistakes);
}

}  // namespace

// FEATURE: cooperative groups: `this_thread_block`
TEST_CASE("groups count ranks and sizes in blocks and grids of any shape") {
  DeviceArray<int> wrong(std::vector<int>{0});
  for (const dim3 block :
       {dim3(1), dim3(31), dim3(32), dim3(250), dim3(7, 5, 3), dim3(16, 16), dim3(1024)}) {
    for (const dim3 grid : {dim3(1), dim3(3, 2, 2)}) check_ranks<<<grid, block>>>(wrong.get());
  }
  REQUIRE(wrong.download()[0] == 0);
}

namespace {

struct Triple {
  double a;
  int b;
  float c;
};

// What must be inlined has an address all the same.
__device__ __noinline__ unsigned larger(unsigned a, unsigned b) { return a < b ? b : a; }

template <unsigned kSize>
__device__ void check_tile(cg::thread_block_tile<kSize> tile, int* wrong) {
  const unsigned rank = tile.thread_rank();
  const unsigned linear = cg::this_thread_block().thread_rank();
  const unsigned first = linear - rank;
  int mistakes = 0;
  mistakes += tile.shfl(linear, static_cast<int>(kSize) - 1) != first + kSize - 1;
  mistakes += tile.shfl_up(linear, 1) != (rank == 0 ? linear : linear - 1);
  mistakes += tile.shfl_down(linear, 1) != (rank == kSize - 1 ? linear : linear + 1);
  mistakes += tile.shfl_xor(linear, 1) != (kSize == 1 ? linear : linear ^ 1);
  const Triple mine{linear + 0.5, static_cast<int>(linear), 2.0f};
  const Triple other = tile.shfl(mine, 0);
  mistakes += other.a != first + 0.5 || other.b != static_cast<int>(first) || other.c != 2.0f;
  mistakes += tile.any(rank == 0) != 1 || tile.all(rank == 0) != (kSize == 1);
  mistakes += tile.ballot(rank == kSize - 1) != 1u << (kSize - 1);
  mistakes += tile.match_any(rank / 2) != (kSize == 1 ? 1u : 3u << (rank / 2 * 2));
  int same = 0;
  mistakes += tile.match_all(kSize, same) != (kSize == 32 ? ~0u : (1u << kSize) - 1) || same != 1;

  const unsigned sum = kSize * first + kSize * (kSize - 1) / 2;
  mistakes += cg::reduce(tile, linear, cg::plus<unsigned>()) != sum;
  mistakes += cg::reduce(tile, 1.5f, cg::plus<float>()) != 1.5f * kSize;
  mistakes += cg::reduce(tile, linear, cg::less<unsigned>()) != first;
  mistakes += cg::reduce(tile, linear, cg::greater<unsigned>()) != first + kSize - 1;
  mistakes += cg::reduce(tile, linear, larger) != first + kSize - 1;
  mistakes += cg::inclusive_scan(tile, 2) != 2 * static_cast<int>(rank + 1);
  mistakes += cg::exclusive_scan(tile, 2) != 2 * static_cast<int>(rank);
  tile.sync();
  if (mistakes != 0) atomicAdd(wrong, mistakes);
}

__global__ void check_tiles(int* wrong) {
  const auto block = cg::this_thread_block();
  check_tile<32>(cg::tiled_partition<32>(block), wrong);
  check_tile<16>(cg::tiled_partition<16>(block), wrong);
  check_tile<2>(cg::tiled_partition<2>(block), wrong);
  check_tile<1>(cg::tiled_partition<1>(block), wrong);
  check_tile<8>(cg::tiled_partition<8>(cg::tiled_partition<32>(block)), wrong);
}

}  // namespace

// FEATURE: cooperative groups: `tiled_partition` of up to 32 threads
// FEATURE: cooperative groups: `cg::reduce`, `cg::inclusive_scan`, `cg::exclusive_scan`
TEST_CASE("tiles shuffle, vote, match, reduce and scan") {
  DeviceArray<int> wrong(std::vector<int>{0});
  for (const unsigned threads : {32u, 96u, 256u, 1024u}) {
    check_tiles<<<2, threads>>>(wrong.get());
    CAPTURE(threads);
    REQUIRE(wrong.download()[0] == 0);
  }
}

namespace {

// Counts the odd threads with one atomic for each group of lanes that came together.
__global__ void count_odd(unsigned* count, unsigned* ranks_wrong) {
  if (threadIdx.x % 2 == 0) return;
  const cg::coalesced_group together = cg::coalesced_threads();
  if (together.thread_rank() == 0) atomicAdd(count, together.size());
  const unsigned ballot = together.ballot(1);
  if (ballot != (1ull << together.size()) - 1) atomicAdd(ranks_wrong, 1);
  if (together.shfl(together.thread_rank(), 0) != 0) atomicAdd(ranks_wrong, 1);
  const unsigned sum = cg::reduce(together, 1u, cg::plus<unsigned>());
  if (sum != together.size()) atomicAdd(ranks_wrong, 1);
}

}  // namespace

// FEATURE: cooperative groups: `coalesced_threads`
TEST_CASE("coalesced threads agree on who they are, however many come together") {
  for (const unsigned threads : awkward_blocks()) {
    DeviceArray<unsigned> counts(std::vector<unsigned>{0, 0});
    count_odd<<<3, threads>>>(counts.get(), counts.get() + 1);
    CAPTURE(threads);
    REQUIRE(counts.download()[0] == 3 * (threads / 2));
    REQUIRE(counts.download()[1] == 0);
  }
}

namespace {

__global__ void partition(int* wrong) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const unsigned rank = warp.thread_rank();
  int mistakes = 0;
  const auto same = cg::labeled_partition(warp, static_cast<int>(rank % 3));
  mistakes += same.thread_rank() != rank / 3;
  mistakes += same.size() != (rank % 3 < 2 ? 11u : 10u);
  mistakes += cg::reduce(same, 1, cg::plus<int>()) != static_cast<int>(same.size());
  mistakes += same.shfl_up(rank, 1) != (rank < 3 ? rank : rank - 3);
  mistakes += same.shfl_down(rank, 1) != (rank + 3 > 31 ? rank : rank + 3);
  const auto low = cg::binary_partition(warp, rank < 5);
  mistakes += low.size() != (rank < 5 ? 5u : 27u);
  const auto pairs = cg::tiled_partition(same, 2);
  mistakes += pairs.thread_rank() != rank / 3 % 2;
  pairs.sync();
  if (mistakes != 0) atomicAdd(wrong, mistakes);
}

}  // namespace

// FEATURE: cooperative groups: `labeled_partition`, `binary_partition`
TEST_CASE("a warp may be split by labels and by truth") {
  DeviceArray<int> wrong(std::vector<int>{0});
  partition<<<2, 96>>>(wrong.get());
  REQUIRE(wrong.download()[0] == 0);
}

namespace {

// Each thread passes its value to its right-hand neighbour in the grid, round after round.
__global__ void rotate(int* values, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned long long i = grid.thread_rank();
  const unsigned long long n = grid.size();
  if (!grid.is_valid()) return;
  for (int round = 0; round < rounds; ++round) {
    const int mine = values[i];
    grid.sync();
    values[(i + 1) % n] = mine;
    cg::sync(grid);
  }
}

}  // namespace

// FEATURE: cooperative groups: `this_grid` and its `sync`; `cudaLaunchCooperativeKernel`
TEST_CASE("a grid barrier holds until every thread of every block is there") {
  for (const unsigned threads : {1u, 33u, 256u}) {
    for (const unsigned blocks : {1u, 2u, threads == 1 ? 32u : 4u}) {
      const unsigned n = threads * blocks;
      std::vector<int> values(n);
      for (unsigned i = 0; i < n; ++i) values[i] = static_cast<int>(i);
      DeviceArray<int> device(values);
      int rounds = threads == 1 ? 2000 : 3;
      int* data = device.get();
      void* arguments[] = {&data, &rounds};
      CAPTURE(threads, blocks);
      REQUIRE(cudaLaunchCooperativeKernel(rotate, blocks, threads, arguments, 0, nullptr) ==
              cudaSuccess);
      const std::vector<int> result = device.download();
      int wrong = 0;
      for (unsigned i = 0; i < n; ++i) {
        if (result[(i + static_cast<unsigned>(rounds)) % n] != static_cast<int>(i)) ++wrong;
      }
      REQUIRE(wrong == 0);
    }
  }
}

namespace {

__global__ void count_calls(int* calls) {
  cg::invoke_one(cg::this_thread_block(), [&] { atomicAdd(calls, 1); });
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int old = cg::invoke_one_broadcast(warp, [&] { return atomicAdd(calls + 1, 1); });
  atomicAdd(calls + 2, old < 2 ? 1 : 0);
}

}  // namespace

// FEATURE: cooperative groups: `cg::invoke_one`, `cg::invoke_one_broadcast`
TEST_CASE("one thread of a group calls a function, and its warp gets what it returns") {
  DeviceArray<int> calls(std::vector<int>{0, 0, 0});
  count_calls<<<1, 64>>>(calls.get());
  CHECK(calls.download() == std::vector<int>{1, 2, 64});
}

// ---- tiles of several warps ---------------------------------------------------------------------

namespace {

/// Numbers go round in each tile; tiles take different numbers of turns.
template <unsigned kSize>
__global__ void pass_round_in_tiles(int* y, int* wrong) {
  __shared__ int numbers[2][1024];
  __shared__ cg::block_tile_memory<1024> memory;
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<kSize>(block);
  const unsigned t = threadIdx.x, first = t - tile.thread_rank();
  const unsigned size = min(kSize, blockDim.x - first), turns = 3 + tile.meta_group_rank();
  const auto warp = cg::tiled_partition<32>(tile);
  int mistakes = tile.num_threads() != kSize || tile.thread_rank() != t % kSize;
  mistakes += tile.meta_group_rank() != t / kSize || tile.size() != kSize;
  mistakes += tile.meta_group_size() != (blockDim.x + kSize - 1) / kSize;
  mistakes += warp.meta_group_rank() != t % kSize / 32 || warp.meta_group_size() != kSize / 32;
  if (mistakes != 0) atomicAdd(wrong, mistakes);
  numbers[0][t] = static_cast<int>(t);
  tile.sync();
  for (unsigned i = 0; i < turns; ++i) {
    numbers[(i + 1) % 2][t] = numbers[i % 2][first + (t - first + 1) % size] + 1;
    cg::sync(tile);
  }
  y[t] = numbers[turns % 2][t];
}

// Each thread's results: the sum and the largest of the tile's numbers, that of rank 70, whether
// any is 100, whether all are below 600.
template <unsigned kSize>
__global__ void combine_in_tiles(int* y) {
  __shared__ cg::block_tile_memory<1024> memory;
  const auto tile = cg::tiled_partition<kSize>(cg::this_thread_block(memory));
  const int mine = static_cast<int>(threadIdx.x);
  int* const out = y + 5 * mine;
  out[0] = cg::reduce(tile, mine, cg::plus<int>());
  out[1] = cg::reduce(tile, mine, cg::greater<int>());
  out[2] = tile.shfl(mine, 70);
  out[3] = tile.any(mine == 100) != 0;
  out[4] = tile.all(mine < 600) != 0;
}

template <unsigned kSize>
void check_combined_tiles() {
  constexpr int kThreads = 1024;
  const DeviceArray<int> y(5 * kThreads);
  combine_in_tiles<kSize><<<1, kThreads>>>(y.get());
  const std::vector<int> results = y.download();
  for (int t = 0; t < kThreads; ++t) {
    const int size = kSize, first = t / size * size, last = first + size - 1;
    const std::vector<int> mine(results.begin() + 5 * t, results.begin() + 5 * (t + 1));
    const std::vector<int> expected{(first + last) * size / 2, last, first + 70 % size,
                                    first <= 100 && 100 <= last, last < 600};
    REQUIRE(mine == expected);
  }
}

template <unsigned kSize>
void check_large_tiles() {
  for (const unsigned threads : {64u, 100u, 512u, 1000u, 1024u}) {
    const DeviceArray<int> y(threads);
    DeviceArray<int> wrong(std::vector<int>{0});
    pass_round_in_tiles<kSize><<<1, threads>>>(y.get(), wrong.get());
    std::vector<int> expected(threads);
    for (unsigned t = 0; t < threads; ++t) {
      const unsigned first = t / kSize * kSize, turns = 3 + t / kSize;
      const unsigned size = std::min(kSize, threads - first);
      expected[t] = static_cast<int>(first + (t - first + turns) % size + turns);
    }
    INFO(threads << " threads in tiles of " << kSize);
    CHECK(y.download() == expected);
    CHECK(wrong.download()[0] == 0);
  }
}

}  // namespace

// FEATURE: cooperative groups: `cg::reduce` over a tile of several warps
TEST_CASE("tiles of several warps combine what their threads bring") {
  check_combined_tiles<64>();
  check_combined_tiles<128>();
  check_combined_tiles<256>();
  check_combined_tiles<512>();
}

// FEATURE: cooperative groups: tiles of several warps
TEST_CASE("tiles of several warps meet, each for itself") {
  check_large_tiles<64>();
  check_large_tiles<128>();
  check_large_tiles<256>();
  check_large_tiles<512>();
}
