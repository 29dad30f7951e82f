// SPDX-License-Identifier: MIT
// cooperative_groups on the CPU backend: ranks, shuffles, votes, reductions and barriers of every
// group.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

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

TEST_CASE("groups count ranks and sizes in blocks and grids of any shape") {
  DeviceArray<int> wrong(std::vector<int>{0});
  for (const dim3 block :
       {dim3(1), dim3(31), dim3(32), dim3(250), dim3(7, 5, 3), dim3(16, 16), dim3(1024)}) {
    for (const dim3 grid : {dim3(1), dim3(3, 2, 2)}) {
      check_ranks<<<grid, block>>>(wrong.get());
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
  }
  REQUIRE(wrong.download()[0] == 0);
}

namespace {

struct Triple {
  double a;
  int b;
  float c;
};

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

TEST_CASE("tiles shuffle, vote, match, reduce and scan") {
  DeviceArray<int> wrong(std::vector<int>{0});
  for (const unsigned threads : {32u, 96u, 256u, 1024u}) {
    check_tiles<<<2, threads>>>(wrong.get());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
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

TEST_CASE("coalesced threads agree on who they are, however many come together") {
  for (const unsigned threads : awkward_blocks()) {
    DeviceArray<unsigned> counts(std::vector<unsigned>{0, 0});
    count_odd<<<3, threads>>>(counts.get(), counts.get() + 1);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
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

TEST_CASE("a warp may be split by labels and by truth") {
  DeviceArray<int> wrong(std::vector<int>{0});
  partition<<<2, 96>>>(wrong.get());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
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

TEST_CASE("a grid barrier holds until every thread of every block is there") {
  for (const unsigned threads : {1u, 33u, 256u}) {
    for (const unsigned blocks : {1u, 2u, 4u}) {
      const unsigned n = threads * blocks;
      std::vector<int> values(n);
      for (unsigned i = 0; i < n; ++i) values[i] = static_cast<int>(i);
      DeviceArray<int> device(values);
      int rounds = 3;
      int* data = device.get();
      void* arguments[] = {&data, &rounds};
      CAPTURE(threads, blocks);
      REQUIRE(cudaLaunchCooperativeKernel(rotate, blocks, threads, arguments, 0, nullptr) ==
              cudaSuccess);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      const std::vector<int> result = device.download();
      int wrong = 0;
      for (unsigned i = 0; i < n; ++i) {
        if (result[(i + 3) % n] != static_cast<int>(i)) ++wrong;
      }
      REQUIRE(wrong == 0);
    }
  }
}
