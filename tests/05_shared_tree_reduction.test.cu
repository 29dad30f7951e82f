// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/05_shared_tree_reduction/shared_tree_reduction.cu"
#undef main

#include "kernel_testing.cuh"

#include <functional>
#include <stdexcept>

namespace {

// Every version of the chapter on the same ints, by name.
struct EveryVersion {
  EveryVersion(const std::vector<int>& values, unsigned block)
      : x(values), sums(values, block), results(sums) {}

  // A version in the form that both kinds share.
  struct Runner {
    std::string name;
    std::function<void()> poison, launch;
    std::function<bool(const std::vector<int>& values)> is_right;

    bool runs_right(const std::vector<int>& values) const {
      poison();
      launch();
      CUDA_CHECK_LAUNCH();
      return is_right(values);
    }
  };
  std::vector<Runner> all() const {
    std::vector<Runner> runners;
    for (const auto& v : kVersions) {
      runners.push_back({v.name, [this] { sums.sums.poison(); }, [this, &v] { v.launch(sums); },
                         [this, &v](const std::vector<int>& values) {
                           return check(v.name, sums, reference(values));
                         }});
    }
    for (const auto& v : shared_layouts::kVersions) {
      runners.push_back({v.name, [this] { results.poison(); }, [this, &v] { v.launch(results); },
                         [this, &v](const std::vector<int>& values) {
                           return shared_layouts::check(v.name, results,
                                                        shared_layouts::reference(values));
                         }});
    }
    return runners;
  }
  Runner named(const std::string& name) const {
    for (const Runner& runner : all()) {
      if (runner.name == name) return runner;
    }
    throw std::runtime_error("no version " + name);
  }

  std::vector<int> x;
  BlockSums sums;
  shared_layouts::BlockResults results;
};

}  // namespace

TEST_CASE("every version adds every element at awkward sizes, whatever the values") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      if (n > 100000 && input.name != "index-valued") continue;  // the kind that shows most
      const EveryVersion versions(input.values, 256);
      for (const auto& version : versions.all()) {
        INFO(version.name << ", n = " << n << ", " << input.name);
        CHECK(version.runs_right(versions.x));
      }
    }
  }
}

TEST_CASE("every version works with any block size, powers of two or not") {
  for (const unsigned block : awkward_blocks()) {
    const std::size_t largest = small_sizes() ? 1003 : 5003;
    for (const std::size_t n : {std::size_t{1}, std::size_t{257}, largest}) {
      const EveryVersion versions(random_ints(n, -9, 9, 3), block);
      for (const auto& version : versions.all()) {
        INFO(version.name << ", block " << block << ", n = " << n);
        CHECK(version.runs_right(versions.x));
      }
    }
  }
}

TEST_CASE("a launch leaves nothing behind that the next one trips over") {
  const EveryVersion versions(random_ints(small_sizes() ? 1031 : 10007, 0, 9, 5), 256);
  for (const auto& version : versions.all()) {
    for (int repeat = 0; repeat < repeats(20); ++repeat) version.launch();
    CUDA_CHECK_LAUNCH();
    INFO(version.name);
    CHECK(version.is_right(versions.x));
  }
}

TEST_CASE("a sum of squares past 32 bits is exact") {
  const EveryVersion versions(std::vector<int>(4099, 40000000), 256);
  for (const char* name : {"shared_sequential", "global_modulo", "carved_arrays", "opt_in_tile"}) {
    CHECK(versions.named(name).runs_right(versions.x));
  }
}

TEST_CASE("the checker rejects a kernel that does nothing") {
  const EveryVersion versions(random_ints(1000, 0, 9, 5), 256);
  for (const auto& version : versions.all()) {
    version.poison();
    INFO(version.name);
    CHECK_FALSE(version.is_right(versions.x));
  }
}

TEST_CASE("the checker rejects one wrong element") {
  const EveryVersion versions(random_ints(1000, 0, 9, 5), 256);
  const auto version = versions.named("shared_sequential");
  REQUIRE(version.runs_right(versions.x));
  std::vector<int> other = versions.x;
  other[999] += 1;
  CHECK_FALSE(version.is_right(other));
}

TEST_CASE("the opt-in tile is refused by a launch that did not ask for it") {
  // sum_dynamic_shared was never given more than the limit that holds without asking.
  const BlockSums d(random_ints(1000, 0, 9, 5), 256);
  sum_dynamic_shared<<<d.grid, d.block, 64 * 1024>>>(d.x.get(), d.n, d.sums.get());
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("a block of more threads than the hardware has is refused at the launch") {
  const BlockSums d(random_ints(1000, 0, 9, 5), 256);
  sum_shared_sequential<<<1, 1025>>>(d.x.get(), d.n, d.sums.get());
  CHECK(refuses_configuration(cudaGetLastError()));
}
