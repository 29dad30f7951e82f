// SPDX-License-Identifier: MIT
// STARTER FAILS: the range is that of the elements
#include <algorithm>
#include <climits>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

// device_range as copied_by asks for arrays. (On a GPU nobody counts: in a namespace without a
// name nvcc would call it unused.)
struct OfDeviceRange {
  Range* get() const {
    void* place = nullptr;
    CUDA_CHECK(cudaGetSymbolAddress(&place, device_range));
    return static_cast<Range*>(place);
  }
  std::size_t size() const { return 1; }
};

namespace {

// One thread has looked at the n elements and left the range, and the host has fetched that alone.
template <class Seen>
void expect_one_thread(const Seen& seen, const lab::Copied& copied, std::size_t n) {
  lab::exactly("threads of the launch", std::uint64_t{seen.grid.x} * seen.block.x, 1,
               "one thread looks at all elements");
  const std::uint64_t loads =
      seen.loads().lanes -
      seen.total(Seen::Space::kGlobal, Seen::Operation::kLoad, "device_range").lanes;
  lab::between("loads of the kernel from x", loads, n, 4 * n,
               "the kernel looks at every element, at most four times");
  const std::uint64_t stores =
      seen.stores().lanes -
      seen.total(Seen::Space::kGlobal, Seen::Operation::kStore, "device_range").lanes;
  lab::exactly("stores of the kernel elsewhere than to device_range", stores, 0,
               "the kernel leaves the range in device_range, and nothing in other memory");
  lab::exactly("bytes copied to the host", copied.to_host, sizeof(Range),
               "device_range comes back by a copy, and nothing else does");
  lab::exactly("bytes copied to the device", copied.to_device, 0,
               "the kernel finds the range and leaves it in device_range; the host writes nothing");
  lab::exactly("bytes of x and device_range that were copied", copied.of_arrays, sizeof(Range),
               "the range once, from device_range; x stays where it is, and only the kernel "
               "writes device_range");
}

void expect_left(const std::string& name, int actual, int expected) {
  if (actual == expected) return;
  throw lab::Wrong{name, std::to_string(expected), std::to_string(actual),
                   "the kernel leaves there what it has found"};
}

void expect_range(const std::string& call, const std::vector<int>& x) {
  std::vector<int> sorted = x;
  std::sort(sorted.begin(), sorted.end());
  const lab::Array<int> d_x(x);
  Range range = {0, 0}, left = {0, 0};
  lab::Copied copied;
  lab::count(
      [&] {
        copied = lab::copied_by([&] { range = range_on_device(d_x.get(), x.size()); }, d_x,
                                OfDeviceRange());
        CUDA_CHECK(cudaMemcpyFromSymbol(&left, device_range, sizeof left));
      },
      [&] {
        lab::expect_equal("smallest" + call, range.smallest, sorted.front());
        lab::expect_equal("largest" + call, range.largest, sorted.back());
        expect_left("device_range.smallest" + call, left.smallest, sorted.front());
        expect_left("device_range.largest" + call, left.largest, sorted.back());
        lab::expect_equal("x" + call, d_x.download(), x);
      },
      [&](const auto& seen) { expect_one_thread(seen, copied, x.size()); });
}

// Whether range_on_device says that something is wrong.
bool notices(const int* x) {
  try {
    (void)range_on_device(x, 3);
  } catch (const lab::CudaFailure&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the range is that of the elements") {
  lab::Trials()
      .sizes({1, 2, 3, 31, 32, 33, 257, 1000, lab::drawn(4, 999), lab::drawn(1001, 4096)})
      .run([](const lab::Trial& at) {
        std::vector<int> x = lab::ints_of(at);
        expect_range("", x);
        // The same elements in falling order: the largest comes first.
        std::sort(x.begin(), x.end(), [](int a, int b) { return a > b; });
        expect_range(" of the elements in falling order", x);
        // A narrower range: nothing of the one before may be left.
        for (int& value : x) value = value / 4 + 1;
        expect_range(" of another call, with a narrower range", x);
      });
}

TEST_CASE("the range may be that of all ints") {
  lab::once([] {
    expect_range("", {INT_MIN});
    expect_range("", {INT_MAX});
    expect_range("", {5, INT_MAX, -5, INT_MIN, 0});
    // A float would round both.
    expect_range("", {INT_MAX - 1, 0, INT_MIN + 1});
    expect_range("", random_ints(lab::drawn(100, 900), INT_MIN, INT_MAX, lab::run_seed()));
  });
}

TEST_CASE("the last of many elements count as the first do") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    for (const unsigned n : {lab::drawn(5000, 65535), lab::drawn(65600, 66000)}) {
      const std::string of = " of " + std::to_string(n) + " elements, ";
      std::vector<int> x(n, 0);
      x[n - 2] = -7, x[n - 1] = 8;
      expect_range(of + "the last two the extremes", x);
      x[n - 2] = x[n - 1] = 0;
      x[lab::drawn(0, n / 2 - 1)] = -7, x[lab::drawn(n / 2, n - 1)] = 8;
      expect_range(of + "two of them the extremes", x);
    }
  });
}

// There is no device of that number, and nobody has asked for that error when the launch is made.
TEST_CASE("an error that is there after the launch does not go unnoticed") {
  lab::once([] {
    const lab::Array<int> d_x(std::vector<int>{3, 1, 2});
    (void)cudaSetDevice(1 << 20);
    bool noticed = notices(d_x.get());
    (void)cudaGetLastError();
    lab::where_launches_are_refused([&] {
      if (noticed) noticed = notices(d_x.get());
      (void)cudaGetLastError();
    });
    if (noticed) return;
    throw lab::Wrong{"an error after the launch", "noticed by range_on_device", "not noticed",
                     "a launch returns nothing: whether it failed has to be asked"};
  });
}
