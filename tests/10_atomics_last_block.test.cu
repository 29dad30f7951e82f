// SPDX-License-Identifier: MIT
// What these tests can and cannot see. A ticket that is not reset, a barrier or a guard that is
// missing give wrong sums here, on every backend. A missing fence, or a read through a stale path,
// gives right sums on the CPU backend, where blocks see each other's writes at once, and nearly
// always on a GPU: there no test can be relied on. `make sanitize CH=10 BACKEND=cpu` reports them:
// the file of mutants beside this one marks those edits "sanitize".
#define main chapter_main
#include "../chapters/10_atomics_last_block/atomics_last_block.cu"
#undef main

#include <numeric>

#include "kernel_testing.cuh"

namespace {

unsigned blocks_held(unsigned block) { return grid_for(describe_device(0), kMaxN, block); }

// The chapter's problem on device arrays of the right sizes, outputs poisoned, ticket 0.
struct Setup {
  Setup(const std::vector<int>& x, unsigned grid, unsigned block)
      : values(x), d_x(x), partials(grid), result(1), ticket(std::vector<unsigned>{0}) {
    p = {d_x.get(), x.size(), grid, block, partials.get(), ticket.get(), result.get()};
  }

  bool run_and_check(const Version<Problem>& version) {
    result.poison();
    partials.poison();
    version.launch(p);
    CUDA_CHECK_LAUNCH();
    return check(version.name, p, reference(values.data(), values.size()));
  }

  std::vector<int> values;
  DeviceArray<int> d_x;
  DeviceArray<Sum> partials, result;
  DeviceArray<unsigned> ticket;
  Problem p{};
};

}  // namespace

TEST_CASE("every version adds every element at awkward sizes, whatever the values") {
  for (const std::size_t n : awkward_sizes()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      Setup setup(input.values, 5, 128);
      for (const auto& version : kVersions) {
        INFO(version.name << ", n = " << n << ", " << input.name);
        CHECK(setup.run_and_check(version));
      }
    }
  }
}

TEST_CASE("every version works with any number of whole warps per block") {
  for (const unsigned block : {32u, 96u, 128u, 512u, 992u, 1024u}) {
    const std::size_t tile = 16 * block;  // ints that a block of last_block_wide reads at once
    for (const std::size_t n : {std::size_t{1}, tile - 1, tile, 3 * tile + 7}) {
      Setup setup(random_ints(n, -9, 9, 3), 2, block);
      for (const auto& version : kVersions) {
        INFO(version.name << ", block " << block << ", n = " << n);
        CHECK(setup.run_and_check(version));
      }
    }
  }
}

TEST_CASE("every version gives the same sum on any grid, also of more blocks than threads in one") {
  for (const unsigned grid : {1u, 2u, 3u, 31u, 33u, 100u}) {
    Setup setup(random_ints(40001, 0, 9, 4), grid, 32);
    for (const auto& version : kVersions) {
      if (version.name == std::string("grid_sync") && grid > blocks_held(32)) continue;
      INFO(version.name << ", " << grid << " blocks");
      CHECK(setup.run_and_check(version));
    }
  }
}

TEST_CASE("no launch leaves anything behind that a later one trips over, whatever the grids") {
  const std::size_t launches = small_sizes() ? 20 : kOnGpu ? 10000 : 150;
  for (const unsigned block : {32u, 256u}) {
    const unsigned most = std::min(blocks_held(block), 40u);
    Setup setup(random_ints(3000, 0, 9, 5), most, block);
    DeviceArray<Sum> results(launches);
    for (const auto& version : kVersions) {
      results.poison();
      std::vector<Sum> expected(launches);
      for (std::size_t k = 0; k < launches; ++k) {
        Problem p = setup.p;
        p.n = 37 * k % 3001;
        p.grid = static_cast<unsigned>(1 + 7 * k % most);
        p.result = results.get() + k;
        version.launch(p);
        expected[k] = reference(setup.values.data(), p.n);
      }
      CUDA_CHECK_LAUNCH();
      INFO(version.name << ", block " << block);
      CHECK(results.download() == expected);
      CHECK(setup.ticket.download()[0] == 0);
    }
  }
}

TEST_CASE("a sum of squares past 32 bits is exact") {
  Setup setup(std::vector<int>(4099, -40000000), 3, 64);
  for (const auto& version : kVersions) {
    INFO(version.name);
    CHECK(setup.run_and_check(version));
  }
}

TEST_CASE("the checker rejects a kernel that does nothing") {
  Setup setup(random_ints(1000, 0, 9, 5), 3, 64);
  CHECK_FALSE(check("nothing", setup.p, reference(setup.values.data(), 1000)));
}

TEST_CASE("the checker rejects one wrong element") {
  Setup setup(random_ints(1000, 0, 9, 5), 3, 64);
  REQUIRE(setup.run_and_check(kVersions[4]));
  setup.values[999] += 1;
  CHECK_FALSE(check("wrong", setup.p, reference(setup.values.data(), 1000)));
}

TEST_CASE("the checker rejects a right sum when the ticket was not put back") {
  Setup setup(random_ints(1000, 0, 9, 5), 3, 64);
  REQUIRE(setup.run_and_check(kVersions[4]));
  const unsigned drawn = 3;
  CUDA_CHECK(cudaMemcpy(setup.p.ticket, &drawn, sizeof drawn, cudaMemcpyHostToDevice));
  CHECK_FALSE(check("ticket", setup.p, reference(setup.values.data(), 1000)));
}

TEST_CASE("the grid is as large as the device holds at once, and no larger than the data") {
  const Device device = describe_device(0);
  for (const unsigned block : {32u, 512u, 1024u}) {
    CHECK(grid_for(device, 1, block) == 1);
    CHECK(grid_for(device, 16 * block, block) == 1);
    CHECK(grid_for(device, 16 * block + 1, block) == 2);
    CHECK(blocks_held(block) % device.sm_count == 0);
  }
}

TEST_CASE("a grid barrier with more blocks than the device holds at once is refused") {
  const unsigned held = blocks_held(1024);
  Setup setup(random_ints(1000, 0, 9, 5), 33 * held, 1024);
  void* arguments[] = {&setup.p};
  CHECK(cudaLaunchCooperativeKernel(sum_grid_sync, setup.p.grid, setup.p.block, arguments) ==
        cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
}

// ---- float_sums.cuh ----------------------------------------------------------------------------

namespace {

float_sums::Exact exact_sum(const std::vector<int>& x) {
  float_sums::Exact sum = 0;
  for (const int v : x) sum += static_cast<Sum>(v) * static_cast<Sum>(v);
  return sum;
}

// The result of a launch(result), of type T, which is 0 before.
template <class T, class Launch>
T result_of(Launch launch) {
  DeviceArray<T> result(std::vector<T>{T(0)});
  launch(result.get());
  CUDA_CHECK_LAUNCH();
  return result.download()[0];
}

}  // namespace

TEST_CASE("every way to add floats stays within its bound, and integers are exact") {
  using namespace float_sums;
  for (const std::size_t n : {1, 31, 33, 257, 5003}) {
    const std::vector<int> x = random_ints(n, 1, kLargest, 6);
    const Exact exact = exact_sum(x);
    const DeviceArray<int> d_x(x);
    const int* p = d_x.get();
    DeviceArray<float> partials(3);
    INFO("n = " << n);
    CHECK(result_of<Exact>([&](Exact* r) { add_by_atomics<<<3, 96>>>(p, n, r); }) == exact);
    const auto by_atomics = result_of<float>([&](float* r) { add_by_atomics<<<3, 96>>>(p, n, r); });
    CHECK(relative_error(by_atomics, exact) <= bound<float>(n));
    const auto chains = result_of<float>([&](float* r) { add_chains<<<1, 32>>>(p, n, r); });
    CHECK(relative_error(chains, exact) <= bound<float>(div_up(n, 32)));
    const auto pairs = result_of<float>([&](float* r) { add_in_pairs<<<1, 32>>>(p, n, r); });
    CHECK(relative_error(pairs, exact) <= bound<float>(0));
    const auto kahan = result_of<float>([&](float* r) { add_compensated<<<1, 32>>>(p, n, r); });
    CHECK(relative_error(kahan, exact) <= bound<float>(0));
    const auto tree = result_of<float>([&](float* r) {
      add_chains<<<3, 96>>>(p, n, partials.get());
      add_chains<<<1, 96>>>(partials.get(), 3, r);
    });
    CHECK(relative_error(tree, exact) <= bound<float>(div_up(n, 3 * 96)));
    const auto doubles = result_of<double>([&](double* r) { add_chains<<<1, 96>>>(p, n, r); });
    CHECK(relative_error(doubles, exact) <= bound<double>(div_up(n, 96)));
  }
}

TEST_CASE("a fixed order of float additions gives the same bits every time") {
  using namespace float_sums;
  const DeviceArray<int> x(random_ints(20011, 1, kLargest, 7));
  DeviceArray<float> partials(5);
  std::set<float> trees, pairs, kahan;
  for (int repeat = 0; repeat < 10; ++repeat) {
    trees.insert(result_of<float>([&](float* r) {
      add_chains<<<5, 64>>>(x.get(), x.size(), partials.get());
      add_chains<<<1, 64>>>(partials.get(), 5, r);
    }));
    pairs.insert(
        result_of<float>([&](float* r) { add_in_pairs<<<1, 32>>>(x.get(), x.size(), r); }));
    kahan.insert(
        result_of<float>([&](float* r) { add_compensated<<<1, 32>>>(x.get(), x.size(), r); }));
  }
  CHECK(trees.size() == 1);
  CHECK(pairs.size() == 1);
  CHECK(kahan.size() == 1);
}

TEST_CASE("compensated and pairwise sums keep what a long chain of float additions loses") {
  using namespace float_sums;
  // One thread. Behind 2^32, nothing below 2^8 changes a float: 8191 squares of 8 are lost.
  std::vector<int> x(8192, 8);
  x[0] = 65536;
  const DeviceArray<int> d_x(x);
  const Exact exact = exact_sum(x);
  const auto chain =
      result_of<float>([&](float* r) { add_chains<<<1, 1>>>(d_x.get(), x.size(), r); });
  const auto kahan =
      result_of<float>([&](float* r) { add_compensated<<<1, 1>>>(d_x.get(), x.size(), r); });
  const auto pairs =
      result_of<float>([&](float* r) { add_in_pairs<<<1, 1>>>(d_x.get(), x.size(), r); });
  CHECK(chain == 4294967296.0f);
  CHECK(relative_error(kahan, exact) < 1e-7);
  CHECK(relative_error(pairs, exact) < 1e-6);
}

TEST_CASE("the bound on a float sum lets neither 0 nor NaN pass") {
  using namespace float_sums;
  CHECK_FALSE(relative_error(0.0f, 5) <= bound<float>(std::size_t{1} << 40));
  CHECK_FALSE(relative_error(std::nanf(""), 5) <= bound<float>(std::size_t{1} << 40));
  CHECK_FALSE(relative_error(Exact{6}, 5) <= bound<Exact>(1000));
  CHECK(relative_error(Exact{5}, 5) <= bound<Exact>(1000));
}

TEST_CASE("the maximum by compare-and-swap is found wherever it lies, also among many equals") {
  using namespace float_sums;
  const auto maximum = [](const std::vector<int>& x) {
    const DeviceArray<int> d_x(x);
    return result_of<float>([&](float* r) { max_by_cas<<<4, 96>>>(d_x.get(), x.size(), r); });
  };
  std::vector<int> rising(5003);
  std::iota(rising.begin(), rising.end(), 1);
  CHECK(maximum(rising) == 5003);
  CHECK(maximum({rising.rbegin(), rising.rend()}) == 5003);
  CHECK(maximum(std::vector<int>(999, 7)) == 7);
  CHECK(maximum({kLargest}) == kLargest);
}

// ---- warp_filter.cuh ---------------------------------------------------------------------------

namespace {

bool filter_and_check(const Version<warp_filter::Problem>& version, const std::vector<int>& x,
                      unsigned grid, unsigned block) {
  const DeviceArray<int> d_x(x), kept(x.size());
  const DeviceArray<unsigned long long> count(std::vector<unsigned long long>{0});
  const warp_filter::Problem p = {d_x.get(), x.size(), grid, block, kept.get(), count.get()};
  version.launch(p);
  CUDA_CHECK_LAUNCH();
  return warp_filter::check(version.name, p, warp_filter::reference(x));
}

}  // namespace

TEST_CASE("both filters keep every odd value once, at awkward sizes and blocks") {
  for (const auto& version : warp_filter::kVersions) {
    for (const std::size_t n : awkward_sizes()) {
      INFO(version.name << ", n = " << n);
      CHECK(filter_and_check(version, random_ints(n, -9, 9, 11), 3, 96));
    }
    for (const unsigned block : {32u, 256u, 1024u}) {
      INFO(version.name << ", block " << block);
      CHECK(filter_and_check(version, random_ints(5003, 0, 9, 12), 2, block));
    }
  }
}

TEST_CASE("both filters keep nothing of even values, and all of odd ones") {
  for (const auto& version : warp_filter::kVersions) {
    INFO(version.name);
    CHECK(filter_and_check(version, std::vector<int>(1023, 4), 2, 64));
    CHECK(filter_and_check(version, std::vector<int>(1023, -3), 2, 64));
  }
}

TEST_CASE("the filter's checker rejects a missing and a wrong value") {
  const DeviceArray<int> kept(std::vector<int>{1, 3, 3});
  const DeviceArray<unsigned long long> count(std::vector<unsigned long long>{3});
  const warp_filter::Problem p = {nullptr, 3, 1, 32, kept.get(), count.get()};
  CHECK(warp_filter::check("right", p, warp_filter::reference({3, 2, 1, 3})));
  CHECK_FALSE(warp_filter::check("missing", p, warp_filter::reference({3, 3, 1, 3})));
  CHECK_FALSE(warp_filter::check("wrong", p, warp_filter::reference({3, 5, 1})));
}
