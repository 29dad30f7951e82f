// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/02_single_thread_sum/single_thread_sum.cu"
#undef main

#include <stdexcept>

#include "kernel_testing.cuh"

namespace {

// What the versions read and write, every result poisoned.
struct Setup {
  explicit Setup(const std::vector<int>& x, std::size_t stride = 1)
      : values(x), d_x(x), result(1), sum{d_x.get(), x.size(), result.get(), stride} {
    poison(sum);
  }

  bool run_and_check(const Version<OneThreadSum>& version) const {
    version.launch(sum);
    CUDA_CHECK_LAUNCH();
    return check(version.name, sum, reference(values));
  }

  std::vector<int> values;
  DeviceArray<int> d_x;
  DeviceArray<Result> result;
  OneThreadSum sum;
};

const Version<OneThreadSum>& named(const std::string& name) {
  for (const auto& v : kVersions) {
    if (name == v.name) return v;
  }
  throw std::runtime_error("no version " + name);
}

// One of each combination of qualifiers that the notes list as allowed.
__device__ __constant__ int factors[2];  // the same as __constant__ alone
static __device__ int file_counter;      // static as in C++: this file's own

__host__ __device__ int twice(int v) { return 2 * v; }  // compiled for both sides

__global__ void use_qualifiers(int* seen) {
  static __device__ int kernel_counter;  // one for all launches, not one per launch
  __device__ __shared__ int product;     // the same as __shared__ alone
  product = factors[0] * factors[1];
  seen[0] = ++kernel_counter;
  seen[1] = ++file_counter;
  seen[2] = twice(product);
}

}  // namespace

TEST_CASE("every version adds every element at awkward sizes, whatever the values") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      if (n > 100000 && input.name != "index-valued") continue;  // the kind that shows most
      const Setup setup(input.values);
      for (const auto& version : kVersions) {
        INFO(version.name << ", n = " << n << ", " << input.name);
        CHECK(setup.run_and_check(version));
      }
    }
  }
}

TEST_CASE("every stride visits every element exactly once, also strides longer than the array") {
  for (const std::size_t stride : {2, 3, 8, 31, 64, 1000}) {
    for (const std::size_t n : {0, 1, 7, 64, 65, 1023, 5003}) {
      for (const NamedInts& input : ints_of_every_kind(n)) {
        const Setup setup(input.values, stride);
        INFO("stride " << stride << ", n = " << n << ", " << input.name);
        CHECK(setup.run_and_check(named("one_load_at_a_time")));
      }
    }
  }
}

TEST_CASE("the CPU core adds every element at awkward sizes, whatever the values") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      INFO("n = " << n << ", " << input.name);
      CHECK(sum_on_cpu_core(input.values.data(), n) == reference(input.values));
    }
  }
}

TEST_CASE("a launch leaves nothing behind that the next one trips over") {
  const Setup setup(random_ints(10007, 0, 9, 5));
  for (const auto& version : kVersions) {
    for (int repeat = 0; repeat < 20; ++repeat) version.launch(setup.sum);
    CUDA_CHECK_LAUNCH();
    INFO(version.name);
    CHECK(check(version.name, setup.sum, reference(setup.values)));
  }
}

TEST_CASE("sums past 32 bits are exact, except in the narrow accumulator, which wraps") {
  // Nines are the chapter's own case; the others do it with few elements.
  for (const int value : {9, 40000, -46340}) {
    const std::size_t n = value == 9 ? 1_Mi : 4099;
    const Setup setup(std::vector<int>(n, value));
    for (const auto& version : kVersions) {
      INFO(version.name << ", all " << value);
      CHECK(setup.run_and_check(version));
    }
  }
  const Setup setup(std::vector<int>(4099, 40000));
  REQUIRE(setup.run_and_check(named("narrow_accumulator")));
  CHECK(fetch("narrow_accumulator", setup.sum).sum != reference(setup.values));
}

TEST_CASE("32 Mi nines are the first power of two whose sum passes an int") {
  CHECK(low_32_bits(81LL << 24) == 81LL << 24);
  CHECK(low_32_bits(81LL << 25) == -1577058304);
}

TEST_CASE("every version counts the cycles that its loop took, and no more than the launch took") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{100003}}) {
    const Setup setup(random_ints(n, 0, 9, 5));
    for (const auto& version : kVersions) {
      EventTimer timer;
      timer.start();
      version.launch(setup.sum);
      const double ms = timer.stop_ms();
      const long long cycles = fetch(version.name, setup.sum).cycles;
      INFO(version.name << ", n = " << n << ": " << cycles << " cycles, " << ms << " ms");
      CHECK(cycles_are_plausible(cycles, n, ms));
    }
  }
}

TEST_CASE("cycles that no loop can have taken are not plausible") {
  CHECK(cycles_are_plausible(47000000, 1_Mi, 24.9));
  CHECK_FALSE(cycles_are_plausible(-47000000, 1_Mi, 24.9));  // the end taken from the beginning
  CHECK_FALSE(cycles_are_plausible(0, 1_Mi, 24.9));
  CHECK_FALSE(cycles_are_plausible(40, 1_Mi, 24.9));  // the clock read twice before the loop
  CHECK_FALSE(cycles_are_plausible(3600000000000, 1_Mi, 24.9));  // one reading, not a difference
}

TEST_CASE("a device variable reads the same by its symbol and by its address") {
  const Setup setup(random_ints(1000, 0, 9, 5));
  REQUIRE(setup.run_and_check(named("device_variable")));
  CHECK(fetch("device_variable", setup.sum).sum == reference(setup.values));
  CHECK(fetch_device_variable_by_address().sum == reference(setup.values));
  CHECK(fetch("single_thread", setup.sum).sum == -1);  // and nothing went through the pointer
}

TEST_CASE("a result goes to its place of the array and to no other") {
  Setup setup(random_ints(1000, 0, 9, 5));
  for (unsigned place = 0; place < kPlaces; ++place) {
    poison(setup.sum);
    setup.sum.place = place;
    REQUIRE(setup.run_and_check(named("device_array")));
    for (setup.sum.place = 0; setup.sum.place < kPlaces; ++setup.sum.place) {
      INFO("written to " << place << ", read from " << setup.sum.place);
      CHECK((fetch("device_array", setup.sum).sum == -1) == (setup.sum.place != place));
    }
  }
}

TEST_CASE("a managed variable is the same for both sides") {
  const Setup setup(random_ints(1000, 0, 9, 5));
  CHECK(managed_result.sum == -1);  // the poison
  REQUIRE(setup.run_and_check(named("managed_variable")));
  CHECK(managed_result.sum == reference(setup.values));
  Result copied;
  CUDA_CHECK(cudaMemcpyFromSymbol(&copied, managed_result, sizeof copied));
  CHECK(copied.sum == reference(setup.values));
  CHECK(fetch("single_thread", setup.sum).sum == -1);  // and nothing went through the pointer
}

TEST_CASE("qualifiers combine as the notes say, and variables of the device outlive a launch") {
  const std::vector<int> values = {3, 7};
  CUDA_CHECK(cudaMemcpyToSymbol(factors, values.data(), 2 * sizeof(int)));
  const int start = 10;
  CUDA_CHECK(cudaMemcpyToSymbol(file_counter, &start, sizeof start));
  const DeviceArray<int> seen(3);
  for (int launch = 1; launch <= 3; ++launch) {
    use_qualifiers<<<1, 1>>>(seen.get());
    CUDA_CHECK_LAUNCH();
    CHECK(seen.download() == std::vector<int>{launch, start + launch, twice(21)});
  }
}

TEST_CASE("a pointer variable is followed to where the host points it") {
  const Setup setup(random_ints(1000, 0, 9, 5));
  DeviceArray<Result> elsewhere(1);
  Result* const target = elsewhere.get();
  CUDA_CHECK(cudaMemcpyToSymbol(device_result_pointer, &target, sizeof target));
  named("device_pointer_variable").launch(setup.sum);
  CUDA_CHECK_LAUNCH();
  CHECK(elsewhere.download()[0].sum == reference(setup.values));
  CHECK_FALSE(check("device_pointer_variable", setup.sum, reference(setup.values)));
}

TEST_CASE("the checker rejects a kernel that does nothing") {
  const Setup setup(random_ints(1000, 0, 9, 5));
  for (const auto& version : kVersions) {
    INFO(version.name);
    CHECK_FALSE(check(version.name, setup.sum, reference(setup.values)));
    REQUIRE(setup.run_and_check(version));
    poison(setup.sum);  // what an earlier launch left must not pass either
    CHECK_FALSE(check(version.name, setup.sum, reference(setup.values)));
  }
}

TEST_CASE("the checker rejects one wrong element") {
  const Setup setup(random_ints(1000, 0, 9, 5));
  std::vector<int> other = setup.values;
  other[999] += 1;
  for (const auto& version : kVersions) {
    REQUIRE(setup.run_and_check(version));
    INFO(version.name);
    CHECK_FALSE(check(version.name, setup.sum, reference(other)));
  }
}

TEST_CASE("a block of more threads than the hardware has is refused at the launch, once") {
  const Setup setup(random_ints(1000, 0, 9, 5));
  sum_single_thread<<<1, 1025>>>(setup.sum.x, setup.sum.n, setup.sum.result);
  CHECK(refuses_configuration(cudaGetLastError()));
  CHECK(cudaGetLastError() == cudaSuccess);  // reading the error cleared it
  CHECK(setup.run_and_check(named("single_thread")));
}
