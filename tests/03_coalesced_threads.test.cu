// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/03_coalesced_threads/coalesced_threads.cu"
#undef main

#include <limits>

#include "kernel_testing.cuh"

namespace {

// The sum over any values, written without a word of the chapter's.
long long sum_of_squares(const std::vector<int>& values) {
  long long sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += static_cast<long long>(values[i]) * static_cast<long long>(values[i]);
  }
  return sum;
}

// Slots behind those that any launch may write.
constexpr std::size_t kSpare = 64;

// What the versions read and write, partial sums poisoned.
struct Setup {
  Setup(const std::vector<int>& values, unsigned block, unsigned grid)
      : expected(sum_of_squares(values)),
        x(values),
        partial(std::size_t{grid} * block + kSpare),
        sums{values.size(), block, grid, x.get(), partial.get()} {}

  bool is_right(const Version<ThreadSums>& version) const {
    return check(version.name, sums, expected);
  }

  bool run_and_check(const Version<ThreadSums>& version) const {
    poison(sums);
    version.launch(sums);
    CUDA_CHECK_LAUNCH();
    return is_right(version);
  }

  long long expected;
  DeviceArray<int> x;
  DeviceArray<long long> partial;
  ThreadSums sums;
};

// The partial sums of a version, thread by thread: who has which elements, said once more.
std::vector<long long> partials_of(const std::string& version, const std::vector<int>& values,
                                   std::size_t threads) {
  const bool chunks = version.find("chunked") != std::string::npos;
  const std::size_t chunk = div_up(values.size(), threads);
  std::vector<long long> partials(threads);
  for (std::size_t i = 0; i < values.size(); ++i) {
    partials[chunks ? i / chunk : i % threads] += static_cast<long long>(values[i]) * values[i];
  }
  return partials;
}

// The sum that sum_walk makes of `values`, finished on the host.
long long walked(const std::vector<int>& values, std::size_t n, std::size_t offset,
                 std::size_t stride, unsigned grid, unsigned block) {
  DeviceArray<int> x(values);
  DeviceArray<long long> partial(std::size_t{grid} * block);
  sum_walk<<<grid, block>>>(x.get(), n, offset, stride, partial.get());
  CUDA_CHECK_LAUNCH();
  const std::vector<long long> sums = partial.download();
  return std::accumulate(sums.begin(), sums.end(), 0LL);
}

std::size_t sectors(std::size_t offset, std::size_t stride) {
  return pieces_touched({"", offset, stride}, kSectorBytes);
}

std::size_t lines(std::size_t offset, std::size_t stride) {
  return pieces_touched({"", offset, stride}, kLineBytes);
}

}  // namespace

TEST_CASE("every version adds every element at awkward sizes, whatever the values") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      if (n > 100000 && input.name != "index-valued") continue;  // the kind that shows most
      const Setup setup(input.values, 512, 3);
      for (const auto& version : kVersions) {
        INFO(version.name << ", n = " << n << ", " << input.name);
        CHECK(setup.run_and_check(version));
      }
    }
  }
}

TEST_CASE("every version works with any block and grid, also with more threads than elements") {
  for (const unsigned block : awkward_blocks()) {
    for (const unsigned grid : {1u, 2u, 7u}) {
      for (const std::size_t n : {std::size_t{1}, std::size_t{257}, std::size_t{5003}}) {
        const Setup setup(random_ints(n, -9, 9, 3), block, grid);
        for (const auto& version : kVersions) {
          INFO(version.name << ", block " << block << ", grid " << grid << ", n = " << n);
          CHECK(setup.run_and_check(version));
        }
      }
    }
  }
}

TEST_CASE("every thread adds the elements that are its own, in chunks or by strides") {
  // 10 elements for 4 threads: chunks of 3, the last one short; or every fourth.
  const std::vector<int> values = {1, 10, 100, 1000, 2, 20, 200, 2000, 3, 30};
  CHECK(partials_of("chunked", values, 4) == std::vector<long long>{10101, 1000404, 4040009, 900});
  CHECK(partials_of("strided", values, 4) == std::vector<long long>{14, 1400, 50000, 5000000});
  for (const std::size_t n : {0u, 1u, 10u, 63u, 64u, 65u, 1003u, 5000u}) {
    const std::vector<int> random = random_ints(n, -1000, 1000, 6);
    for (const unsigned block : {1u, 2u, 31u, 96u}) {
      const Setup setup(random, block, 3);
      for (const auto& version : kVersions) {
        INFO(version.name << ", n = " << n << ", block " << block);
        CHECK(setup.run_and_check(version));
        const std::size_t threads = std::string(version.name) == "single_thread" ? 1
                                    : std::string(version.name).rfind("grid_", 0) == 0
                                        ? 3 * std::size_t{block}
                                        : block;
        std::vector<long long> expected = partials_of(version.name, random, threads);
        expected.resize(setup.partial.size(), -1);  // the slots of nobody, as poisoned
        CHECK(setup.partial.download() == expected);
      }
    }
  }
}

TEST_CASE("a launch leaves nothing behind that the next one trips over") {
  const Setup setup(random_ints(10007, 0, 9, 5), 256, 4);
  for (const auto& version : kVersions) {
    for (int repeat = 0; repeat < 20; ++repeat) version.launch(setup.sums);
    CUDA_CHECK_LAUNCH();
    INFO(version.name);
    CHECK(setup.is_right(version));
  }
}

TEST_CASE("a sum of squares past 32 bits is exact, and so is the square of the smallest int") {
  for (const std::vector<int>& values :
       {std::vector<int>(1027, -1000000), std::vector<int>{std::numeric_limits<int>::min()}}) {
    const Setup setup(values, 512, 2);
    for (const auto& version : kVersions) {
      INFO(version.name << ", " << values.size() << " times " << values[0]);
      CHECK(setup.run_and_check(version));
    }
  }
}

TEST_CASE("a walk adds the elements at its offset and stride, and no other") {
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

TEST_CASE("a walk is whole whether its loads in flight fill up or not") {
  // One thread has eight loads under way: below, at and above that many elements.
  const std::vector<int> values = random_ints(2500, -1000, 1000, 12);
  for (const std::size_t n : {7u, 8u, 9u, 16u, 17u, 2500u}) {
    const std::vector<int> picked(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
    INFO("n = " << n);
    CHECK(walked(values, n, 0, 1, 1, 1) == sum_of_squares(picked));
    CHECK(walked(values, n, 0, 1, 3, 96) == sum_of_squares(picked));
  }
}

TEST_CASE("a walk of stores fills the elements at its offset and stride, and no other") {
  for (const std::size_t stride : {1u, 2u, 8u, 31u, 1000u}) {
    for (const std::size_t offset : {0u, 1u, 32u}) {
      for (const std::size_t n : {0u, 1u, 33u, 39u}) {
        DeviceArray<int> y(40000);
        store_walk<<<2, 32>>>(y.get(), n, offset, stride);
        CUDA_CHECK_LAUNCH();
        std::vector<int> expected(y.size(), -1);
        for (std::size_t i = 0; i < n; ++i) expected[offset + i * stride] = static_cast<int>(i);
        INFO("n = " << n << ", offset " << offset << ", stride " << stride);
        CHECK(y.download() == expected);
      }
    }
  }
  CHECK(stored(0x80000001u) == 1);
  CHECK(stored(0x7fffffffu) == std::numeric_limits<int>::max());
}

TEST_CASE("the checker of stores looks at every element, also between the steps") {
  const std::size_t n = 100;
  for (const Walk& walk : {walks_of("store")[0], walks_of("store")[1], walks_of("store")[5]}) {
    const std::size_t elements = elements_under(walk, n);
    const DeviceArray<int> y(elements);
    DeviceArray<long long> partial(1);
    const ThreadSums s = {n, 32, 3, y.get(), partial.get()};
    const auto launch = [&](std::size_t k) {
      store_walk<<<s.grid, s.block>>>(s.x, n, k * window(walk, n), walk.stride);
      CUDA_CHECK_LAUNCH();
    };
    const auto set = [&](std::size_t j, int value) {
      CUDA_CHECK(cudaMemcpy(s.x + j, &value, sizeof value, cudaMemcpyHostToDevice));
    };
    INFO(walk.name);
    CHECK_FALSE(check_stores(walk, s, 1));  // nothing was stored
    for (std::size_t k = 0; k < windows(walk); ++k) {
      launch(k);
      CHECK(check_stores(walk, s, k + 1));
      CHECK_FALSE(check_stores(walk, s, k));
    }
    CHECK(check_stores(walk, s, 1000));  // once round is all there is
    for (const std::size_t j : {std::size_t{0}, 3 * walk.stride, 99 * walk.stride, elements - 1}) {
      const std::vector<int> before = y.download();
      set(j, before[j] == 7 ? 8 : 7);
      INFO("element " << j);
      CHECK_FALSE(check_stores(walk, s, windows(walk)));
      set(j, before[j]);
    }
    poison_elements(s, elements);
    CHECK(y.download() == std::vector<int>(elements, -1));
  }
}

TEST_CASE("the device fills x with the very elements that the host reference sums") {
  DeviceArray<int> x(5001);
  fill<<<3, 250>>>(x.get(), x.size(), 9);
  CUDA_CHECK_LAUNCH();
  const std::vector<int> filled = x.download();
  CHECK(filled == random_ints(5001, 0, 9, 9));
  CHECK(sum_of_squares(filled) == reference(9, 5001, 0, 1));
  std::vector<int> picked;
  for (std::size_t i = 5; i < 5001; i += 7) picked.push_back(filled[i]);
  CHECK(sum_of_squares(picked) == reference(9, picked.size(), 5, 7));
}

TEST_CASE("a warp's load touches as many sectors and lines as its addresses span") {
  CHECK(sectors(0, 1) == 4);
  CHECK(sectors(0, 2) == 8);
  CHECK(sectors(0, 3) == 12);
  CHECK(sectors(0, 8) == 32);
  CHECK(sectors(0, 1000) == 32);
  CHECK(sectors(1, 1) == 5);
  CHECK(sectors(8, 1) == 4);
  CHECK(lines(0, 1) == 1);
  CHECK(lines(8, 1) == 2);
  CHECK(lines(32, 1) == 1);
  CHECK(lines(0, 8) == 8);
  CHECK(lines(0, 32) == 32);
}

TEST_CASE("the windows of a walk begin at a line and do not overlap") {
  for (const std::string sweep : {"stride", "store", "offset"}) {
    for (const Walk& walk : walks_of(sweep)) {
      for (const std::size_t n : {std::size_t{1}, std::size_t{1003}, std::size_t{1} << 24}) {
        INFO(walk.name << ", n = " << n);
        CHECK(window(walk, n) * sizeof(int) % kLineBytes == 0);
        CHECK(window(walk, n) > (n - 1) * walk.stride);
        // The last element of the last launch is the last one that x must have, or before it.
        const std::size_t last =
            walk.offset + (windows(walk) - 1) * window(walk, n) + (n - 1) * walk.stride;
        CHECK(last < elements_under(walk, n));
      }
    }
  }
}

TEST_CASE("a sweep leaves out the walks that do not fit the device, but never the first") {
  const Options opt("03_coalesced_threads", "");
  const SweepThatFits small = walks_that_fit(opt, "stride", 1);
  CHECK(small.walks.size() == 15);
  CHECK(small.left_out == 0);
  CHECK(small.elements == elements_under(small.walks.back(), 1));
  const SweepThatFits large = walks_that_fit(opt, "stride", kMaxN);
  REQUIRE(large.walks.size() == 1);
  CHECK(large.walks[0].name == "stride=1");
  CHECK(large.left_out == 14);
  CHECK(large.elements == elements_under(large.walks[0], kMaxN));
  const SweepThatFits none = walks_that_fit(opt, "", 1003);
  CHECK(none.walks.empty());
  CHECK(none.elements == 1003);
}

TEST_CASE("the sweeps hold what the notes discuss") {
  std::vector<std::string> names;
  for (const Walk& walk : walks_of("stride")) names.push_back(walk.name);
  CHECK(names.front() == "stride=1");
  CHECK(names.back() == "stride=1024");
  CHECK(std::find(names.begin(), names.end(), "stride=1000") != names.end());
  CHECK(walks_of("offset").size() == 33);
  REQUIRE(walks_of("store").size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Walk load = walks_of("stride")[i], store = walks_of("store")[i];
    CHECK(store.name == "store=" + std::to_string(load.stride));
    CHECK((store.stride == load.stride && store.stores && !load.stores));
  }
  CHECK(walks_of("").empty());
}

TEST_CASE("a limit on what the L2 fetches is set, where there is one to set") {
  if (!kOnGpu) return;
  std::size_t before = 0, now = 0;
  CUDA_CHECK(cudaDeviceGetLimit(&before, cudaLimitMaxL2FetchGranularity));
  limit_fetch("");
  CUDA_CHECK(cudaDeviceGetLimit(&now, cudaLimitMaxL2FetchGranularity));
  CHECK(now == before);
  limit_fetch("128");
  CUDA_CHECK(cudaDeviceGetLimit(&now, cudaLimitMaxL2FetchGranularity));
  CHECK(now <= 128);  // a hint: the device may know better
  CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, before));
}

TEST_CASE("the context names the grid where every row has it, and only there") {
  const ThreadSums s = {1000, 512, 528};
  CHECK(workload(s, "", "") == "n = 1000 · block 512");
  CHECK(workload(s, "stride", "") == "stride sweep · n = 1000 · block 512 · grid 528");
  CHECK(workload(s, "store", "32") == "store sweep · n = 1000 · block 512 · grid 528 · fetch 32");
}

TEST_CASE("the checker rejects a kernel that does nothing, even when there is nothing to add") {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1000}}) {
    const Setup setup(random_ints(n, 0, 9, 5), 256, 4);
    for (const auto& version : kVersions) {
      INFO(version.name << ", n = " << n);
      REQUIRE(setup.run_and_check(version));
      poison(setup.sums);
      CHECK_FALSE(setup.is_right(version));
    }
  }
}

TEST_CASE("the checker rejects one wrong element and one missing thread") {
  Setup setup(random_ints(1000, 1, 9, 5), 256, 4);
  for (const auto& version : kVersions) {
    INFO(version.name);
    REQUIRE(setup.run_and_check(version));
    setup.expected += 1;
    CHECK_FALSE(setup.is_right(version));
    setup.expected -= 1;
  }
  poison(setup.sums);
  sum_strided<<<1, 255>>>(setup.sums.x, setup.sums.n, setup.sums.partial);
  CUDA_CHECK_LAUNCH();
  CHECK_FALSE(check("sum_strided", setup.sums, setup.expected));
}

TEST_CASE("a block of more threads than the hardware has is refused at the launch") {
  const Setup setup(random_ints(1000, 0, 9, 5), 1024, 1);
  sum_chunked<<<1, 1025>>>(setup.sums.x, setup.sums.n, setup.sums.partial);
  CHECK(refuses_configuration(cudaGetLastError()));
  sum_strided<<<0, 512>>>(setup.sums.x, setup.sums.n, setup.sums.partial);
  CHECK(refuses_configuration(cudaGetLastError()));
}
