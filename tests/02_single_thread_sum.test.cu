// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/02_single_thread_sum/single_thread_sum.cu"
#undef main

#include <array>
#include <stdexcept>

#include "kernel_testing.cuh"
#if !defined(__CUDA_CPU__) && \
    CUDART_VERSION >= 12040  // what an experiment includes, before its namespace
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>
#endif

#define main experiment_main
namespace beside_a_cpu_core {
#include "../chapters/02_single_thread_sum/experiments/beside_a_cpu_core.cu"
}
namespace failing_calls {
#include "../chapters/02_single_thread_sum/experiments/failing_calls.cu"
}
namespace first_launches {
#include "../chapters/02_single_thread_sum/experiments/first_launches.cu"
}
namespace launch_and_clocks {
#include "../chapters/02_single_thread_sum/experiments/launch_and_clocks.cu"
}
namespace strides {
#include "../chapters/02_single_thread_sum/experiments/strides.cu"
}
namespace ways_to_a_variable {
#include "../chapters/02_single_thread_sum/experiments/ways_to_a_variable.cu"
}
#undef main

namespace {

long long reference(const std::vector<int>& x) {
  return std::accumulate(x.begin(), x.end(), 0LL,
                         [](long long sum, long long v) { return sum + v * v; });
}

// Where a variable of the device lies.
template <class Variable>
Result* address_of(Variable& variable) {
  void* address = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&address, variable));
  return static_cast<Result*>(address);
}

// What the versions read and write, every place of a result poisoned.
struct Setup {
  explicit Setup(const std::vector<int>& x) : values(x), d_x(x), result(1) {
    Result* const pointed_to = result;
    CUDA_CHECK(cudaMemcpyToSymbol(device_result_pointer, &pointed_to, sizeof pointed_to));
    const std::vector<Result> poisoned(kPlaces, Result{-1, -1});
    CUDA_CHECK(cudaMemcpyToSymbol(device_results, poisoned.data(), sizeof device_results));
    for_each([](const auto&, const OneThreadSum& s) { s.poison(); });
  }

  OneThreadSum leaving_at(Result* place) const {
    return {d_x, d_x.size(), place, reference(values)};
  }

  // Calls use(version, sum) for every version, with the place where it leaves its result.
  template <class Use>
  void for_each(Use use) const {
    for (const auto& version : kThroughPointer) use(version, leaving_at(result));
    use(kInVariable, leaving_at(address_of(device_result)));
    use(kInArray, leaving_at(address_of(device_results) + kPlace));
    use(kInManaged, leaving_at(&managed_result));
    use(kNarrow, {d_x, d_x.size(), result, low_32_bits(reference(values))});
  }

  std::vector<int> values;
  DeviceArray<int> d_x;
  DeviceArray<Result> result;
};

bool is_right(const Version<OneThreadSum>& version, const OneThreadSum& s) {
  return (s.*version.is_right)(version.name);
}

// Whether a kernel's own count of cycles can be true of its loop over n ints: no clock makes more
// than ten in a nanosecond, and no thread adds more than 64 ints in a cycle.
bool cycles_are_plausible(long long cycles, std::size_t n, double ms) {
  const auto count = static_cast<double>(cycles);
  return count > 0 && count <= 1e7 * ms && count >= static_cast<double>(n) / 64;
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

// Static kernels: their names are this file's own, and `static` may stand on either side.
static __global__ void store_one(int* place) { *place = 1; }
__global__ static void store_two(int* place) { *place = 2; }

TEST_CASE("every version adds every element at awkward sizes, whatever the values") {
  for_ints_of_every_size([](const std::vector<int>& values) {
    Setup(values).for_each([](const auto& version, const OneThreadSum& sum) {
      INFO(version.name);
      CHECK(runs_right(version, sum));
    });
  });
}

TEST_CASE("every stride visits every element exactly once, also strides longer than the array",
          "[strides]") {
  for (const std::size_t stride : {2, 3, 8, 31, 64, 1000}) {
    for (const std::size_t n : {0, 1, 7, 64, 65, 1023, 5003}) {
      for (const NamedInts& input : ints_of_every_kind(n)) {
        const Setup setup(input.values);
        INFO("stride " << stride << ", n = " << n << ", " << input.name);
        sum_one_load_at_a_time<<<1, 1>>>(setup.d_x, n, stride, setup.result);
        CHECK(setup.leaving_at(setup.result).is_right("the chapter's"));
        const DeviceArray<strides::Result> result(1);
        strides::sum_strided<<<1, 1>>>(setup.d_x, n, stride, result);
        CHECK(result.download()[0].sum == reference(input.values));
      }
    }
  }
}

TEST_CASE("the CPU core and one thread add every element at awkward sizes, whatever the values",
          "[beside_a_cpu_core]") {
  using namespace beside_a_cpu_core;
  for_ints_of_every_size([](const std::vector<int>& values) {
    const WholeSum whole{DeviceArray<int>(values), reference(values)};
    CHECK(sum_on_cpu_core(values.data(), values.size()) == whole.expected);
    for (const auto& version : kVersions) {
      if (!values.empty() || version.name == std::string("single_thread"))
        CHECK(runs_right(version, whole));
    }
  });
}

TEST_CASE("no launch trips over what earlier ones left, and doing nothing is not right") {
  const Setup setup(random_ints(10007, 0, 9, 5));
  setup.for_each([](const auto& version, OneThreadSum sum) {
    check_repeated(std::array{version}, sum);
    INFO(version.name);
    REQUIRE(runs_right(version, sum));
    sum.expected += 1;
    CHECK_FALSE(is_right(version, sum));  // one wrong element
  });
}

TEST_CASE("sums past 32 bits are exact, except in the narrow accumulator, which wraps") {
  // Nines are the chapter's own case; the others do it with few elements.
  for (const int value : {9, 40000, -46340}) {
    const std::size_t n = value == 9 ? 1_Mi : 4099;
    Setup(std::vector<int>(n, value)).for_each([&](const auto& version, const OneThreadSum& sum) {
      INFO(version.name << ", all " << value);
      CHECK(runs_right(version, sum));
      if (value == 40000) CHECK((sum.fetched.sum == 1600000000LL * 4099) == (&version != &kNarrow));
    });
  }
}

TEST_CASE("32 Mi nines are the first power of two whose sum passes an int") {
  CHECK(low_32_bits(81LL << 24) == 81LL << 24);
  CHECK(low_32_bits(81LL << 25) == -1577058304);
}

TEST_CASE("every version counts the cycles that its loop took, and no more than the launch took") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{100003}}) {
    Setup(random_ints(n, 0, 9, 5)).for_each([&](const auto& version, const OneThreadSum& sum) {
      EventTimer timer;
      timer.start();
      version.launch(sum);
      const double ms = timer.stop_ms();
      REQUIRE(is_right(version, sum));
      INFO(version.name << ", n = " << n << ": " << sum.fetched.cycles << " cycles, " << ms);
      CHECK(cycles_are_plausible(sum.fetched.cycles, n, ms));
    });
  }
}

TEST_CASE("the experiments count the cycles of their loops", "[strides][launch_and_clocks]") {
  const std::vector<int> x = random_ints(100003, 0, 9, 5);
  const DeviceArray<int> d_x(x);
  EventTimer timer;
  const DeviceArray<strides::Result> strided(1);
  timer.start();
  strides::sum_strided<<<1, 1>>>(d_x, x.size(), 3, strided);
  CHECK(cycles_are_plausible(strided.download()[0].cycles, x.size(), timer.stop_ms()));
  const DeviceArray<launch_and_clocks::Result> result(1);
  timer.start();
  launch_and_clocks::sum_timed<<<1, 1>>>(d_x, x.size(), result);
  const double ms = timer.stop_ms();
  CHECK(result.download()[0].sum == reference(x));
  CHECK(cycles_are_plausible(result.download()[0].cycles, x.size(), ms));
}

TEST_CASE("the first launches are shown one by one, then few, and the last", "[first_launches]") {
  using namespace first_launches;
  std::string shown;
  for (std::size_t launch = 1; launch <= 21; ++launch)
    if (is_shown(launch, 21)) shown += std::to_string(launch) + " ";
  CHECK(shown == "1 2 3 4 5 10 20 21 ");
  const std::vector<std::string> lines =
      lines_of_csv(experiment_main, {"--n", "300", "--launches", "6"});
  REQUIRE(lines.size() == 1 + 6 + 1);  // all six, and their median
  for (std::size_t row = 1; row < lines.size(); ++row) {
    const std::string name = row == 7 ? "median" : "launch=" + std::to_string(row);
    INFO(lines[row]);
    CHECK(lines[row].find(name) != std::string::npos);
    CHECK(lines[row].find(",us,") != std::string::npos);
  }
}

TEST_CASE("cycles that no loop can have taken are not plausible") {
  CHECK(cycles_are_plausible(47000000, 1_Mi, 24.9));
  CHECK_FALSE(cycles_are_plausible(-47000000, 1_Mi, 24.9));  // the end taken from the beginning
  CHECK_FALSE(cycles_are_plausible(0, 1_Mi, 24.9));
  CHECK_FALSE(cycles_are_plausible(40, 1_Mi, 24.9));  // the clock read twice before the loop
  CHECK_FALSE(cycles_are_plausible(3600000000000, 1_Mi, 24.9));  // one reading, not a difference
}

static unsigned launched = 0;  // sum_into_variables, by the two tests below

TEST_CASE("all ways to the variables of the device end where the kernel wrote",
          "[ways_to_a_variable]") {
  using namespace ways_to_a_variable;
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
    const std::vector<int> x = random_ints(n, 1, 9, 5);
    const DeviceArray<int> d_x(x);
    const DeviceArray<long long> pointed_to(2);
    poison_variables(pointed_to);
    CHECK_FALSE(are_right(fetch_variables(pointed_to), reference(x)));
    sum_into_variables<<<1, 1>>>(d_x, n);
    CUDA_CHECK_LAUNCH();
    ++launched;
    CHECK(are_right(fetch_variables(pointed_to), reference(x)));
    CHECK_FALSE(are_right(fetch_variables(pointed_to), reference(x) + 1));
    CHECK(pointed_to.download()[1] == -1);
    std::vector<long long> places(ways_to_a_variable::kPlaces);
    CUDA_CHECK(cudaMemcpyFromSymbol(places.data(), device_sums, sizeof device_sums));
    for (unsigned place = 0; place < places.size(); ++place) {
      INFO("place " << place);
      CHECK((places[place] == -1) == (place != ways_to_a_variable::kPlace));
    }
    poison_variables(pointed_to);  // nothing that an earlier launch left passes
    const Ways w = fetch_variables(pointed_to);
    CHECK((w.by_symbol == -1 && w.by_address == -1 && w.by_offset == -1 && w.by_pointer == -1 &&
           w.by_name == -1));
  }
}

TEST_CASE("an initialised variable of the device begins with its value and outlives each launch",
          "[ways_to_a_variable]") {
  using namespace ways_to_a_variable;
  const DeviceArray<int> x(std::vector<int>{3, 7});
  const DeviceArray<long long> pointed_to(1);
  poison_variables(pointed_to);
  CHECK(launches_counted() == launched);
  for (int launch = 0; launch < 3; ++launch) {
    sum_into_variables<<<1, 1>>>(x, x.size());
    CUDA_CHECK_LAUNCH();
    CHECK(launches_counted() == ++launched);
  }
}

TEST_CASE("a string is no symbol, though it compiles") {
  const int value = 7;
  int before = 0, after = 0;
  void* address = nullptr;
  CUDA_CHECK(cudaMemcpyFromSymbol(&before, file_counter, sizeof before));
  const char* const name = "file_counter";
  CHECK(cudaMemcpyToSymbol("file_counter", &value, sizeof value) == cudaErrorInvalidSymbol);
  CHECK(cudaMemcpyToSymbol(name, &value, sizeof value) == cudaErrorInvalidSymbol);
  CHECK(cudaGetSymbolAddress(&address, "file_counter") == cudaErrorInvalidSymbol);
  cudaGetLastError();  // it stays until somebody asks
  CUDA_CHECK(cudaMemcpyFromSymbol(&after, file_counter, sizeof after));
  CHECK(after == before);
}

TEST_CASE("a result goes to its place of the array and to no other") {
  const Setup setup(random_ints(1000, 0, 9, 5));
  for (unsigned place = 0; place < kPlaces; ++place) {
    for (unsigned p = 0; p < kPlaces; ++p)
      setup.leaving_at(address_of(device_results) + p).poison();
    sum_device_array<<<1, 1>>>(setup.d_x, setup.d_x.size(), place);
    for (unsigned p = 0; p < kPlaces; ++p) {
      const OneThreadSum there = setup.leaving_at(address_of(device_results) + p);
      INFO("written to " << place << ", read from " << p);
      CHECK(there.is_right("there") == (p == place));
      CHECK((there.fetched.sum == -1) == (p != place));
    }
  }
}

TEST_CASE("a managed variable is the same for both sides") {
  const Setup setup(random_ints(1000, 0, 9, 5));
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(managed_result.sum == -1);  // the poison
  REQUIRE(runs_right(kInManaged, setup.leaving_at(&managed_result)));
  CHECK(managed_result.sum == reference(setup.values));
  Result copied;
  CUDA_CHECK(cudaMemcpyFromSymbol(&copied, managed_result, sizeof copied));
  CHECK(copied.sum == reference(setup.values));
  CHECK(setup.result.download()[0].sum == -1);  // and nothing went through the pointer
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

TEST_CASE("a kernel may be static, with the word before or behind __global__") {
  const DeviceArray<int> stored(2);
  store_one<<<1, 1>>>(stored.get());
  store_two<<<1, 1>>>(stored.get() + 1);
  CUDA_CHECK_LAUNCH();
  CHECK(stored.download() == std::vector<int>{1, 2});
}

TEST_CASE("a pointer variable is followed to where the host points it") {
  const Setup setup(random_ints(1000, 0, 9, 5));
  const DeviceArray<Result> elsewhere(1);
  Result* const target = elsewhere.get();
  CUDA_CHECK(cudaMemcpyToSymbol(device_result_pointer, &target, sizeof target));
  kThroughPointer[3].launch(setup.leaving_at(setup.result));
  CUDA_CHECK_LAUNCH();
  CHECK(elsewhere.download()[0].sum == reference(setup.values));
  CHECK_FALSE(setup.leaving_at(setup.result).is_right("where nobody wrote"));
}

TEST_CASE("a block of more threads than the hardware has is refused at the launch, once",
          "[failing_calls]") {
  const Setup setup(random_ints(1000, 0, 9, 5));
  sum_single_thread<<<1, 1025>>>(setup.d_x, setup.d_x.size(), setup.result);
  CHECK(refuses_configuration(cudaGetLastError()));
  CHECK(cudaGetLastError() == cudaSuccess);  // reading the error cleared it
  const DeviceArray<long long> sum(1);
  failing_calls::launch_with_too_many_threads(setup.d_x, 1000, sum);
  CHECK(refuses_configuration(cudaGetLastError()));
  failing_calls::sum_plainly<<<1, 1>>>(setup.d_x, 1000, sum);  // the kernel itself is right
  CHECK(sum.download()[0] == reference(setup.values));
}
