// SPDX-License-Identifier: MIT
// Local variables by way of pointers, as the race detector sees them.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
//
// CASE: walked_past
// A pointer walks through an array of the thread's own, one element too far.
// EXPECT: {file}:{walk}: error: out-of-bounds write in kernel 'fill'
// EXPECT: element 4 of the local array 'squares', which has 4
// EXPECT: {file}:{squares}: note: declared here
//
// CASE: read_past
// A function gets the array and the wrong length.
// EXPECT: {file}:{add}: error: out-of-bounds read in kernel 'total'
// EXPECT: element 6 of the local array 'values', which has 6
//
// CASE: before
// The search for a place among sorted values goes on before the first.
// EXPECT: {file}:{search}: error: out-of-bounds read in kernel 'insert'
// EXPECT: element -1 of the local array 'sorted', which has 8
//
// CASE: others
// Each thread shows the others where a variable of its own is.
// EXPECT: {file}:{follow}: error: read of a local variable of another thread in kernel 'hand_over'
// EXPECT: it is on the stack of thread (
// EXPECT: help: a pointer to a local variable means something in its own thread only
//
// CASE: right
// The same without the mistakes; an end that is not followed; two arrays beside each other; one in
// a loop; a pointer to a variable of its own that a thread gets back from shared memory.
// EXPECT-STDOUT: 14 21 1 5 36 91
#include <cstdio>

#include "../../../common/check.cuh"
#include "cases.cuh"

__device__ void put_squares(int* to, int n) {
  for (int i = 0; i < n; ++i) {
    *to++ = i * i;  // @walk
  }
}
__global__ void fill(int* out, int n) {
  int squares[4];  // @squares
  put_squares(squares, n);
  out[threadIdx.x] = squares[0] + squares[1] + squares[2] + squares[3];
}

template <class T>
__device__ T sum_of(const T* values, int n) {
  T sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += values[i];  // @add
  }
  return sum;
}
__global__ void total(int* out, int n) {
  int values[6] = {1, 2, 3, 4, 5, 6}, *const first = values;
  out[threadIdx.x] = sum_of(first, n);
}

__global__ void insert(int* out, int value) {
  double sorted[8] = {2, 3, 5, 7, 11, 13, 17, 19};
  double* at = &sorted[7];
  while (*at > value) --at;  // @search
  out[threadIdx.x] = static_cast<int>(at - sorted);
}

__global__ void hand_over(int* out, int by) {
  __shared__ int* pointers[64];
  int mine = 5 + static_cast<int>(threadIdx.x);
  pointers[threadIdx.x] = &mine;
  __syncthreads();
  out[threadIdx.x] = *pointers[(threadIdx.x + by) % 64];  // @follow
  __syncthreads();
}

__global__ void beside(int* out, int) {
  char a[3][3] = {}, b[9] = {};
  char* row = a[0];
  const char* const end = b + 9;
  for (int i = 0; i < 9; ++i) row[i] = b[i] = static_cast<char>(i);
  int sum = 0;
  for (const char* p = b; p != end; ++p) sum += *p;
  out[threadIdx.x] = sum;
}

__global__ void in_a_loop(int* out, int turns) {
  int sum = 0;
  for (int i = 0; i < turns; ++i) {
    int two[2] = {i, 2 * i};
    sum += sum_of(two, 2);
    if (i == 3) continue;
    float one[1];
    *one = 1;
    sum += static_cast<int>(sum_of(one, 1));
  }
  out[threadIdx.x] = sum;
}

int result_of(void (*kernel)(int*, int), int argument) {
  int *d_out, out[64];
  CUDA_CHECK(cudaMalloc(&d_out, sizeof(out)));
  kernel<<<1, 64>>>(d_out, argument);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(d_out));
  return out[0];
}

CASE(walked_past) { result_of(fill, 5); }
CASE(read_past) { result_of(total, 7); }
CASE(before) { result_of(insert, 1); }
CASE(others) { result_of(hand_over, 1); }
CASE(right) {
  std::printf("%d %d %d %d %d %d\n", result_of(fill, 4), result_of(total, 6), result_of(insert, 3),
              result_of(hand_over, 64), result_of(beside, 0), result_of(in_a_loop, 8));
}
