// SPDX-License-Identifier: MIT
// Arrays of a thread's own whose indices nvcc cannot know lie in local memory, lanes side by side.

#include "xray/model.h"
#include "xray_testing.cuh"

using xray::Operation;
using xray::Space;

#if !defined(__clang__)  // which does not report accesses to local memory

namespace {

constexpr int kElements = 16;

// Lane k reads and writes element (from + step * k) % kElements.
template <class T>
__global__ void indexed_by_lane(T* out, int from, int step) {
  T own[kElements];
#pragma unroll 1
  for (int i = 0; i < kElements; ++i) own[i] = static_cast<T>(i);  // line: fill
  const int at = (from + step * static_cast<int>(threadIdx.x)) % kElements;
  own[at] += static_cast<T>(1);  // line: update
  out[threadIdx.x] = own[(at + 1) % kElements] + own[at];
}

template <class T>
void check_by_lane(int step) {
  INFO(sizeof(T) << " bytes, step " << step);
  const DeviceArray<T> out(kWarp);
  const xray::Launch launch =
      launch_of([&] { indexed_by_lane<T><<<1, kWarp>>>(out.get(), 3, step); });
  std::set<std::pair<unsigned, unsigned>> sectors;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const unsigned at = (3 + static_cast<unsigned>(step) * lane) % kElements;
    for (unsigned byte = 0; byte < sizeof(T); ++byte) {
      sectors.insert({(at * unsigned{sizeof(T)} + byte) / 4, lane / 8});
    }
  }
  const xray::Counts stores = launch.total(Space::kLocal, Operation::kStore);
  const unsigned words = (sizeof(T) + 3) / 4;
  CHECK(stores.requests == kElements + 1);
  CHECK(stores.lanes == (kElements + 1) * kWarp);
  CHECK(stores.sectors == kElements * 4 * words + sectors.size());
  CHECK(stores.ideal_sectors == (kElements + 1) * 4 * words);
  // What was just written is not loaded again.
  CHECK(launch.total(Space::kLocal, Operation::kLoad).requests == 2);
  CHECK(launch.total_of_line(line_of(__FILE__, "fill")).requests == kElements);
}

// ---- nvcc knows every index: registers. `#pragma unroll` makes sure of it. ----------------------

__global__ void constant_indices(const float* x, float* out) {
  float own[4];
  own[0] = x[threadIdx.x];
  own[1] = own[0] * 2;
  own[2] = own[1] * own[0];
  own[3] = own[2] - own[1];
  out[threadIdx.x] = own[3] * own[0] + own[2];
}

__global__ void unrolled_loops(const float* x, float* out) {
  constexpr int kRows = 3, columns = 4;
  float own[kRows][columns] = {};
#pragma unroll
  for (int turn = 0; turn < 8; ++turn) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
#pragma unroll
      for (int column = 0; column < columns; ++column) {
        const int next = (column + 1) % columns;
        own[row][column] += x[threadIdx.x + 32 * row] * own[row][next];
      }
    }
  }
  float sum = 0;
#pragma unroll
  for (const auto& row : own) {
#pragma unroll
    for (const float v : row) sum += v;
  }
  out[threadIdx.x] = sum;
}

template <int N>
__global__ void unrolled_by_template(const float* x, float* out) {
  float own[N], other[N / 2];
#pragma unroll
  for (int i = 0; i < N; ++i) own[i] = x[32 * i + static_cast<int>(threadIdx.x)];
#pragma unroll
  for (int i = 0; i < N / 2; ++i) other[i] = own[i] * own[N - 1 - i];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < N / 2; ++i) sum += other[i];
  out[threadIdx.x] = sum;
}

__device__ void sort_two(float& a, float& b) {
  const float least = a < b ? a : b;
  b = a < b ? b : a;
  a = least;
}

__global__ void handed_on_one_by_one(const float* x, float* out) {
  float own[3];
  for (int i = 0; i < 3; ++i) own[i] = x[32 * i + static_cast<int>(threadIdx.x)];
  float scalar = own[0];
  sort_two(own[0], own[1]);
  sort_two(own[1], own[2]);
  sort_two(own[0], scalar);
  out[threadIdx.x] = own[1] + scalar;
}

__device__ float sum_of(const float (&values)[4]) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) sum += values[i];
  return sum;
}

__global__ void handed_on(const float* x, float* out) {
  float own[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) own[i] = x[32 * i + static_cast<int>(threadIdx.x)];
  out[threadIdx.x] = sum_of(own);
}

struct Four {
  float value[4];
  unsigned others;
};

__global__ void member_of_a_structure(const float* x, float* out) {
  Four own;
#pragma unroll
  for (int i = 0; i < 4; ++i) own.value[i] = x[32 * i + static_cast<int>(threadIdx.x)];
  const int THIRD = 2;
  out[threadIdx.x] = own.value[THIRD] + own.value[0];
}

__global__ void by_a_pointer_that_stays(const float* x, float* out) {
  float own[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) own[i] = x[32 * i + static_cast<int>(threadIdx.x)];
  const float* const first = own;
  out[threadIdx.x] = first[0] + first[3];
}

// ---- nvcc cannot know an index. (Some of these small arrays it keeps in registers nonetheless.)
// --

__global__ void by_argument(const float* x, float* out, int at) {
  float own[8];
  for (int i = 0; i < 8; ++i) own[i] = x[32 * i + static_cast<int>(threadIdx.x)];  // line: eight
  out[threadIdx.x] = own[at & 7];                                                  // line: argument
}

__global__ void not_unrolled(const float* x, float* out) {
  float own[8];
#pragma unroll 1
  for (int i = 0; i < 8; ++i) own[i] = x[32 * i + static_cast<int>(threadIdx.x)];
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum = sum * 0.5f + own[7 - i];
  out[threadIdx.x] = sum;
}

__global__ void unknown_turns(const float* x, float* out, int turns) {
  float own[8] = {};
  for (int i = 0; i < turns; ++i) own[i] = x[32 * i + static_cast<int>(threadIdx.x)];
  out[threadIdx.x] = own[7] + own[0];
}

__global__ void loaded_index(const float* x, const int* at, float* out) {
  float own[8];
  for (int i = 0; i < 8; ++i) own[i] = x[32 * i + static_cast<int>(threadIdx.x)];
  const int index = at[threadIdx.x] & 7;
  out[threadIdx.x] = own[index];
}

__global__ void by_capitals(const float* x, float* out, int at) {
  float own[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) own[i] = x[32 * i + static_cast<int>(threadIdx.x)];
  const int PLACE = at & 7;
  out[threadIdx.x] = own[PLACE];
}

__global__ void member_by_argument(const float* x, float* out, int at) {
  Four own;
#pragma unroll
  for (int i = 0; i < 4; ++i) own.value[i] = x[32 * i + static_cast<int>(threadIdx.x)];
  out[threadIdx.x] = own.value[at & 3];
}

__global__ void member_without_a_name(const float* x, float* out, int at) {
  struct {
    float value[4];
  } own;
#pragma unroll
  for (int i = 0; i < 4; ++i) own.value[i] = x[32 * i + static_cast<int>(threadIdx.x)];
  out[threadIdx.x] = own.value[at & 3];
}

__global__ void by_a_pointer(const float* x, float* out, int turns) {
  float own[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) own[i] = x[32 * i + static_cast<int>(threadIdx.x)];
  const float* at = own;
  for (int i = 0; i < turns; ++i) ++at;
  out[threadIdx.x] = *at;
}

__device__ float one_of(const float* values, unsigned at) { return values[at]; }

__global__ void handed_on_with_index(const float* x, float* out) {
  float own[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) own[i] = x[32 * i + static_cast<int>(threadIdx.x)];
  out[threadIdx.x] = one_of(own, threadIdx.x & 3);  // line: handed on with an index
}

__global__ void initialised(float* out, int at) {
  float own[32] = {};  // line: initialiser
#pragma unroll 1
  for (int i = 0; i < at; ++i) own[(i * 5) % 32] += static_cast<float>(i);
  out[threadIdx.x] = own[at & 31];
}

// Two arrays, and lanes that use one or the other.
__global__ void two_arrays(float* out, int from) {
  float first[8], second[8];
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
    first[i] = static_cast<float>(i);
    second[i] = static_cast<float>(-i);
  }
  const float* const either = threadIdx.x < 16 ? first : second;
  out[threadIdx.x] = either[from & 7] + first[(from + 1) & 7];  // line: either
}

// In one warp a lane uses memory that others see; in the other nobody does until the end.
__global__ void beside_barriers(float* out, int turns) {
  float own[8];
#pragma unroll 1
  for (int i = 0; i < 8; ++i) own[i] = 0;
  for (int k = 0; k < turns; ++k) {
    own[k & 7] += 1;  // line: own
    if (threadIdx.x == 0) out[k] = 1;
    __syncthreads();
  }
  out[threadIdx.x] = own[turns & 7];
}

}  // namespace

TEST_CASE("lanes that use the same element share sectors, others do not") {
  for (const int step : {0, 1, 2, 3, 5, 8}) {
    check_by_lane<int>(step);
    check_by_lane<double>(step);
    check_by_lane<short>(step);
    check_by_lane<unsigned char>(step);
  }
}

TEST_CASE("arrays whose indices nvcc knows are registers") {
  const DeviceArray<float> x(32 * 16), out(kWarp);
  const std::vector<xray::Launch> launches = launches_of([&] {
    constant_indices<<<1, kWarp>>>(x.get(), out.get());
    unrolled_loops<<<1, kWarp>>>(x.get(), out.get());
    unrolled_by_template<8><<<1, kWarp>>>(x.get(), out.get());
    handed_on_one_by_one<<<1, kWarp>>>(x.get(), out.get());
    handed_on<<<1, kWarp>>>(x.get(), out.get());
    member_of_a_structure<<<1, kWarp>>>(x.get(), out.get());
    by_a_pointer_that_stays<<<1, kWarp>>>(x.get(), out.get());
  });
  REQUIRE(launches.size() == 7);
  for (const xray::Launch& launch : launches) {
    INFO(launch.kernel);
    CHECK(launch.total(Space::kLocal, Operation::kLoad).requests == 0);
    CHECK(launch.total(Space::kLocal, Operation::kStore).requests == 0);
  }
}

TEST_CASE("arrays with an index that nvcc cannot know are local memory") {
  const DeviceArray<float> x(32 * 16), out(2 * kWarp);
  std::vector<int> indices(kWarp);
  for (unsigned t = 0; t < kWarp; ++t) indices[t] = static_cast<int>(t * 5);
  const DeviceArray<int> at(indices);
  struct Expected {
    std::uint64_t stores, loads, load_sectors;
  };
  const auto check = [](const xray::Launch& launch, const Expected& e) {
    INFO(launch.kernel);
    CHECK(launch.total(Space::kLocal, Operation::kStore).requests == e.stores);
    CHECK(launch.total(Space::kLocal, Operation::kStore).sectors == 4 * e.stores);
    CHECK(launch.total(Space::kLocal, Operation::kLoad).requests == e.loads);
    CHECK(launch.total(Space::kLocal, Operation::kLoad).sectors == e.load_sectors);
  };
  check(launch_of([&] { by_argument<<<1, kWarp>>>(x.get(), out.get(), 5); }), {8, 1, 4});
  check(launch_of([&] { not_unrolled<<<1, kWarp>>>(x.get(), out.get()); }), {8, 8, 32});
  check(launch_of([&] { loaded_index<<<1, kWarp>>>(x.get(), at.get(), out.get()); }), {8, 1, 32});
  // Four lanes of each eight use the same element as four others: 2 of each 4 elements differ.
  check(launch_of([&] { handed_on_with_index<<<1, kWarp>>>(x.get(), out.get()); }), {4, 1, 16});
  check(launch_of([&] { by_capitals<<<1, kWarp>>>(x.get(), out.get(), 5); }), {8, 1, 4});
  check(launch_of([&] { member_by_argument<<<1, kWarp>>>(x.get(), out.get(), 5); }), {4, 1, 4});
  check(launch_of([&] { member_without_a_name<<<1, kWarp>>>(x.get(), out.get(), 5); }), {4, 1, 4});
  check(launch_of([&] { by_a_pointer<<<1, kWarp>>>(x.get(), out.get(), 5); }), {8, 1, 4});
  const xray::Launch turns = launch_of([&] { unknown_turns<<<1, kWarp>>>(x.get(), out.get(), 3); });
  CHECK(turns.total(Space::kLocal, Operation::kLoad).requests == 2);
}

TEST_CASE("the initialiser of an array of a thread's own stores 16 bytes at a time") {
  const DeviceArray<float> out(kWarp);
  const xray::Launch launch = launch_of([&] { initialised<<<1, kWarp>>>(out.get(), 3); });
  const xray::Counts stores = launch.total_of_line(line_of(__FILE__, "initialiser"));
  CHECK(stores.requests == 32 * 4 / 16);
  CHECK(stores.sectors == 32 * 4);
  CHECK(launch.total(Space::kLocal, Operation::kStore).requests == 8 + 3);
}

TEST_CASE("each array of a thread's own counts by itself") {
  const DeviceArray<float> out(2 * kWarp);
  const xray::Launch launch = launch_of([&] { two_arrays<<<1, kWarp>>>(out.get(), 2); });
  CHECK(launch.total(Space::kLocal, Operation::kStore, "first").requests == 8);
  CHECK(launch.total(Space::kLocal, Operation::kStore, "second").requests == 8);
  CHECK(launch.total(Space::kLocal, Operation::kLoad, "first").requests == 2);
  CHECK(launch.total(Space::kLocal, Operation::kLoad, "first").lanes == 16 + kWarp);
  CHECK(launch.total(Space::kLocal, Operation::kLoad, "second").lanes == 16);
  CHECK(launch.total(Space::kLocal, Operation::kLoad, "second").sectors == 2);
}

TEST_CASE("local memory is counted in lanes that use no other") {
  const DeviceArray<float> out(2 * kWarp);
  for (const unsigned block : {kWarp, 2 * kWarp}) {
    const xray::Launch launch = launch_of([&] { beside_barriers<<<1, block>>>(out.get(), 5); });
    const xray::Counts own = launch.total_of_line(line_of(__FILE__, "own"));
    CHECK(own.requests == block / kWarp * 2 * 5);
    CHECK(own.lanes == block * 2 * 5);
  }
}

TEST_CASE("the listing says what local memory costs") {
  const DeviceArray<float> x(32 * 16), out(kWarp);
  std::vector<int> indices(kWarp);
  for (unsigned t = 0; t < kWarp; ++t) indices[t] = static_cast<int>(t);
  const DeviceArray<int> at(indices);
  const std::string apart =
      listing_of([&] { loaded_index<<<1, kWarp>>>(x.get(), at.get(), out.get()); });
  CHECK(apart.find("local  load           1  32.0  32/4 sectors") != std::string::npos);
  CHECK(apart.find("the lanes use different elements of their arrays") != std::string::npos);
  CHECK(apart.find("local loads: 1 requests, 32 sectors") != std::string::npos);
  CHECK(listing_of([&] { handed_on<<<1, kWarp>>>(x.get(), out.get()); }).find(" local ") ==
        std::string::npos);
}

#else

namespace {

__global__ void by_argument(float* out, int at) {
  float own[64];
  for (int i = 0; i < 64; ++i) own[i] = out[i];
  out[threadIdx.x] = own[at];
}

}  // namespace

TEST_CASE("clang reports no access to local memory, and all others") {
  const DeviceArray<float> out(64);
  const xray::Launch launch = launch_of([&] { by_argument<<<1, kWarp>>>(out.get(), 5); });
  CHECK(launch.total(Space::kLocal, Operation::kLoad).requests == 0);
  CHECK(launch.total(Space::kGlobal, Operation::kLoad).requests > 0);
  CHECK(launch.total(Space::kGlobal, Operation::kStore).requests == 1);
}

#endif
