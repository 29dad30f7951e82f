// SPDX-License-Identifier: MIT
// Races and the like that the detector finds, whatever order the threads run in.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
//
// CASE: sum
// All threads of a block add to one sum without an atomic. Here they come one after the other, so
// every order of threads gives the right sum; the race detector knows that nothing orders them.
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT: {file}:{add}: error: race: a
// EXPECT: of element 0 of device memory
// EXPECT: {file}:{add}: note: a
// EXPECT: nothing orders the two
// EXPECT: help: several threads use this element at a time
// EXPECT-STDOUT: sum 64
//
// CASE: volatile_sum
// The same with volatile, which makes no atomic of it.
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT: {file}:{volatile_add}: error: race: a volatile update, between whose read and write another may come
// EXPECT: of element 0 of device memory
// EXPECT: {file}:{volatile_add}: note: the same by
// EXPECT: make the update one atomic (atomicAdd, atomicMax)
//
// CASE: unfenced
// A value is handed over by a volatile flag and no fence: the flag may be seen before the value.
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// EXPECT: {file}:{receive}: error: race: a read
// EXPECT: {file}:{hand_over}: note: a write by block (0,0,0)
// EXPECT: data that is handed over needs a __threadfence()
//
// CASE: constant
// A kernel writes a __constant__ variable by way of a pointer.
// EXPECT: {file}:{put}: error: write to constant memory in kernel 'change_table'
// EXPECT: it is element 2 of the __constant__ variable 'table'
// EXPECT: help: kernels only read constant memory
//
// CASE: freed
// One stream frees what a kernel in another still uses.
// EXPECT: {file}:{free}: error: race: a write by cudaFreeAsync
// EXPECT: {file}:{use}: note: a write by kernel 'use'
// EXPECT: help: the two are in streams that do not wait for each other
//
// CASE: static_array
// The array is a static variable of the kernel: global memory, too, and each instance of a template
// has its own.
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// EXPECT: {file}:{turn_static}: note: a read by thread
// EXPECT: of the __device__ variable 'turned'
// EXPECT: {file}:{turned}: note: declared here
// EXPECT: {file}:{static_sum}: error: race: a
// EXPECT: element 0 of the __device__ variable 'sum'
// EXPECT-NOT: address 0x
//
// CASE: static_array_right
// The same with barriers, and one atomic.
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// EXPECT-STDOUT: 63 64
//
// CASE: in_one_line
// A statement reads what others write in it: a barrier has no place in it.
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// EXPECT: {file}:{one_line}: error: race: a
// EXPECT: help: one line reads and writes: read into a variable, then __syncthreads(), then write
//
// CASE: equal_values
// All write what is there already: it is a race all the same. In the next one they differ.
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// EXPECT: {file}:{equal}: note: a write by block
// EXPECT: nothing orders the two, and a race of equal values is one all the same
//
// CASE: different_values
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// EXPECT: {file}:{different}: note: a write by block
// EXPECT-NOT: equal values
//
// CASE: lock_without_fences
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// EXPECT: {file}:{locked}: error: race: a
// EXPECT: help: a lock does not order by itself what is done under it: __threadfence()
// EXPECT-NOT: make the update one atomic
//
// CASE: barrier_initialised_beside_its_use
// One thread initialises a barrier, and the others use it without having waited for that. In the
// usual order of threads it goes well.
// EXPECT: {file}:{arrive}: error: race: a read in kernel 'start', block (0,0,0), thread (
// EXPECT: of element 0 of the __shared__ array 'barrier'
// EXPECT: {file}:{init}: note: a write by thread (0,0,0); nothing orders the two
// EXPECT-STDOUT: cudaSuccess
#include <cstdio>
#include <cuda/barrier>

#include "cases.cuh"

__global__ void count_threads(int* sum) {
  *sum += 1;  // @add
}

CASE(sum) {
  int *d_sum = nullptr, sum = 0;
  cudaMalloc(&d_sum, sizeof(int));
  cudaMemset(d_sum, 0, sizeof(int));
  count_threads<<<1, 64>>>(d_sum);
  cudaMemcpy(&sum, d_sum, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_sum);
  std::printf("sum %d\n", sum);
}

__global__ void count_volatile(volatile int* sum) {
  *sum = *sum + 1;  // @volatile_add
}

CASE(volatile_sum) {
  int* d_sum = nullptr;
  cudaMalloc(&d_sum, sizeof(int));
  cudaMemset(d_sum, 0, sizeof(int));
  count_volatile<<<2, 64>>>(d_sum);
  cudaFree(d_sum);
}

__device__ volatile int flag;

__global__ void pass_on(int* value, int* received) {
  if (blockIdx.x == 0) {
    *value = 42;  // @hand_over
    flag = 1;
  } else {
    while (flag == 0) {
    }
    *received = *value;  // @receive
  }
}

CASE(unfenced) {
  int* x = nullptr;
  cudaMalloc(&x, 2 * sizeof(int));
  pass_on<<<2, 1>>>(x, x + 1);
  cudaFree(x);
}

__constant__ int table[8];

__device__ void put(int* word) {
  *word = 3;  // @put
}
__global__ void change_table() { put(const_cast<int*>(table) + 2); }

CASE(constant) {
  change_table<<<1, 1>>>();
  cudaDeviceSynchronize();
}

__global__ void use(int* x) {
  x[threadIdx.x] = 1;  // @use
}

CASE(freed) {
  cudaStream_t user, other;
  cudaStreamCreate(&user);
  cudaStreamCreate(&other);
  int* x = nullptr;
  cudaMallocAsync(&x, 32 * sizeof(int), user);
  use<<<1, 32, 0, user>>>(x);
  cudaFreeAsync(x, other);  // @free
  cudaDeviceSynchronize();
  cudaStreamDestroy(user);
  cudaStreamDestroy(other);
}

template <bool kWaits>
__global__ void turn(int* x) {
  static __device__ int turned[64];  // @turned
  static int sum;
  if (kWaits) {
    atomicAdd(&sum, 1);
  } else {
    sum += 1;  // @static_sum
  }
  turned[threadIdx.x] = threadIdx.x;
  if (kWaits) __syncthreads();
  x[threadIdx.x] = turned[63 - threadIdx.x];  // @turn_static
  if (kWaits && threadIdx.x == 0) x[64] = sum;
}
template <bool kWaits>
void turn_and_print() {
  int *x = nullptr, first[2] = {};
  cudaMalloc(&x, 65 * sizeof(int));
  turn<kWaits><<<1, 64>>>(x);
  cudaMemcpy(first, x, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(first + 1, x + 64, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  std::printf("%d %d\n", first[0], first[1]);
}

CASE(static_array) { turn_and_print<false>(); }
CASE(static_array_right) { turn_and_print<true>(); }

__global__ void add_neighbour(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= 16) s[threadIdx.x] += s[threadIdx.x - 16];  // @one_line
  x[threadIdx.x] = s[threadIdx.x];
}
CASE(in_one_line) {
  run_on(64, [](int* x) { add_neighbour<<<1, 64>>>(x); });
}

__global__ void write_one(int* x) {
  *x = 1;  // @equal
}
__global__ void write_index(int* x) {
  *x = threadIdx.x;  // @different
}
CASE(equal_values) {
  run_on(1, [](int* x) { write_one<<<2, 32>>>(x); });
}
CASE(different_values) {
  run_on(1, [](int* x) { write_index<<<2, 32>>>(x); });
}

__device__ int lock_word, locked_sum;
__global__ void add_under_lock() {
  while (atomicCAS(&lock_word, 0, 1) != 0) {
  }
  locked_sum += 1;  // @locked
  atomicExch(&lock_word, 0);
}
CASE(lock_without_fences) {
  add_under_lock<<<8, 1>>>();
  cudaDeviceSynchronize();
}

__global__ void start() {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);  // @init
  barrier.arrive_and_wait();                         // @arrive
}

CASE(barrier_initialised_beside_its_use) {
  start<<<1, 64>>>();
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
