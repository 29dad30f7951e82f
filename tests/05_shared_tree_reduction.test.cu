// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/05_shared_tree_reduction/shared_tree_reduction.cu"
#undef main

#include <climits>
#include <functional>

#include "kernel_testing.cuh"

#define main experiment_main
namespace experiments {  // apart from the program, whose names squares.cuh has, too
#include "../chapters/05_shared_tree_reduction/experiments/squares.cuh"
namespace end_to_end {
#include "../chapters/05_shared_tree_reduction/experiments/end_to_end.cu"
}
namespace forced_branch {
#include "../chapters/05_shared_tree_reduction/experiments/forced_branch.cu"
}
namespace opt_in_tile {
#include "../chapters/05_shared_tree_reduction/experiments/opt_in_tile.cu"
}
namespace shared_bandwidth {
#include "../chapters/05_shared_tree_reduction/experiments/shared_bandwidth.cu"
}
namespace shared_layouts {
#include "../chapters/05_shared_tree_reduction/experiments/shared_layouts.cu"
}
namespace slots_in_a_loop {
#include "../chapters/05_shared_tree_reduction/experiments/slots_in_a_loop.cu"
}
namespace stray_bytes {
#include "../chapters/05_shared_tree_reduction/experiments/stray_bytes.cu"
}
}  // namespace experiments
#undef main

using namespace experiments;
namespace {

// Those of the chapter, and CUB's where there are any.
std::vector<Version<BlockSums>> all_versions(unsigned block) {
  std::vector<Version<BlockSums>> versions(std::begin(kVersions), std::end(kVersions));
  for (const auto& version : cub_versions(block)) versions.push_back(version);
  return versions;
}

// What block b of a launch is to leave, for blocks that take `elements` each; then the poison that
// a block which is not there leaves alone.
std::vector<long long> sums_of_blocks(const std::vector<int>& x, std::size_t elements,
                                      std::size_t blocks, std::size_t places) {
  std::vector<long long> sums(places, -1);  // what poison() writes
  std::fill(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(blocks), 0);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i / elements] += 1LL * x[i] * x[i];
  return sums;
}

// The array is declared inside an if that all threads of a block take, or none. In even blocks it
// turns the block's elements round, in odd ones another array of another size adds 1 to them.
constexpr unsigned kTurned = 96, kAnother = 64;
__global__ void shared_inside_if(const int* x, int* out) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (blockIdx.x % 2 == 0) {
    __shared__ int slots[kTurned];
    slots[t] = x[i];
    __syncthreads();  // the whole block is in here
    out[i] = slots[blockDim.x - 1 - t];
  } else {
    __shared__ int slots[kAnother];
    slots[t] = x[i] + 1;
    __syncthreads();  // as above
    out[i] = slots[t];
  }
}

}  // namespace

TEST_CASE("a shared array declared inside an if takes its room in every block") {
  for (const unsigned block : {1u, 33u, kAnother}) {
    const std::vector<int> x = random_ints(std::size_t{5} * block, -9, 9, 3);
    const DeviceArray<int> d_x(x), out(x.size());
    shared_inside_if<<<5, block>>>(d_x, out);
    CUDA_CHECK_LAUNCH();
    std::vector<int> expected(x);
    for (unsigned b = 0; b < 5; ++b) {
      const auto first = expected.begin() + b * block;
      if (b % 2 == 0) std::reverse(first, first + block);
      if (b % 2 == 1) std::for_each(first, first + block, [](int& v) { ++v; });
    }
    INFO("blocks of " << block);
    CHECK(out.download() == expected);
  }
  cudaFuncAttributes attributes;
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, shared_inside_if));
  if (kOnGpu) CHECK(attributes.sharedSizeBytes == (kTurned + kAnother) * sizeof(int));
}

TEST_CASE("every version adds every element at awkward sizes, whatever the values") {
  for_ints_of_every_size(
      [](const std::vector<int>& values) { check_all(all_versions(256), BlockSums(values, 256)); });
}

TEST_CASE("every version works with any block size, powers of two or not") {
  const std::size_t most = small_sizes() ? 1003 : 5003;
  for_blocks_of_every_size(most, [](const std::vector<int>& values, unsigned block) {
    check_all(all_versions(block), BlockSums(values, block));
  });
}

TEST_CASE("every block leaves the sum of its own elements in its own place and writes no other") {
  for (const unsigned block : awkward_blocks()) {
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{2053}}) {
      const std::vector<int> x = random_ints(n, -9, 9, 3);
      const BlockSums d(x, block);
      const auto check = [&](const Version<BlockSums>& version, unsigned each) {
        d.poison();
        version.launch(d);
        CUDA_CHECK_LAUNCH();
        INFO(version.name << ", block " << block << ", n = " << n);
        CHECK(d.sums.download() ==
              sums_of_blocks(x, each * block, blocks_for(n, each * block), d.grid));
      };
      for (const auto& version : kVersions)  // from eight_each on a thread has eight
        check(version, &version < &kVersions[7] ? 1 : kItems);
      const auto library = cub_versions(block);  // its last one leaves a single sum
      if (library.size() == 2) check(library[0], kItems);
    }
  }
}

TEST_CASE("no launch trips over what earlier ones left, and doing nothing is not right") {
  const std::vector<int> x = random_ints(small_sizes() ? 1031 : 10007, 0, 9, 5);
  check_repeated(all_versions(256), BlockSums(x, 256));
}

TEST_CASE("a sum of squares past 32 bits is exact") {
  check_all(all_versions(256), BlockSums(std::vector<int>(4099, 40000000), 256));
}

TEST_CASE("the checker rejects one wrong element") {
  std::vector<int> x = random_ints(1000, 0, 9, 5);
  const BlockSums sums(x, 256);
  const auto& version = kVersions[5];
  REQUIRE(runs_right(version, sums));
  x[999] += 1;
  CHECK_FALSE(BlockSums(x, 256).expected == sums.expected);
  CUDA_CHECK(cudaMemcpy(sums.x, x.data(), sums.x.bytes(), cudaMemcpyHostToDevice));
  CHECK_FALSE(runs_right(version, sums));
}

TEST_CASE("a kernel that did not ask is refused 64 KiB of dynamic shared memory", "[opt_in_tile]") {
  // sum_dynamic_shared was never given more than the limit that holds without asking.
  const BlockSums d(random_ints(1000, 0, 9, 5), 256);
  sum_dynamic_shared<<<d.grid, d.block, 64 * 1024>>>(d.x, d.n, d.sums);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("a tile's sum is right at awkward sizes, for any block, past 32 bits", "[opt_in_tile]") {
  using namespace opt_in_tile;
  CUDA_CHECK(cudaFuncSetAttribute(sum_opt_in_tile, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  kTileBytes));
  const auto runs_right = [](const std::vector<int>& values, unsigned block) {
    const std::vector<long long> expected = sums_of_tiles(values);
    const DeviceArray<int> x(values);
    const DeviceArray<long long> sums(expected.size());
    sum_opt_in_tile<<<expected.size(), block, kTileBytes>>>(x, values.size(), sums);
    CUDA_CHECK_LAUNCH();
    return all_equal("opt_in_tile", sums.download(), expected);
  };
  for_ints_of_every_size([&](const std::vector<int>& values) { CHECK(runs_right(values, 256)); });
  for (const unsigned block : awkward_blocks()) {
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{2053}, std::size_t{8193}}) {
      INFO("block " << block << ", n = " << n);
      CHECK(runs_right(random_ints(n, -9, 9, 3), block));
    }
  }
  CHECK(runs_right(std::vector<int>(4099, 40000000), 256));
  CHECK(sums_of_tiles({}) == std::vector<long long>{0});
  CHECK(sums_of_tiles(std::vector<int>(8194, -3)) == std::vector<long long>{9 * 8192, 18});
}

TEST_CASE("trees with predicates and behind a branch are right at awkward sizes, for any block",
          "[forced_branch]") {
  const auto all_run_right = [](const std::vector<int>& values, unsigned block) {
    const SharedInts sums(values, blocks_for(values.size(), block), block);
    check_all(forced_branch::kVersions, sums);
    sums.poison();
    if (!values.empty()) CHECK_FALSE(sums.is_right("nothing ran"));
  };
  for_ints_of_every_size([&](const std::vector<int>& values) { all_run_right(values, 256); });
  for_blocks_of_every_size(2053, all_run_right);
  all_run_right(std::vector<int>(4099, 40000000), 256);
}

TEST_CASE("carved arrays and votes are right for every block, at awkward sizes",
          "[shared_layouts]") {
  using namespace shared_layouts;
  for_ints_of_every_size([](const std::vector<int>& values) {
    check_all(shared_layouts::kVersions, BlockResults{values, 256});
  });
  for_blocks_of_every_size(2053, [](const std::vector<int>& values, unsigned block) {
    check_repeated(shared_layouts::kVersions, BlockResults{values, block}, 1);
  });
  const BlockResults large{std::vector<int>(4099, 40000000), 256};
  CHECK(runs_right(shared_layouts::kVersions[0], large));
}

TEST_CASE("each block's maximum, count and votes are those of its ints", "[shared_layouts]") {
  // Worked out here once more, apart from the experiment's own check.
  for (const unsigned block : awkward_blocks()) {
    const std::size_t n = 2053;
    const std::vector<int> x = random_ints(n, -9, 9, 3);
    const shared_layouts::BlockResults r{x, block};
    std::vector<int> maxima(r.grid, INT_MIN), odd(r.grid, 0), flags(r.grid, 1);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t b = i / block;
      maxima[b] = std::max(maxima[b], x[i]);
      odd[b] += x[i] % 2 != 0;
      if (x[i] == 9) flags[b] |= 2;
    }
    INFO("block " << block);
    CHECK(runs_right(shared_layouts::kVersions[0], r));
    CHECK(r.maxima.download() == maxima);
    CHECK(r.odd_counts.download() == odd);
    CHECK(runs_right(shared_layouts::kVersions[1], r));
    CHECK(r.odd_counts.download() == odd);
    CHECK(r.flags.download() == flags);
  }
}

TEST_CASE("an element of 10 or more ends the vote that all are below 10", "[shared_layouts]") {
  for (const std::size_t where : {std::size_t{0}, std::size_t{300}, std::size_t{999}}) {
    std::vector<int> values(1000, 8);
    values[where] = 10;
    const shared_layouts::BlockResults r{values, 256};
    CHECK(runs_right(shared_layouts::kVersions[1], r));
    CHECK((r.flags.download()[where / 256] & 1) == 0);
  }
}

TEST_CASE("the way there and back ends at the right sum, with every kernel", "[end_to_end]") {
  using namespace end_to_end;
  const auto ends_right = [](const std::vector<int>& x, unsigned block, Tree tree) {
    Trip trip{x, block, tree};
    trip.steps(0, kSteps - 1);
    CHECK(trip.sum == -1);
    trip.step(kSteps - 1);
    CHECK(trip.sum == sum_of_squares(x));
  };
  for (const Tree tree :
       {Tree::kSequential, Tree::kEightEach, Tree::kSharedModulo, Tree::kGlobalModulo}) {
    INFO("tree " << static_cast<int>(tree));
    for (const std::size_t n : sizes_to_test()) {
      if (n != 0 && n <= 100000) ends_right(random_ints(n, -9, 9, 3), 256, tree);
    }
    for (const unsigned block : awkward_blocks()) {
      ends_right(random_ints(2053, -9, 9, 3), block, tree);
    }
    ends_right(std::vector<int>(4099, 40000000), 256, tree);
  }
}

TEST_CASE("on the way each block leaves its own sum in its own place, with every kernel",
          "[end_to_end]") {
  using namespace end_to_end;
  for (const unsigned block : awkward_blocks()) {
    const std::vector<int> x = random_ints(2053, -9, 9, 3);
    for (const Tree tree :
         {Tree::kSequential, Tree::kEightEach, Tree::kSharedModulo, Tree::kGlobalModulo}) {
      INFO("block " << block << ", tree " << static_cast<int>(tree));
      Trip trip{x, block, tree};
      trip.steps(0, 3);
      const std::size_t elements = tree == Tree::kEightEach ? 8 * block : block;
      CHECK(trip.sums == sums_of_blocks(x, elements, blocks_for(x.size(), elements), trip.grid));
    }
  }
}

TEST_CASE("shares of a few blocks are added right, wherever they are kept and whoever adds them",
          "[slots_in_a_loop]") {
  using namespace slots_in_a_loop;
  const auto all_run_right = [](const std::vector<int>& values, unsigned blocks, unsigned block) {
    INFO(blocks << " blocks");
    check_repeated(slots_in_a_loop::kVersions, SharedInts(values, blocks, block), 1);
  };
  for_ints_of_every_size([&](const std::vector<int>& values) { all_run_right(values, 8, 64); });
  for_blocks_of_every_size(2053, [&](const std::vector<int>& values, unsigned block) {
    for (const unsigned blocks : {1u, 3u, 8u}) all_run_right(values, blocks, block);
  });
  all_run_right(std::vector<int>(4099, 40000000), 8, 64);
  // The host's own sums are right: 300 elements, of which blocks of 64 threads take turns.
  CHECK(SharedInts(std::vector<int>(300, -3), 2, 64).expected ==
        std::vector<long long>{9 * (64 + 64 + 44), 9 * (64 + 64)});
}

TEST_CASE("every thread reads its words of the tile, from shared memory and from where it came",
          "[shared_bandwidth]") {
  using namespace shared_bandwidth;
  for (const unsigned rounds : {1u, 2u, 9u}) {
    for (const unsigned blocks : {1u, 3u}) {
      INFO("rounds " << rounds << ", blocks " << blocks);
      check_repeated(std::vector{kFromShared<unsigned>, kFromL1<unsigned>},
                     Reads<unsigned>(blocks, rounds, 5), 1);
      check_repeated(std::vector{kFromShared<uint4>, kFromL1<uint4>},
                     Reads<uint4>(blocks, rounds, 5), 1);
    }
  }
  CHECK(Reads<uint4>(3, 2, 5).bytes_read() == 3.0 * 1024 * 2 * 8 * 16);
}

TEST_CASE("thread t of the bandwidth's kernels adds eight words of each round",
          "[shared_bandwidth]") {
  // Worked out here once more, apart from the experiment's own check: two rounds, 4-byte words.
  using namespace shared_bandwidth;
  const Reads<unsigned> reads(1, 2, 5);
  REQUIRE(runs_right(kFromShared<unsigned>, reads));
  const std::vector<unsigned> sums = reads.sums.download();
  for (const unsigned t : {0u, 1u, 223u, 224u, 255u, 256u, 1023u}) {
    unsigned expected = 0;
    for (unsigned k = 0; k < 8; ++k) {
      expected += reads.host_x[t % 256 + 128 * k];
      expected += reads.host_x[(t + 32) % 256 + 128 * k];
    }
    INFO("thread " << t);
    CHECK(sums[t] == expected);
  }
}

TEST_CASE("an array of eight slots serves blocks of up to eight threads", "[stray_bytes]") {
  // The published kernel is wrong in its size alone; what else it does has to be right.
  for (const unsigned threads : {1u, 2u, 7u, stray_bytes::kBlocks}) {
    const std::vector<int> x = random_ints(5 * threads, 1, 9, threads);
    const DeviceArray<int> d_x(x);
    const DeviceArray<long long> d_sums(6);
    stray_bytes::sum_in_eight_slots<<<5, threads>>>(d_x, d_sums);
    CUDA_CHECK_LAUNCH();
    INFO("blocks of " << threads << " threads");
    CHECK(d_sums.download() == sums_of_blocks(x, threads, 5, 6));  // nothing behind the last sum
  }
}
