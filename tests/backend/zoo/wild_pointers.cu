// SPDX-License-Identifier: MIT
// Kernels follow pointers that point nowhere.
//
// CASE: null_pointer
// A kernel writes through a pointer that was never allocated.
// EXPECT: {file}:{null_pointer_write}: error: null pointer write in kernel 'fill', block (0,0,0), thread (0,0,0)
// EXPECT: the pointer is null
//
// CASE: null_pointer_far
// A kernel writes far behind a pointer that was never allocated: row 100,000 of a matrix.
// EXPECT: {file}:{null_pointer_far_write}: error: null pointer write in kernel 'fill_row', block (0,0,0), thread (0,0,0)
// EXPECT: an index of a null pointer
// EXPECT-NOT: never allocated
//
// CASE: null_function
// A kernel calls a function pointer that nobody set.
// EXPECT: {file}:{call}: error: call of a null function pointer in kernel 'apply'
//
// CASE: number_for_function
// A kernel calls what is the number of a function, and no address: nothing can be read there.
// EXPECT: {file}:{call_given}: error: call of something that is no function in kernel 'apply_given'
// EXPECT-NOT: the line is not known
//
// CASE: pointer_from_uninitialised_memory
// A kernel follows a pointer that it read from memory nobody wrote.
// EXPECT: {file}:{read}: error: read through a pointer from uninitialised memory in kernel 'chase'
// EXPECT: memory that nobody wrote holds 0xff

#include "../../../common/check.cuh"
#include "cases.cuh"

__global__ void fill(int* x) {
  x[threadIdx.x] = 1;  // @null_pointer_write
}

CASE(null_pointer) {
  int* x = nullptr;
  fill<<<1, 32>>>(x);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}

__global__ void fill_row(int* x, int row) {
  x[row * 1000 + threadIdx.x] = 1;  // @null_pointer_far_write
}

CASE(null_pointer_far) {
  int* x = nullptr;
  fill_row<<<1, 32>>>(x, 100000);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}

using Operation = int (*)(int);
__device__ Operation operation;

__global__ void apply(int* x) {
  x[threadIdx.x] = operation(1);  // @call
}

CASE(null_function) {
  run_on(32, [](int* x) { apply<<<1, 32>>>(x); });
}

__global__ void apply_given(int* x, Operation given) {
  x[threadIdx.x] = given(1);  // @call_given
}

CASE(number_for_function) {
  const auto second = reinterpret_cast<Operation>(2);
  run_on(32, [&](int* x) { apply_given<<<1, 32>>>(x, second); });
}

__global__ void chase(int** table, int* y) {
  *y = table[0][4];  // @read
}

CASE(pointer_from_uninitialised_memory) {
  int **table, *y;
  CUDA_CHECK(cudaMalloc(&table, 8 * sizeof(int*)));
  CUDA_CHECK(cudaMalloc(&y, sizeof(int)));
  chase<<<1, 1>>>(table, y);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
