// SPDX-License-Identifier: MIT
// Indices outside of arrays that are a thread's own, or constant. (clang does not look at
// ++counts[4].)
#include "cases.cuh"

// CASE: fifth_counter
// A thread counts into an array of its own, and one value needs a fifth counter.
// EXPECT: {file}:{count}: error: out-of-bounds index in kernel 'histogram', block (1,0,0), thread (3,0,0)
// EXPECT: index 4 of 'counts', int [4]
// EXPECT: valid are 0 to 3
// EXPECT-STDOUT: cudaErrorIllegalAddress
__global__ void histogram(int* out, int past) {
  int counts[4] = {};
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < 4; ++k) {
    counts[4 * i + k == 31 ? past : 0] += 1;  // @count
  }
  for (int k = 0; k < 4; ++k) out[4 * i + k] = counts[k];
}

CASE(fifth_counter) {
  std::puts(cudaGetErrorName(run_on(64, [](int* out) { histogram<<<4, 4>>>(out, 4); })));
}

// CASE: one_tap_too_many
// A filter has one tap more than coefficients: the last read is just past the __constant__ array.
// EXPECT: {file}:{read}: error: out-of-bounds index in kernel 'filter', block (0,0,0), thread (0,0,0)
// EXPECT: index 8 of 'coefficients', float [8]
// EXPECT: valid are 0 to 7
// EXPECT: {file}:{array}: note: declared here
// EXPECT-STDOUT: cudaErrorIllegalAddress
__constant__ float coefficients[8];  // @array

__global__ void filter(const float* x, float* y, int taps) {
  float sum = 0;
  for (int k = 0; k < taps; ++k) {
    sum += coefficients[k] * x[threadIdx.x + k];  // @read
  }
  y[threadIdx.x] = sum;
}

CASE(one_tap_too_many) {
  std::puts(
      cudaGetErrorName(run_on<float>(192, [](float* x) { filter<<<1, 64>>>(x, x + 128, 9); })));
}

// CASE: in_bounds
// The last element, the address just past it, and a shared array used as a flat one: nothing is
// wrong.
// EXPECT-STDOUT: 15 36
__constant__ int table[4] = {1, 2, 4, 8};

__global__ void sum(int* out, int n) {
  __shared__ int tile[2][4];
  const int* const end = &table[n];
  int total = 0;
  for (const int* p = table; p != end; ++p) total += *p;
  for (int k = 0; k < 2 * n; ++k) tile[0][k] = k + 1;
  int flat = 0;
  for (int k = 0; k < 2 * n; ++k) flat += tile[k / n][k % n];
  out[0] = total;
  out[1] = flat;
}

CASE(in_bounds) {
  run_on(2, [](int* d_out) {
    int out[2] = {};
    sum<<<1, 1>>>(d_out, 4);
    cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
    std::printf("%d %d\n", out[0], out[1]);
  });
}
