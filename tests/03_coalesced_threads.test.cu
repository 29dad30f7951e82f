// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/03_coalesced_threads/coalesced_threads.cu"
#undef main

#include <array>
#include <limits>
#include <set>

#include "../chapters/03_coalesced_threads/experiments/warp_walks.cuh"
#include "kernel_testing.cuh"

#define main experiment_main
namespace loads {  // apart from the program, some of whose names load_walk.cuh has, too
#include "../chapters/03_coalesced_threads/experiments/load_walk.cuh"
namespace load_offsets {
#include "../chapters/03_coalesced_threads/experiments/load_offsets.cu"
}
namespace load_strides {
#include "../chapters/03_coalesced_threads/experiments/load_strides.cu"
}
}  // namespace loads
namespace store_strides {
#include "../chapters/03_coalesced_threads/experiments/store_strides.cu"
}
#undef main

namespace {

// What the versions read and write, with these values.
ThreadSums sums_of(const std::vector<int>& values, unsigned block, unsigned grid) {
  ThreadSums sums{values.size(), block, grid};
  CUDA_CHECK(cudaMemcpy(sums.x, values.data(), sums.x.bytes(), cudaMemcpyHostToDevice));
  sums.expected = sum_of_squares(values);
  return sums;
}

bool is_right(const Version<ThreadSums>& version, const ThreadSums& sums) {
  return (sums.*version.is_right)(version.name);
}

// One thread, a block, and then the whole grid: how many the rows of the table have.
std::size_t threads_of(const Version<ThreadSums>& version, const ThreadSums& sums) {
  if (&version == &kVersions[0]) return 1;
  return &version < &kVersions[5] ? sums.block : sums.partial.size();
}

// The partial sums of a version, thread by thread: who has which elements, said once more.
std::vector<long long> partials_of(bool chunks, const std::vector<int>& values,
                                   std::size_t threads) {
  const std::size_t chunk = div_up(values.size(), threads);
  std::vector<long long> partials(threads);
  for (std::size_t i = 0; i < values.size(); ++i) {
    partials[chunks ? i / chunk : i % threads] += static_cast<long long>(values[i]) * values[i];
  }
  return partials;
}

// The sum that a walk makes of `values`, finished on the host.
long long walked(const std::vector<int>& values, std::size_t n, std::size_t offset,
                 std::size_t stride, unsigned grid, unsigned block) {
  const DeviceArray<int> x(values);
  const DeviceArray<long long> partial(std::size_t{grid} * block);
  loads::sum_walk<<<grid, block>>>(x, n, offset, stride, partial);
  CUDA_CHECK_LAUNCH();
  const std::vector<long long> sums = partial.download();
  return std::accumulate(sums.begin(), sums.end(), 0LL);
}

}  // namespace

TEST_CASE("every version adds every element at awkward sizes, whatever the values") {
  for_ints_of_every_size(
      [](const std::vector<int>& values) { check_all(kVersions, sums_of(values, 512, 3)); });
}

TEST_CASE("every version works with any block and grid, also with more threads than elements") {
  for_blocks_of_every_size(5003, [](const std::vector<int>& values, unsigned block) {
    for (const unsigned grid : {1u, 2u, 7u}) {
      INFO("grid " << grid);
      check_all(kVersions, sums_of(values, block, grid));
    }
  });
}

TEST_CASE("every thread adds the elements that are its own, in chunks or by strides") {
  // 10 elements for 4 threads: chunks of 3, the last one short; or every fourth.
  const std::vector<int> values = {1, 10, 100, 1000, 2, 20, 200, 2000, 3, 30};
  CHECK(partials_of(true, values, 4) == std::vector<long long>{10101, 1000404, 4040009, 900});
  CHECK(partials_of(false, values, 4) == std::vector<long long>{14, 1400, 50000, 5000000});
  for (const std::size_t n : {0u, 1u, 10u, 63u, 64u, 65u, 1003u, 5000u}) {
    const std::vector<int> random = random_ints(n, -1000, 1000, 6);
    for (const unsigned block : {1u, 2u, 31u, 96u}) {
      const ThreadSums sums = sums_of(random, block, 3);
      for (const auto& version : kVersions) {
        INFO(version.name << ", n = " << n << ", block " << block);
        CHECK(runs_right(version, sums));
        const bool chunks = std::string(version.name).find("chunked") != std::string::npos;
        std::vector<long long> expected = partials_of(chunks, random, threads_of(version, sums));
        expected.resize(sums.partial.size(), -1);  // the slots of nobody, as poisoned
        CHECK(sums.partial.download() == expected);
      }
    }
  }
}

TEST_CASE("no launch trips over what earlier ones left, and doing nothing is not right") {
  for (const std::size_t n : {0, 10007}) {
    INFO("n = " << n);
    check_repeated(kVersions, sums_of(random_ints(n, 0, 9, 5), 256, 4));
  }
}

TEST_CASE("a sum of squares past 32 bits is exact, and so is the square of the smallest int") {
  for (const std::vector<int>& values :
       {std::vector<int>(1027, -1000000), std::vector<int>{std::numeric_limits<int>::min()}}) {
    INFO(values.size() << " times " << values[0]);
    check_all(kVersions, sums_of(values, 512, 2));
  }
}

TEST_CASE("a walk adds the elements at its offset and stride, and no other",
          "[load_strides][load_offsets]") {
  const std::vector<int> values = random_ints(40000, -1000, 1000, 11);
  for (const std::size_t stride : {1u, 2u, 3u, 8u, 31u, 1000u}) {
    for (const std::size_t offset : {0u, 1u, 7u, 32u}) {
      for (const std::size_t n : {0u, 1u, 33u, 39u}) {
        std::vector<int> picked;
        for (std::size_t i = 0; i < n; ++i) picked.push_back(values[offset + i * stride]);
        INFO("n = " << n << ", offset " << offset << ", stride " << stride);
        CHECK(walked(values, n, offset, stride, 2, 32) == sum_of_squares(picked));
      }
    }
  }
}

TEST_CASE("a walk is whole whether its loads in flight fill up or not",
          "[load_strides][load_offsets]") {
  // One thread has eight loads under way: below, at and above that many elements.
  const std::vector<int> values = random_ints(2500, -1000, 1000, 12);
  for (const std::size_t n : {7u, 8u, 9u, 16u, 17u, 2500u}) {
    const std::vector<int> picked(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
    INFO("n = " << n);
    CHECK(walked(values, n, 0, 1, 1, 1) == sum_of_squares(picked));
    CHECK(walked(values, n, 0, 1, 3, 96) == sum_of_squares(picked));
  }
}

TEST_CASE("a walk of stores fills the elements at its offset and stride, and no other",
          "[store_strides]") {
  for (const std::size_t stride : {1u, 2u, 8u, 31u, 1000u}) {
    for (const std::size_t offset : {0u, 1u, 32u}) {
      for (const std::size_t n : {0u, 1u, 33u, 39u}) {
        DeviceArray<int> y(40000);
        store_strides::store_walk<<<2, 32>>>(y, n, offset, stride);
        CUDA_CHECK_LAUNCH();
        std::vector<int> expected(y.size(), -1);
        for (std::size_t i = 0; i < n; ++i) expected[offset + i * stride] = static_cast<int>(i);
        INFO("n = " << n << ", offset " << offset << ", stride " << stride);
        CHECK(y.download() == expected);
      }
    }
  }
  CHECK(store_strides::stored(0x80000001u) == 1);
  CHECK(store_strides::stored(0x7fffffffu) == std::numeric_limits<int>::max());
}

TEST_CASE("the checker of stores looks at every element, also between the steps",
          "[store_strides]") {
  using namespace store_strides;
  const std::size_t n = 100;
  for (const std::size_t stride : {1u, 2u, 8u}) {
    const DeviceArray<int> y(elements_of(n, stride));
    const StoreWalk walk{{n, 0, stride}, y};
    const auto set = [&](std::size_t j, int value) {
      CUDA_CHECK(cudaMemcpy(walk.y + j, &value, sizeof value, cudaMemcpyHostToDevice));
    };
    INFO("stride " << stride);
    walk.launches = 1;
    CHECK_FALSE(walk.is_right("nothing was stored"));
    walk.launches = 0;
    for (std::size_t k = 0; k < windows_of(stride); ++k) {
      store_strides::store_walk<<<3, 32>>>(y, n, walk.next_first(), stride);
      CHECK(walk.is_right("so many windows"));
      walk.launches = k;
      CHECK_FALSE(walk.is_right("one window less"));
      walk.launches = k + 1;
    }
    walk.launches = 1000;
    CHECK(walk.is_right("once round is all there is"));
    for (const std::size_t j : {std::size_t{0}, 3 * stride, 99 * stride, y.size() - 1}) {
      const std::vector<int> before = y.download();
      set(j, before[j] == 7 ? 8 : 7);
      INFO("element " << j);
      CHECK_FALSE(walk.is_right("one element"));
      set(j, before[j]);
    }
    walk.poison();
    CHECK(y.download() == std::vector<int>(y.size(), -1));
  }
  const std::size_t more_than_threads = 1024 * 256 + 5;
  const DeviceArray<int> y(elements_of(more_than_threads, 1));
  const StoreWalk walk{{more_than_threads, 0, 1}, y};
  store_strides::store_walk<<<3, 32>>>(y, more_than_threads, walk.next_first(), 1);
  CHECK(walk.is_right("as many elements"));
  CUDA_CHECK(cudaMemset(walk.y + more_than_threads - 1, 0, sizeof(int)));
  CHECK_FALSE(walk.is_right("an element behind the first of each thread"));
}

TEST_CASE("the device fills x with the very elements that the host reference sums") {
  const DeviceArray<int> x(5001), of_loads(5001);
  fill<<<3, 250>>>(x, x.size(), 9);
  loads::fill_with_digits<<<3, 250>>>(of_loads, x.size(), 9);
  CUDA_CHECK_LAUNCH();
  const std::vector<int> filled = x.download();
  CHECK(filled == random_ints(5001, 0, 9, 9));
  CHECK(of_loads.download() == filled);
  std::vector<int> on_the_host;
  for (std::size_t i = 0; i < filled.size(); ++i) on_the_host.push_back(element(9, i));
  CHECK(on_the_host == filled);
  CHECK(square(-46341) == 2147488281LL);
}

TEST_CASE("the rows of the experiments are right, launch after launch, and their checks can fail",
          "[load_strides][load_offsets]") {
  const std::size_t n = 1003;
  const auto check = [&](std::size_t offset, std::size_t stride) {
    const DeviceArray<int> x(offset + elements_of(n, stride));
    loads::fill_with_digits<<<3, 250>>>(x, x.size(), 5);
    const loads::LoadWalk walk{{n, offset, stride}, 2 * 96, 5};
    INFO("stride " << stride << ", offset " << offset);
    for (std::size_t launch = 0; launch < 5; ++launch) {
      walk.poison();
      CHECK_FALSE(walk.is_right("nothing ran"));
      loads::sum_walk<<<2, 96>>>(x, n, walk.next_first(), stride, walk.partial);
      CHECK(walk.is_right("walk"));
      CHECK(walk.first == offset + launch % windows_of(stride) * window_of(n, stride));
    }
  };
  for (const std::size_t stride : kStrides) check(0, stride);
  for (const std::size_t offset : {std::size_t{1}, loads::load_offsets::kMostOffset})
    check(offset, 1);
}

TEST_CASE("a warp's load touches as many sectors and lines as its addresses span",
          "[load_strides][load_offsets][store_strides]") {
  constexpr std::size_t kSector = 32, kLine = 128;  // bytes
  for (const auto& [stride, sectors, lines] : std::vector<std::array<std::size_t, 3>>{
           {1, 4, 1}, {2, 8, 2}, {3, 12, 3}, {8, 32, 8}, {32, 32, 32}, {1000, 32, 32}}) {
    INFO("stride " << stride);
    CHECK(pieces_touched(0, stride, kSector) == sectors);
    CHECK(pieces_touched(0, stride, kLine) == lines);
  }
  CHECK(pieces_touched(1, 1, kSector) == 5);
  CHECK(pieces_touched(8, 1, kSector) == 4);
  CHECK(pieces_touched(8, 1, kLine) == 2);
  CHECK(pieces_touched(32, 1, kLine) == 1);
  CHECK(pieces_touched(1, 2, kSector) == 8);
  CHECK(moved_text(0, 8) == "32 sectors (lines: 8), 12.50 % of the bytes used");
  CHECK(moved_text(1, 1) == "5 sectors (lines: 2), 80.00 % of the bytes used");
}

TEST_CASE("the windows of a walk begin at a line and do not overlap",
          "[load_strides][load_offsets][store_strides]") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{1003}, std::size_t{1} << 24}) {
    for (const std::size_t stride : kStrides) {
      INFO("stride " << stride << ", n = " << n);
      const std::size_t window = window_of(n, stride);
      CHECK(window % 32 == 0);
      CHECK(window > (n - 1) * stride);
      CHECK(windows_of(stride) * stride >= 4);
      CHECK(elements_of(n, stride) == windows_of(stride) * window);
    }
  }
}

TEST_CASE("the longest walk is the longest that finds room, and the first in any case",
          "[load_strides][store_strides]") {
  CHECK(most_elements(1) == elements_of(1, 1024));
  CHECK(most_elements(1_Gi) >= elements_of(1_Gi, 1));
  std::size_t free_bytes = 0, all_bytes = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  const std::size_t room = free_bytes / 8 * 7 / sizeof(int), n = room / 300;
  CHECK(most_elements(n) <= room);
  CHECK(most_elements(n) == elements_of(n, 256));      // 512 would be too long
  CHECK(most_elements(room) == elements_of(room, 1));  // too long, and kept
}

TEST_CASE("a walk that needs more elements than there are is left out: nothing is launched",
          "[store_strides]") {
  CommandLine typed;
  const Options opt(typed.argc(), typed.argv.data(), "03", "is there room?", {});
  ResultTable table(opt, 0);
  const DeviceArray<int> y(elements_of(100, 3));
  const store_strides::StoreWalk walk{{100, 0, 3}, y};
  const auto launch = [&] { store_strides::store_walk<<<3, 32>>>(y, 100, walk.next_first(), 3); };
  CHECK_FALSE(add_walk(table, "walk", walk, y.size() - 1, "store", launch));
  CHECK(walk.launches == 0);
  CHECK(add_walk(table, "walk", walk, y.size(), "store", launch));
  CHECK(walk.launches > 0);
  CHECK(table.finish() == kExitOk);
}

TEST_CASE("the experiments hold what the notes discuss", "[load_strides][store_strides]") {
  CHECK(std::size(kStrides) == 15);
  CHECK(kStrides[0] == 1);
  CHECK(kStrides[13] == 1000);
  CHECK(loads::load_offsets::kMostOffset == 32);
}

TEST_CASE("a limit on what the L2 fetches is a hint that the device takes", "[load_strides]") {
  if (!kOnGpu) return;
  std::size_t before = 0, now = 0;
  CUDA_CHECK(cudaDeviceGetLimit(&before, cudaLimitMaxL2FetchGranularity));
  CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 128));
  CUDA_CHECK(cudaDeviceGetLimit(&now, cudaLimitMaxL2FetchGranularity));
  CHECK(now <= 128);  // the device may know better
  CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, before));
}

TEST_CASE("the checker rejects one wrong element and one missing thread") {
  ThreadSums sums = sums_of(random_ints(1000, 1, 9, 5), 256, 4);
  for (const auto& version : kVersions) {
    INFO(version.name);
    REQUIRE(runs_right(version, sums));
    sums.expected += 1;
    CHECK_FALSE(is_right(version, sums));
    sums.expected -= 1;
  }
  sums.poison();
  sum_strided<<<1, 255>>>(sums.x, sums.n, sums.partial);
  CUDA_CHECK_LAUNCH();
  CHECK_FALSE(sums.is_right("sum_strided"));
}

TEST_CASE("a grid of one block leaves what the version of one block leaves, thread by thread") {
  const ThreadSums sums = sums_of(random_ints(5003, -9, 9, 3), 96, 1);
  for (std::size_t i = 1; i <= 4; ++i) {
    INFO(kVersions[i].name);
    REQUIRE(runs_right(kVersions[i], sums));
    const std::vector<long long> one = sums.partial.download();
    REQUIRE(runs_right(kVersions[i + 4], sums));
    CHECK(sums.partial.download() == one);
  }
}
