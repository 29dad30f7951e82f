// SPDX-License-Identifier: MIT
// What kernels print: a row for each statement of a warp, lane by lane, as on a GPU, in whatever
// order the threads run.
#include <cstdio>
#include <string>

#include "../kernel_testing.cuh"
#include "handles.cuh"
#include "report/diagnostics.h"

namespace {

/// What is printed to standard output while `print` runs.
template <class Print>
std::string printed_by(Print print) {
  std::fflush(stdout);
  const KeptOutput output(STDOUT_FILENO);
  print();
  std::fflush(stdout);
  return output.text();
}

template <class Kernel>
std::string printed_by_kernel(Kernel kernel, unsigned blocks, unsigned threads) {
  return printed_by([&] {
    kernel<<<blocks, threads>>>();
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
  });
}

__global__ void print_two_rows() {
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) printf("ids: ");
  printf("%d ", t);
  if (t == 0) printf("\ntwice: ");
  const int v = __shfl_sync(0xff, 2 * t, t);
  printf("%d ", v);
  if (t == 0) printf("\n");
}

// Of the same format and on one line, one behind a shuffle.
__global__ void print_beside() {
  const int t = static_cast<int>(threadIdx.x);
  printf("%d ", t), printf("%d ", __shfl_sync(0xf, t, 3 - t)), printf("%d ", 2 * t);
}

__global__ void print_sides() {
  const int t = static_cast<int>(threadIdx.x);
  if (t % 2 == 0) {
    printf("%d ", t);
  } else {
    printf("odd ");
  }
  if (t < 3) printf("%d ", t);
  printf("|");
  if (t > 1) printf("%d ", t);
}

// Lane t takes t + 1 turns.
__global__ void print_turns() {
  const int t = static_cast<int>(threadIdx.x);
  for (int i = 0; i <= t; ++i) printf("%d%d ", i, t);
  printf("end%d ", t);
}

#define PRINT(...) printf(__VA_ARGS__)
__host__ __device__ void print_from_both(int t) {
  printf("both%d ", t);
  printf("line\n");
}
__global__ void print_in_other_ways() {
  const int t = static_cast<int>(threadIdx.x);
  PRINT("m%d ", t);
  std::printf("s%d ", t);
  print_from_both(t);
  printf("\n");
}

// Two warps, whose rows come in any order, but for those that a barrier keeps apart.
__global__ void print_warps() {
  const int t = static_cast<int>(threadIdx.x);
  if (t % 32 < 2) printf("a");
  __syncthreads();
  if (t % 32 < 2) printf("b");
}

__global__ void print_and_fail(int* nothing) {
  printf("%d ", static_cast<int>(threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 2) *nothing = 1;
}

__global__ void print_much() {
  for (int i = 0; i < 2000; ++i) printf("%100d", i);
}

}  // namespace

// FEATURE: kernels: `printf`, a row for each statement of a warp
TEST_CASE("a warp whose lanes go the same way prints a row for each statement") {
  CHECK(printed_by_kernel(print_two_rows, 1, 8) ==
        "ids: 0 1 2 3 4 5 6 7 \ntwice: 0 2 4 6 8 10 12 14 \n");
  CHECK(printed_by_kernel(print_beside, 1, 4) == "0 1 2 3 3 2 1 0 0 2 4 6 ");
  CHECK(printed_by_kernel(print_in_other_ways, 1, 3) ==
        "m0 m1 m2 s0 s1 s2 both0 both1 both2 line\nline\nline\n\n\n\n");
}

TEST_CASE("lanes that go different ways meet again") {
  const std::string even = "0 2 4 ", odd = "odd odd ", rest = "0 1 2 |||||2 3 4 ";
  const std::string text = printed_by_kernel(print_sides, 1, 5);
  CHECK((text == even + odd + rest || text == odd + even + rest));
  CHECK(printed_by_kernel(print_turns, 1, 4) ==
        "00 01 02 03 11 12 13 22 23 33 end0 end1 end2 end3 ");
}

TEST_CASE("rows of several warps keep the order of a barrier") {
  CHECK(printed_by_kernel(print_warps, 1, 64) == "aaaabbbb");
  CHECK(printed_by_kernel(print_warps, 3, 64).size() == 24);
}

TEST_CASE("kernels and the host print in the order in which the host waits") {
  CHECK(printed_by([] {
          printf("before ");
          print_warps<<<1, 2>>>();
          std::printf("meanwhile ");
          CHECK(cudaDeviceSynchronize() == cudaSuccess);
          std::puts("after");
          print_from_both(7);
        }) == "before meanwhile aabbafter\nboth7 line\n");
}

TEST_CASE("what was printed before a kernel failed comes out, before the report") {
  const std::string text = printed_by([] {
    print_and_fail<<<1, 4>>>(nullptr);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  });
  CHECK(text == "0 1 2 3 \n");  // the report begins on a line of its own
  CHECK(cudaDeviceReset() == cudaSuccess);
  cuda_cpu::reset_diagnostics();
}

TEST_CASE("a block that prints much prints all of it") {
  CHECK(printed_by_kernel(print_much, 1, 64).size() == std::size_t{64} * 2000 * 100);
}
