// SPDX-License-Identifier: MIT
// Indices outside of arrays that are a thread's own, or constant. (clang does not look at
// ++counts[4].)
// EXPECT-STDOUT: cudaErrorIllegalAddress
#include "cases.cuh"

// CASE: fifth_counter
// A thread counts into an array of its own, and one value needs a fifth counter.
// EXPECT: {file}:{count}: error: out-of-bounds index in kernel 'histogram', block (1,0,0), thread (3,0,0)
// EXPECT: index 4 of 'counts', int [4]
// EXPECT: valid are 0 to 3
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
