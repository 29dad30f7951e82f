// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/05_shared_tree_reduction/shared_tree_reduction.cu"
#undef main

#include "kernel_testing.cuh"

namespace {

// The chapter's problem on device arrays of the right sizes, outputs poisoned.
struct Setup {
  Setup(const std::vector<int>& x, unsigned block)
      : values(x),
        blocks(std::max<std::size_t>(1, div_up(x.size(), block))),
        d_x(x),
        scratch(blocks * block),
        sums(blocks),
        maxima(blocks),
        odd_counts(blocks),
        flags(blocks) {
    p = {d_x.get(),    x.size(),         static_cast<unsigned>(blocks),
         block,        scratch.get(),    sums.get(),
         maxima.get(), odd_counts.get(), flags.get()};
  }

  bool run_and_check(const Version<Problem>& version) {
    version.launch(p);
    CUDA_CHECK_LAUNCH();
    return check(version.name, p, reference(values));
  }

  std::vector<int> values;
  std::size_t blocks;
  DeviceArray<int> d_x;
  DeviceArray<long long> scratch, sums;
  DeviceArray<int> maxima, odd_counts, flags;
  Problem p{};
};

const Version<Problem>& version_named(const char* name) {
  for (const auto& v : kVersions) {
    if (std::string(name) == v.name) return v;
  }
  throw std::runtime_error(std::string("no version ") + name);
}

}  // namespace

TEST_CASE("every version adds every element at awkward sizes, whatever the values") {
  for (const std::size_t n : awkward_sizes()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      if (n > 100000 && input.name != "index-valued") continue;  // the kind that shows most
      Setup setup(input.values, 256);
      for (const auto& version : kVersions) {
        INFO(version.name << ", n = " << n << ", " << input.name);
        CHECK(setup.run_and_check(version));
      }
    }
  }
}

TEST_CASE("every version works with any block size, powers of two or not") {
  for (const unsigned block : awkward_blocks()) {
    const std::size_t largest = small_sizes() ? 1003 : 5003;
    for (const std::size_t n : {std::size_t{1}, std::size_t{257}, largest}) {
      Setup setup(random_ints(n, -9, 9, 3), block);
      for (const auto& version : kVersions) {
        INFO(version.name << ", block " << block << ", n = " << n);
        CHECK(setup.run_and_check(version));
      }
    }
  }
}

TEST_CASE("a launch leaves nothing behind that the next one trips over") {
  Setup setup(random_ints(small_sizes() ? 1031 : 10007, 0, 9, 5), 256);
  for (const auto& version : kVersions) {
    for (int repeat = 0; repeat < repeats(20); ++repeat) version.launch(setup.p);
    CUDA_CHECK_LAUNCH();
    INFO(version.name);
    CHECK(check(version.name, setup.p, reference(setup.values)));
  }
}

TEST_CASE("a sum of squares past 32 bits is exact") {
  Setup setup(std::vector<int>(4099, 40000000), 256);
  CHECK(setup.run_and_check(version_named("shared_sequential")));
  CHECK(setup.run_and_check(version_named("global_modulo")));
}

TEST_CASE("the checker rejects a kernel that does nothing") {
  Setup setup(random_ints(1000, 0, 9, 5), 256);
  for (const auto& version : kVersions) {
    INFO(version.name);
    CHECK_FALSE(check(version.name, setup.p, reference(setup.values)));
  }
}

TEST_CASE("the checker rejects one wrong element") {
  Setup setup(random_ints(1000, 0, 9, 5), 256);
  const auto& version = version_named("shared_sequential");
  REQUIRE(setup.run_and_check(version));
  std::vector<int> other = setup.values;
  other[999] += 1;
  CHECK_FALSE(check(version.name, setup.p, reference(other)));
}

TEST_CASE("the opt-in tile is refused by a launch that did not ask for it") {
  // sum_dynamic_shared was never given more than the limit that holds without asking.
  Setup setup(random_ints(1000, 0, 9, 5), 256);
  sum_dynamic_shared<<<setup.p.grid, setup.p.block, 64 * 1024>>>(setup.p.x, setup.p.n,
                                                                 setup.p.sums);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("a block of more threads than the hardware has is refused at the launch") {
  Setup setup(random_ints(1000, 0, 9, 5), 256);
  sum_shared_sequential<<<1, 1025>>>(setup.p.x, setup.p.n, setup.p.sums);
  CHECK(refuses_configuration(cudaGetLastError()));
}
