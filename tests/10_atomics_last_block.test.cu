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

unsigned largest_grid(unsigned block) { return grid_for(describe_device(0), kMaxN, block); }

bool runs_right(const Version<GridSum>& version, const SumMemory& memory,
                const std::vector<int>& x) {
  memory.poison();
  version.launch(memory.sum);
  CUDA_CHECK_LAUNCH();
  return check(version.name, memory, reference(x.data(), x.size()));
}

}  // namespace

TEST_CASE("every version adds every element at awkward sizes, whatever the values") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      if (n > 100000 && input.name != "index-valued") continue;  // the kind that shows most
      const SumMemory memory(input.values, 5, 128);
      for (const auto& version : kVersions) {
        INFO(version.name << ", n = " << n << ", " << input.name);
        CHECK(runs_right(version, memory, input.values));
      }
    }
  }
}

TEST_CASE("every version works with any number of whole warps per block") {
  for (const unsigned block : {32u, 96u, 128u, 512u, 992u, 1024u}) {
    const std::size_t tile = 16 * block;  // ints that a block of last_block_wide reads at once
    for (const std::size_t n : {std::size_t{1}, tile - 1, tile, 3 * tile + 7}) {
      const std::vector<int> x = random_ints(n, -9, 9, 3);
      const SumMemory memory(x, 2, block);
      for (const auto& version : kVersions) {
        INFO(version.name << ", block " << block << ", n = " << n);
        CHECK(runs_right(version, memory, x));
      }
    }
  }
}

TEST_CASE("every version gives the same sum on any grid, also of more blocks than threads in one") {
  const std::vector<int> x = random_ints(40001, 0, 9, 4);
  for (const unsigned grid : {1u, 2u, 3u, 31u, 33u, 100u}) {
    const SumMemory memory(x, grid, 32);
    for (const auto& version : kVersions) {
      if (version.name == std::string("grid_sync") && grid > largest_grid(32)) continue;
      INFO(version.name << ", " << grid << " blocks");
      CHECK(runs_right(version, memory, x));
    }
  }
}

TEST_CASE("no launch leaves anything behind that a later one trips over, whatever the grids") {
  const std::size_t launches = small_sizes() ? 20 : kOnGpu ? 10000 : 150;
  const std::vector<int> x = random_ints(3000, 0, 9, 5);
  for (const unsigned block : {32u, 256u}) {
    const unsigned most = std::min(largest_grid(block), 40u);
    const SumMemory memory(x, most, block, launches);
    for (const auto& version : kVersions) {
      memory.poison();
      std::vector<Sum> expected(launches);
      for (std::size_t k = 0; k < launches; ++k) {
        GridSum sum = memory.sum;
        sum.n = 37 * k % 3001;
        sum.grid = static_cast<unsigned>(1 + 7 * k % most);
        sum.result += k;
        version.launch(sum);
        expected[k] = reference(x.data(), sum.n);
      }
      CUDA_CHECK_LAUNCH();
      INFO(version.name << ", block " << block);
      CHECK(memory.results.download() == expected);
      CHECK(memory.ticket.download()[0] == 0);
    }
  }
}

TEST_CASE("a sum of squares past 32 bits is exact") {
  const std::vector<int> x(4099, -40000000);
  const SumMemory memory(x, 3, 64);
  for (const auto& version : kVersions) {
    INFO(version.name);
    CHECK(runs_right(version, memory, x));
  }
}

TEST_CASE("the checker rejects a kernel that does nothing") {
  const std::vector<int> x = random_ints(1000, 0, 9, 5);
  CHECK_FALSE(check("nothing", SumMemory(x, 3, 64), reference(x.data(), 1000)));
}

TEST_CASE("the checker rejects one wrong element") {
  std::vector<int> x = random_ints(1000, 0, 9, 5);
  const SumMemory memory(x, 3, 64);
  REQUIRE(runs_right(kVersions[4], memory, x));
  x[999] += 1;
  CHECK_FALSE(check("wrong", memory, reference(x.data(), 1000)));
}

TEST_CASE("the checker rejects a right sum when the ticket was not put back") {
  const std::vector<int> x = random_ints(1000, 0, 9, 5);
  const SumMemory memory(x, 3, 64);
  REQUIRE(runs_right(kVersions[4], memory, x));
  const unsigned drawn = 3;
  CUDA_CHECK(cudaMemcpy(memory.ticket.get(), &drawn, sizeof drawn, cudaMemcpyHostToDevice));
  CHECK_FALSE(check("ticket", memory, reference(x.data(), 1000)));
}

TEST_CASE("the grid is as large as the device holds at once, and no larger than the data") {
  const Device device = describe_device(0);
  for (const unsigned block : {32u, 512u, 1024u}) {
    CHECK(grid_for(device, 1, block) == 1);
    CHECK(grid_for(device, 16 * block, block) == 1);
    CHECK(grid_for(device, 16 * block + 1, block) == 2);
    CHECK(largest_grid(block) % device.sm_count == 0);
  }
}

TEST_CASE("a grid barrier with more blocks than the device holds at once is refused") {
  SumMemory memory(random_ints(1000, 0, 9, 5), 33 * largest_grid(1024), 1024);
  void* arguments[] = {&memory.sum};
  CHECK(cudaLaunchCooperativeKernel(sum_grid_sync, memory.sum.grid, memory.sum.block, arguments) ==
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

namespace {

__global__ void take_maximum(const float* x, std::size_t n, float* result) {
  const std::size_t i = global_index();
  if (i < n) float_sums::atomic_max(result, x[i]);
}

// What `before` becomes when every value is offered, each by a thread of its own.
float maximum_with(float before, const std::vector<float>& values) {
  const DeviceArray<float> d_values(values), result(std::vector<float>{before});
  take_maximum<<<static_cast<unsigned>(div_up(values.size(), 64)), 64>>>(
      d_values.get(), values.size(), result.get());
  CUDA_CHECK_LAUNCH();
  return result.download()[0];
}

}  // namespace

TEST_CASE("the maximum by compare-and-swap holds for negative values, zeros and infinities") {
  const float infinity = INFINITY;
  CHECK(maximum_with(-5, {-1}) == -1);
  CHECK(maximum_with(-1, {-5}) == -1);
  CHECK(maximum_with(-3, {0}) == 0);
  CHECK(maximum_with(0, {-3}) == 0);
  CHECK(maximum_with(-infinity, {-7, -9}) == -7);
  CHECK(maximum_with(-7, {-infinity}) == -7);
  CHECK(maximum_with(3, {infinity}) == infinity);
  CHECK(maximum_with(2, {std::nanf(""), 1}) == 2);
  std::vector<float> falling(1000);
  for (std::size_t i = 0; i < falling.size(); ++i) falling[i] = -1 - static_cast<float>(i);
  CHECK(maximum_with(-1e6f, falling) == -1);
  CHECK(maximum_with(-1e6f, {falling.rbegin(), falling.rend()}) == -1);
}

// ---- warp_filter.cuh ---------------------------------------------------------------------------

namespace {

bool filters_right(const Version<warp_filter::Filter>& version, const std::vector<int>& x,
                   unsigned grid, unsigned block) {
  const DeviceArray<int> d_x(x);
  const warp_filter::FilterMemory memory(d_x, grid, block);
  version.launch(memory.filter);
  CUDA_CHECK_LAUNCH();
  return warp_filter::check(version.name, memory, warp_filter::reference(x));
}

}  // namespace

TEST_CASE("both filters keep every odd value once, at awkward sizes and blocks") {
  for (const auto& version : warp_filter::kVersions) {
    for (const std::size_t n : awkward_sizes()) {
      INFO(version.name << ", n = " << n);
      CHECK(filters_right(version, random_ints(n, -9, 9, 11), 3, 96));
    }
    for (const unsigned block : {32u, 256u, 1024u}) {
      INFO(version.name << ", block " << block);
      CHECK(filters_right(version, random_ints(5003, 0, 9, 12), 2, block));
    }
  }
}

TEST_CASE("both filters keep nothing of even values, and all of odd ones") {
  for (const auto& version : warp_filter::kVersions) {
    INFO(version.name);
    CHECK(filters_right(version, std::vector<int>(1023, 4), 2, 64));
    CHECK(filters_right(version, std::vector<int>(1023, -3), 2, 64));
  }
}

TEST_CASE("the filter's checker rejects a missing and a wrong value") {
  using namespace warp_filter;
  const DeviceArray<int> x(std::vector<int>{3, 2, 1, 3});
  const FilterMemory memory(x, 1, 32);
  warp_filter::kVersions[1].launch(memory.filter);
  CUDA_CHECK_LAUNCH();
  CHECK(check("right", memory, reference({3, 2, 1, 3})));
  CHECK_FALSE(check("missing", memory, reference({3, 3, 1, 3})));
  CHECK_FALSE(check("wrong", memory, reference({3, 5, 1})));
}
