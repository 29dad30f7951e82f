// SPDX-License-Identifier: MIT
// Accesses leave __shared__ arrays, of a size that the source or the launch says, and a block asks
// for too much.
//
// CASE: overrun
// A stencil that forgot its halo: the last thread reads one element past the shared array.
// EXPECT: {file}:{read}: error: out-of-bounds read in kernel 'blur', block (0,0,0), thread (63,0,0)
// EXPECT: the __shared__ array 's'
// EXPECT: {file}:{overrun_array}: note: declared here
//
// CASE: underrun
// The first thread writes before the shared array. No page ends there; the backend looks
// afterwards.
// EXPECT: {file}:{underrun_array}: error: out-of-bounds write before a __shared__ array in kernel 'shift_left'
// EXPECT: found when block (0,0,0) had ended: 's' has 128 bytes
//
// CASE: neighbour_overrun
// Two arrays share one declaration: an index past the end of the first must not reach the second.
// EXPECT: {file}:{neighbour_overrun_write}: error: out-of-bounds write in kernel 'fill', block (0,0,0), thread (31,0,0)
// EXPECT: the end of the __shared__ array 'a' (128 bytes)
// EXPECT: {file}:{declaration}: note: declared here
// EXPECT-STDOUT: cudaErrorIllegalAddress
//
// CASE: over_limit
// Static and dynamic shared memory are each within the limit, but not together.
// EXPECT: {file}:{over_limit_array}: error: too much shared memory in kernel 'greedy', block (0,0,0), thread (0,0,0)
// EXPECT: the block uses 32768 bytes of __shared__ arrays and 32768 bytes of dynamic shared memory; it has 49152
// EXPECT-STDOUT: cudaErrorInvalidValue
//
// CASE: dynamic_forgotten
// The third launch argument is missing altogether.
// EXPECT: {file}:{dynamic_write}: error: out-of-bounds write in kernel 'stage', block (0,0,0), thread (0,0,0)
// EXPECT: the __shared__ array 's' (0 bytes)
//
// CASE: dynamic_too_small
// The third launch argument counts elements where it should count bytes.
// EXPECT: {file}:{dynamic_write}: error: out-of-bounds write in kernel 'stage', block (0,0,0), thread (64,0,0)
// EXPECT: the __shared__ array 's'
// EXPECT: {file}:{dynamic_array}: note: declared here
//
// CASE: stray_dynamic_bytes
// An array with a slot per block where each thread needs one. The launch asks for dynamic bytes
// that the kernel does not use: on a GPU they lie behind the array, take the overrun, and hide it.
// EXPECT: {file}:{stray_dynamic_bytes_write}: error: out-of-bounds write in kernel 'sum_of_block', block (0,0,0), thread (8,0,0)
// EXPECT: the end of the __shared__ array 'partial' (64 bytes)
// EXPECT: {file}:{stray_dynamic_bytes_array}: note: declared here
//
// CASE: next_row
// An index past the end of a row is in the next one, where another thread writes.
// EXPECT: {file}:{put}: error: out-of-bounds index in kernel 'transpose', block (0,0,0), thread (0,0,0)
// EXPECT: index 16 of 's', int [16]
// EXPECT: {file}:{rows}: note: declared here
//
// CASE: row_before
// EXPECT: {file}:{put}: error: out-of-bounds index in kernel 'transpose', block (0,0,0), thread (0,0,0)
// EXPECT: index -1 of 's', int [16]
//
// CASE: last_of_row
// EXPECT-STDOUT: cudaSuccess

#include <cstdio>

#include "cases.cuh"

// Launches on device memory of so many elements, and says how that ended.
template <class T = float, class Launch>
void try_on(std::size_t elements, Launch launch) {
  std::printf("%s\n", cudaGetErrorName(run_on<T>(elements, launch)));
}

__global__ void blur(const float* x, float* y) {
  __shared__ float s[64];  // @overrun_array
  const int i = threadIdx.x;
  s[i] = x[i];
  __syncthreads();
  y[i] = s[i] + s[i + 1];  // @read
}

CASE(overrun) {
  try_on(128, [](float* x) { blur<<<1, 64>>>(x, x + 64); });
}

__global__ void transpose(int* x, int column) {
  __shared__ int s[16][16];  // @rows
  const int t = threadIdx.x;
  s[t][column] = t;  // @put
  __syncthreads();
  x[t] = s[t][t];
}

void use_column(int column) {
  try_on<int>(16, [=](int* x) { transpose<<<1, 16>>>(x, column); });
}
CASE(next_row) { use_column(16); }
CASE(row_before) { use_column(-1); }
CASE(last_of_row) { use_column(15); }

__global__ void shift_left(float* x) {
  __shared__ float s[32];  // @underrun_array
  const int i = threadIdx.x;
  s[i - 1] = x[i];
  __syncthreads();
  x[i] = s[i];
}

CASE(underrun) {
  try_on(32, [](float* x) { shift_left<<<1, 32>>>(x); });
}

__global__ void fill(float* out) {
  __shared__ float a[32], b[32];  // @declaration
  b[threadIdx.x] = 1;
  a[threadIdx.x + 1] = 2;  // @neighbour_overrun_write
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

CASE(neighbour_overrun) {
  try_on(32, [](float* x) { fill<<<1, 32>>>(x); });
}

__global__ void greedy(float* x) {
  __shared__ float s[8192];  // @over_limit_array
  extern __shared__ float t[];
  s[threadIdx.x] = x[threadIdx.x];
  t[threadIdx.x] = s[threadIdx.x];
}

CASE(over_limit) {
  try_on(32, [](float* x) { greedy<<<1, 32, 32768>>>(x); });
}

__global__ void stage(float* x) {
  extern __shared__ float s[];      // @dynamic_array
  s[threadIdx.x] = x[threadIdx.x];  // @dynamic_write
  __syncthreads();
  x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

CASE(dynamic_forgotten) {
  try_on(256, [](float* x) { stage<<<1, 256>>>(x); });
}

CASE(dynamic_too_small) {
  try_on(256, [](float* x) { stage<<<1, 256, 256>>>(x); });
}

constexpr unsigned kBlocks = 8, kThreads = 64;

__global__ void sum_of_block(long long* sums) {
  __shared__ long long partial[kBlocks];  // @stray_dynamic_bytes_array
  partial[threadIdx.x] = threadIdx.x;     // @stray_dynamic_bytes_write
  __syncthreads();
  if (threadIdx.x == 0) {
    long long sum = 0;
    for (unsigned k = 0; k < kThreads; ++k) sum += partial[k];
    sums[blockIdx.x] = sum;
  }
}

CASE(stray_dynamic_bytes) {
  try_on<long long>(kBlocks, [](long long* sums) {
    sum_of_block<<<1, kThreads, kThreads * sizeof(long long)>>>(sums);
  });
}
