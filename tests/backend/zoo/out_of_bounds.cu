// SPDX-License-Identifier: MIT
// Kernels leave an allocation, at either end, by little and by much.
//
// CASE: read
// A kernel without a bounds guard reads past the array.
// EXPECT: {file}:{read_read}: error: out-of-bounds read in kernel 'sum_next'
// EXPECT: in kernel 'sum_next', block (7,0,0), thread (127,0,0)
// EXPECT: that is element 1024; valid are 0 to 1023
// EXPECT: {file}:{read_alloc}: note: allocated here by cudaMalloc
// EXPECT: {file}:{read_launch}: note: kernel launched here as <<<(8,1,1), (128,1,1)>>>
// EXPECT: help: guard the index
// EXPECT: {file}:{sync}: cudaDeviceSynchronize() failed: cudaErrorIllegalAddress
//
// CASE: write
// More threads than elements, and no guard.
// EXPECT: {file}:{write}: error: out-of-bounds write in kernel 'fill'
// EXPECT: block (3,0,0), thread (232,0,0)
// EXPECT: the address is right after the end of device memory (1000 elements of 4 bytes)
// EXPECT: {file}:{write_alloc}: note: allocated here by cudaMalloc
//
// CASE: far_away
// A stride is counted twice: the address lies megabytes past the array, and the report still
// names that array.
// EXPECT: {file}:{far_away_read}: error: out-of-bounds read in kernel 'gather'
// EXPECT: block (0,0,0), thread (1,0,0)
// EXPECT: that is element 500000; valid are 0 to 999
// EXPECT: {file}:{far_away_alloc}: note: allocated here by cudaMalloc
//
// CASE: underrun
// A stencil writes x[-1]: this is found when the kernel has ended.
// EXPECT: {file}:{underrun_launch}: error: write before the start of an allocation in kernel 'shift'
// EXPECT: found when it had ended
// EXPECT: a byte was written 4 bytes before the start of a 4000-byte allocation
//
// CASE: underrun_page
// An index wraps below zero by more than a page: that faults.
// EXPECT: {file}:{underrun_page_read}: error: out-of-bounds read in kernel 'look_back'
// EXPECT: block (0,0,0), thread (0,0,0)
// EXPECT: that is element -2000
//
// CASE: write_into_slack
// One element past the end, where the allocation is no multiple of 16 bytes: nothing faults there.
// The write is found when the kernel has ended.
// EXPECT: {file}:{write_into_slack_launch}: error: write past the end of an allocation in kernel 'fill_all'
// EXPECT: found when it had ended
// EXPECT: the byte right after the end of a 12-byte allocation was written
// EXPECT: {file}:{write_into_slack_alloc}: note: allocated here by cudaMalloc

#include "../../../common/check.cuh"
#include "cases.cuh"

__global__ void sum_next(const float* x, float* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] + x[i + 1];  // @read_read
}

CASE(read) {
  const int n = 1024;
  float *x, *y;
  CUDA_CHECK(cudaMalloc(&y, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(float)));  // @read_alloc
  CUDA_CHECK(cudaMemset(x, 0, n * sizeof(float)));
  sum_next<<<n / 128, 128>>>(x, y);  // @read_launch
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());  // @sync
}

__global__ void fill(int* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 1;  // @write
}

CASE(write) {
  const int n = 1000;
  int* x;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(int)));  // @write_alloc
  fill<<<(n + 255) / 256, 256>>>(x);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}

__global__ void gather(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x * 500000];  // @far_away_read
}

CASE(far_away) {
  int *x, *y;
  CUDA_CHECK(cudaMalloc(&y, 32 * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&x, 1000 * sizeof(int)));  // @far_away_alloc
  gather<<<1, 32>>>(x, y);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}

__global__ void shift(int* x) {
  const int i = static_cast<int>(threadIdx.x);
  x[i - 1] = i;
}

CASE(underrun) {
  run_on(1000, [](int* x) { shift<<<1, 1000>>>(x); });  // @underrun_launch
}

__global__ void look_back(const int* x, int* y, int distance) {
  const int i = static_cast<int>(threadIdx.x);
  y[i] = x[i - distance];  // @underrun_page_read
}

CASE(underrun_page) {
  run_on(2048, [](int* x) { look_back<<<1, 1024>>>(x, x + 1024, 2000); });
}

__global__ void fill_all(int* x, int n) {
  for (int i = 0; i <= n; ++i) x[i] = i;  // the bug: <=
}

CASE(write_into_slack) {
  const int n = 3;
  int* x;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(int)));  // @write_into_slack_alloc
  fill_all<<<1, 1>>>(x, n);                     // @write_into_slack_launch
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
