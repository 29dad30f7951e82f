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
    for (const auto& v : eight_versions()) {
      runners.push_back({v.name, [this] { sums.sums.poison(); }, [this, v] { v.launch(sums); },
                         [this, v](const std::vector<int>& values) {
                           return eight_each::is_right(v.name, sums, reference(values));
                         }});
    }
    return runners;
  }
  // Those of eight elements per thread; CUB's where there is one for this block size.
  std::vector<Version<BlockSums>> eight_versions() const {
    std::vector<Version<BlockSums>> versions(std::begin(eight_each::kVersions),
                                             std::end(eight_each::kVersions));
    const auto cub = eight_each::cub_block_version(sums.block);
    if (kOnGpu && cub.launch != nullptr) versions.push_back(cub);
    return versions;
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

// What block b of a launch is to leave, for blocks that take `elements` each; then the poison that
// a block which is not there leaves alone.
std::vector<long long> sums_of_blocks(const std::vector<int>& x, std::size_t elements,
                                      std::size_t blocks, std::size_t places) {
  std::vector<long long> sums(places, -1);  // what poison() writes
  std::fill(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(blocks), 0);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i / elements] += 1LL * x[i] * x[i];
  return sums;
}

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

TEST_CASE("every block leaves the sum of its own elements in its own place and writes no other") {
  for (const unsigned block : awkward_blocks()) {
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{2053}}) {
      const EveryVersion v(random_ints(n, -9, 9, 3), block);
      const std::size_t places = v.sums.grid;
      const auto leaves = [&](const Version<BlockSums>& version, std::size_t per_thread,
                              std::size_t blocks) {
        v.sums.sums.poison();
        version.launch(v.sums);
        CUDA_CHECK_LAUNCH();
        const auto expected = sums_of_blocks(v.x, per_thread * block, blocks, places);
        INFO(version.name << ", block " << block << ", n = " << n);
        CHECK(v.sums.sums.download() == expected);
      };
      for (const auto& version : kVersions) leaves(version, 1, places);
      for (const auto& version : v.eight_versions()) {
        leaves(version, kItems, eight_each::grid_of(v.sums));
      }
      const auto& r = v.results;
      r.poison();
      for (const auto& version : shared_layouts::kVersions) {
        if (version.name == std::string("opt_in_tile")) version.launch(r);
      }
      CUDA_CHECK_LAUNCH();
      INFO("opt_in_tile, block " << block << ", n = " << n);
      CHECK(r.sums.download() == sums_of_blocks(v.x, kTileItems, r.tile_grid, places));
    }
  }
}

TEST_CASE("maximum, count and votes are those of each block, also of a block of one thread") {
  for (const unsigned block : awkward_blocks()) {
    const std::size_t n = 2053;
    const EveryVersion v(random_ints(n, -9, 9, 3), block);
    std::vector<int> maxima(v.sums.grid, INT_MIN), odd(v.sums.grid, 0), flags(v.sums.grid, 1);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t b = i / block;
      maxima[b] = std::max(maxima[b], v.x[i]);
      odd[b] += v.x[i] % 2 != 0;
      if (v.x[i] == 9) flags[b] |= 2;
    }
    INFO("block " << block);
    v.results.poison();
    shared_layouts::kVersions[0].launch(v.results);
    CUDA_CHECK_LAUNCH();
    CHECK(v.results.maxima.download() == maxima);
    CHECK(v.results.odd_counts.download() == odd);
    v.results.poison();
    shared_layouts::kVersions[1].launch(v.results);
    CUDA_CHECK_LAUNCH();
    CHECK(v.results.odd_counts.download() == odd);
    CHECK(v.results.flags.download() == flags);
  }
}

TEST_CASE("an element of 10 or more ends the vote that all are below 10") {
  for (const std::size_t where : {std::size_t{0}, std::size_t{300}, std::size_t{999}}) {
    std::vector<int> values(1000, 8);
    values[where] = 10;
    const EveryVersion v(values, 256);
    CHECK(v.named("barrier_votes").runs_right(values));
    CHECK((v.results.flags.download()[where / 256] & 1) == 0);
  }
}

TEST_CASE("the way there and back ends at the right sum, with either kernel") {
  for (const std::size_t n : sizes_to_test()) {
    if (n > 100000) continue;
    const std::vector<int> x = random_ints(n, -9, 9, 3);
    const BlockSums sums(x, 256);
    end_to_end::Trip trip{x, sums};
    trip.poison();
    trip.copy_in(), trip.tree(), trip.sums_out(sums.grid), trip.host_adds(sums.grid);
    CHECK(trip.sum == reference(x));
    const unsigned few = eight_each::grid_of(sums);
    trip.poison();
    CHECK(trip.sum != reference(x));
    trip.copy_in(), trip.eight(), trip.sums_out(few), trip.host_adds(few);
    CHECK(trip.sum == reference(x));
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
  for (const char* name : {"shared_sequential", "global_modulo", "carved_arrays", "opt_in_tile",
                           "eight_each", "last_warp", "wide_loads"}) {
    CHECK(versions.named(name).runs_right(versions.x));
  }
}

TEST_CASE("an array of eight slots serves blocks of up to eight threads") {
  // The published kernel is wrong in its size alone; what else it does has to be right.
  for (const unsigned threads : {1u, 2u, 7u, stray_bytes::kBlocks}) {
    const std::vector<int> x = random_ints(5 * threads, 1, 9, threads);
    const DeviceArray<int> d_x(x);
    const DeviceArray<long long> d_sums(6);
    d_sums.poison();
    stray_bytes::sum_in_eight_slots<<<5, threads>>>(d_x.get(), d_sums.get());
    CUDA_CHECK_LAUNCH();
    const std::vector<long long> sums = d_sums.download();
    for (unsigned b = 0; b < 5; ++b) {
      INFO("block " << b << " of " << threads << " threads");
      const auto first = x.begin() + b * threads;
      CHECK(sums[b] == reference(std::vector<int>(first, first + threads)));
    }
    CHECK(sums[5] == -1);  // nothing is written behind the last block's sum
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
