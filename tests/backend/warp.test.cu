// SPDX-License-Identifier: MIT
// Compares each warp operation of the CPU backend with its definition in the CUDA programming
// guide.
#include <vector>

#include "../kernel_testing.cuh"

namespace {

constexpr unsigned kAll = 0xffffffffu;
constexpr int kLanes = 32;

template <class T>
T value_of(int lane) {
  return static_cast<T>(lane * 3 + 1);
}

enum Kind { kIndex, kUp, kDown, kXor };

template <class T>
__global__ void shuffle_all(T* out, Kind kind, int distance, int width) {
  const T v = value_of<T>(threadIdx.x);
  T result{};
  if (kind == kIndex) result = __shfl_sync(kAll, v, distance, width);
  if (kind == kUp) result = __shfl_up_sync(kAll, v, distance, width);
  if (kind == kDown) result = __shfl_down_sync(kAll, v, distance, width);
  if (kind == kXor) result = __shfl_xor_sync(kAll, v, distance, width);
  out[threadIdx.x] = result;
}

// The lane that a shuffle reads, by the guide's text.
int source_lane(Kind kind, int lane, int distance, int width) {
  const int first = lane / width * width;
  const int position = lane % width;
  switch (kind) {
    case kIndex:
      return first + distance % width;
    case kUp:
      return position - distance < 0 ? lane : lane - distance;
    case kDown:
      return position + distance >= width ? lane : lane + distance;
    case kXor:
      return (lane ^ distance) >= first + width ? lane : lane ^ distance;
  }
  return lane;
}

template <class T>
void check_shuffles() {
  DeviceArray<T> out(kLanes);
  for (const Kind kind : {kIndex, kUp, kDown, kXor}) {
    for (const int width : {32, 16, 8, 4, 2, 1}) {
      for (const int distance : {0, 1, 2, 5, 15, 16, 31}) {
        shuffle_all<T><<<1, kLanes>>>(out.get(), kind, distance, width);
        const std::vector<T> got = out.download();
        for (int lane = 0; lane < kLanes; ++lane) {
          INFO("kind " << kind << " width " << width << " distance " << distance << " lane "
                       << lane);
          REQUIRE(got[lane] == value_of<T>(source_lane(kind, lane, distance, width)));
        }
      }
    }
  }
}

__global__ void shuffle_partial(float* out) {
  const float next = __shfl_down_sync(kAll, static_cast<float>(threadIdx.x), 1);
  out[threadIdx.x] = next;
}

__global__ void votes(unsigned* out, unsigned lanes_that_are_true) {
  const int vote = lanes_that_are_true >> threadIdx.x & 1;
  const bool writes = threadIdx.x == 7;
  const unsigned ballot = __ballot_sync(kAll, vote), all = __all_sync(kAll, vote),
                 any = __any_sync(kAll, vote);
  if (writes) {
    out[0] = ballot;
    out[1] = all;
    out[2] = any;
  }
}

__global__ void matches(unsigned* any, unsigned* all, int* same) {
  const int i = threadIdx.x;
  any[i] = __match_any_sync(kAll, i % 3);
  int predicate = -1;
  all[i] = __match_all_sync(kAll, 1.5, &predicate);
  same[2 * i] = predicate;
  const unsigned none = __match_all_sync(kAll, static_cast<long long>(i / 31), &predicate);
  same[2 * i + 1] = none == 0 ? predicate : -2;
}

__global__ void reductions(int* signed_out, unsigned* unsigned_out) {
  const int s = static_cast<int>(threadIdx.x) * 7 % 32 - 16;
  const unsigned u = 0x80000000u + threadIdx.x;
  const int add = __reduce_add_sync(kAll, s), low = __reduce_min_sync(kAll, s),
            high = __reduce_max_sync(kAll, s);
  const unsigned add_u = __reduce_add_sync(kAll, u), low_u = __reduce_min_sync(kAll, u),
                 high_u = __reduce_max_sync(kAll, u);
  const unsigned bits = 0xf0u | threadIdx.x;
  const unsigned and_ = __reduce_and_sync(kAll, bits), or_ = __reduce_or_sync(kAll, bits),
                 xor_ = __reduce_xor_sync(kAll, bits);
  if (threadIdx.x == 31) {
    signed_out[0] = add;
    signed_out[1] = low;
    signed_out[2] = high;
    unsigned_out[0] = add_u;
    unsigned_out[1] = low_u;
    unsigned_out[2] = high_u;
    unsigned_out[3] = and_;
    unsigned_out[4] = or_;
    unsigned_out[5] = xor_;
  }
}

__global__ void exchange_by_syncwarp(int* out) {
  __shared__ int s[96];
  const int i = threadIdx.x;
  s[i] = i;
  __syncwarp();
  const int other = s[i ^ 1];
  __syncwarp();
  s[i] = other * 10;
  __syncwarp();
  out[i] = s[i ^ 2];
}

__global__ void branch_masks(unsigned* out) {
  if (threadIdx.x % 4 == 1) {
    out[threadIdx.x] = __activemask();
  } else {
    out[threadIdx.x] = __activemask();
  }
}

}  // namespace

// FEATURE: warps: shuffles
TEST_CASE("shuffles of every type read the lane that the guide names, for every width") {
  check_shuffles<int>();
  check_shuffles<unsigned>();
  check_shuffles<long>();
  check_shuffles<unsigned long>();
  check_shuffles<long long>();
  check_shuffles<unsigned long long>();
  check_shuffles<float>();
  check_shuffles<double>();
}

TEST_CASE("a shuffle from a lane that does not exist reads NaN") {
  DeviceArray<float> out(5);
  shuffle_partial<<<1, 5>>>(out.get());
  const std::vector<float> got = out.download();
  for (int i = 0; i < 4; ++i) CHECK(got[i] == static_cast<float>(i + 1));
  CHECK(got[4] != got[4]);
}

// FEATURE: warps: votes
TEST_CASE("votes count the lanes whose predicate is true") {
  DeviceArray<unsigned> out(3);
  for (const unsigned lanes : {0u, 1u, 0x80000000u, 0x55555555u, 0xfffffffeu, 0xffffffffu}) {
    votes<<<1, kLanes>>>(out.get(), lanes);
    const std::vector<unsigned> got = out.download();
    CHECK(got[0] == lanes);
    CHECK(got[1] == (lanes == kAll ? 1u : 0u));
    CHECK(got[2] == (lanes != 0 ? 1u : 0u));
  }
}

// FEATURE: warps: `__match_any_sync`, `__match_all_sync`
TEST_CASE("match finds the lanes with an equal value") {
  DeviceArray<unsigned> any(kLanes), all(kLanes);
  DeviceArray<int> same(2 * kLanes);
  matches<<<1, kLanes>>>(any.get(), all.get(), same.get());
  const std::vector<unsigned> got_any = any.download(), got_all = all.download();
  const std::vector<int> got_same = same.download();
  for (int i = 0; i < kLanes; ++i) {
    unsigned expected = 0;
    for (int j = 0; j < kLanes; ++j) {
      if (j % 3 == i % 3) expected |= 1u << j;
    }
    CHECK(got_any[i] == expected);
    CHECK(got_all[i] == kAll);
    CHECK(got_same[2 * i] == 1);
    CHECK(got_same[2 * i + 1] == 0);
  }
}

// FEATURE: warps: `__reduce_add_sync` and its like
TEST_CASE("reductions agree with a loop over the lanes") {
  DeviceArray<int> s(3);
  DeviceArray<unsigned> u(6);
  reductions<<<1, kLanes>>>(s.get(), u.get());
  CHECK(s.download() == std::vector<int>{-16, -16, 15});
  unsigned sum = 0;
  for (unsigned i = 0; i < 32; ++i) sum += 0x80000000u + i;
  CHECK(u.download() == std::vector<unsigned>{sum, 0x80000000u, 0x8000001fu, 0xf0u, 0xffu, 0u});
}

// FEATURE: warps: `__syncwarp`
TEST_CASE("__syncwarp makes the lanes' shared memory writes visible to each other") {
  DeviceArray<int> out(96);
  exchange_by_syncwarp<<<1, 96>>>(out.get());
  const std::vector<int> got = out.download();
  for (int i = 0; i < 96; ++i) CHECK(got[i] == (i ^ 3) * 10);
}

// FEATURE: warps: `__activemask`
TEST_CASE("__activemask names the caller, and no lane of the other branch") {
  DeviceArray<unsigned> out(64);
  branch_masks<<<1, 64>>>(out.get());
  const std::vector<unsigned> got = out.download();
  const unsigned taken = 0x22222222u;
  for (int i = 0; i < 64; ++i) {
    const unsigned branch = i % 4 == 1 ? taken : ~taken;
    CHECK((got[i] >> (i % 32) & 1) == 1u);
    CHECK((got[i] & ~branch) == 0u);
  }
}
