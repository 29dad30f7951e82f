// SPDX-License-Identifier: MIT
// Block barriers of the CPU backend. Grid barriers are in cooperative_groups.test.cu.
#include <vector>

#include "../kernel_testing.cuh"

namespace {

__global__ void reverse_in_shared(const int* x, int* y) {
  extern __shared__ int s[];
  const unsigned base = blockIdx.x * blockDim.x;
  s[threadIdx.x] = x[base + threadIdx.x];
  __syncthreads();
  y[base + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

// In every round each thread reads what its neighbour wrote in the round before.
__global__ void rotate_many_times(int* out, int rounds) {
  __shared__ int s[2][1024];
  const unsigned i = threadIdx.x, n = blockDim.x;
  s[0][i] = i;
  for (int round = 0; round < rounds; ++round) {
    __syncthreads();
    s[(round + 1) % 2][i] = s[round % 2][(i + 1) % n];
  }
  __syncthreads();
  out[blockIdx.x * n + i] = s[rounds % 2][i];
}

// The same, but in some rounds one warp, each time another, waits for its lanes on the way, and in
// some all come to a second barrier.
__global__ void rotate_with_other_waits(int* out, int rounds) {
  __shared__ int s[2][1024];
  const unsigned i = threadIdx.x, n = blockDim.x;
  s[0][i] = i;
  for (int round = 0; round < rounds; ++round) {
    __syncthreads();
    int next = s[round % 2][(i + 1) % n];
    if (round % 3 == 1 && i / 32 == round % ((n + 31) / 32)) {
      const unsigned mask = __ballot_sync(__activemask(), 1);
      next = __shfl_sync(mask, next, i % 32) + __any_sync(mask, 0);
      __syncwarp(mask);
    }
    if (round % 5 == 4) next += __syncthreads_or(next < 0);
    s[(round + 1) % 2][i] = next;
  }
  __syncthreads();
  out[blockIdx.x * n + i] = s[rounds % 2][i];
}

__global__ void count_votes(int* out, int limit) {
  const int i = threadIdx.x;
  const int count = __syncthreads_count(i < limit);
  const int all = __syncthreads_and(i < limit);
  const int any = __syncthreads_or(i >= limit ? 4 : 0);
  out[3 * i] = count;
  out[3 * i + 1] = all;
  out[3 * i + 2] = any;
}

__device__ void wait_in_a_function(int* s, int i) {
  s[i] += 1;
  __syncthreads();
}

// Two calls of a function with a barrier in it: one line, but every thread makes both calls.
__global__ void barrier_in_function(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = 0;
  wait_in_a_function(s, threadIdx.x);
  const int other = s[63 - threadIdx.x];
  __syncthreads();
  wait_in_a_function(s, threadIdx.x);
  out[threadIdx.x] = other * 10 + s[63 - threadIdx.x];
}

}  // namespace

// FEATURE: atomics and order: `__syncthreads`
TEST_CASE("a barrier orders writes to shared memory before reads, for every block size") {
  for (const unsigned block : awkward_blocks()) {
    const unsigned blocks = 7;
    const std::vector<int> x = random_ints(block * blocks, 0, 1000, 1);
    DeviceArray<int> d_x(x), d_y(x.size());
    reverse_in_shared<<<blocks, block, block * sizeof(int)>>>(d_x.get(), d_y.get());
    const std::vector<int> y = d_y.download();
    for (unsigned b = 0; b < blocks; ++b) {
      for (unsigned i = 0; i < block; ++i)
        REQUIRE(y[b * block + i] == x[b * block + block - 1 - i]);
    }
  }
}

namespace {

// After so many rounds of a kernel that rotates, in blocks of every size.
void check_rotated(void (*kernel)(int*, int), unsigned rounds) {
  for (const unsigned block : awkward_blocks()) {
    const unsigned blocks = 3;
    DeviceArray<int> out(block * blocks);
    kernel<<<blocks, block>>>(out.get(), static_cast<int>(rounds));
    const std::vector<int> got = out.download();
    for (unsigned i = 0; i < block * blocks; ++i) {
      REQUIRE(got[i] == static_cast<int>((i % block + rounds) % block));
    }
  }
}

}  // namespace

TEST_CASE("a thousand barriers in a row keep the threads of every block together") {
  check_rotated(rotate_many_times, 1000);
}

TEST_CASE("threads that wait for their warp between barriers fall out of step with no one") {
  check_rotated(rotate_with_other_waits, 200);
}

// FEATURE: atomics and order: `__syncthreads_count`, `_and`, `_or`
TEST_CASE("voting barriers tell every thread about all predicates") {
  for (const int block : {1, 32, 100, 256}) {
    for (const int limit : {0, 1, 50, 100, 256}) {
      DeviceArray<int> out(static_cast<std::size_t>(3 * block));
      count_votes<<<1, block>>>(out.get(), limit);
      const std::vector<int> got = out.download();
      for (int i = 0; i < block; ++i) {
        REQUIRE(got[3 * i] == (limit < block ? limit : block));
        REQUIRE(got[3 * i + 1] == (limit >= block ? 1 : 0));
        REQUIRE(got[3 * i + 2] == (limit < block ? 1 : 0));
      }
    }
  }
}

TEST_CASE("a barrier inside a device function works for each of its callers") {
  DeviceArray<int> out(64);
  barrier_in_function<<<1, 64>>>(out.get());
  for (const int v : out.download()) CHECK(v == 12);
}
