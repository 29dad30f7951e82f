// SPDX-License-Identifier: MIT
// Races within a block and between blocks that only ThreadSanitizer sees.
// BUILD: cpu-tsan
//
// CASE: missing_barrier
// A tree reduction lacks the barrier in its loop. The order of the schedule may hide it;
// ThreadSanitizer, which sees every CUDA thread as a thread, does not.
// RUN: TSAN_OPTIONS=exitcode=66
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{step}
//
// CASE: warp_race
// Lanes exchange values through shared memory, with a shuffle between write and read. A shuffle
// waits, but it orders no memory accesses. __syncwarp does.
// RUN: TSAN_OPTIONS=exitcode=66
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{warp_race_read}
//
// CASE: blocks_race
// The first thread of each block adds to one sum without an atomic. Blocks come one after the other
// here, so the result is right; ThreadSanitizer knows that nothing orders them.
// RUN: TSAN_OPTIONS=exitcode=66
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{add}
//
// CASE: read_only_path
// The last block reads the partial sums with __ldg, which is for data that no thread writes while
// the kernel runs: on a GPU it may return what a cache held before. Here it returns the right
// values; ThreadSanitizer is told what __ldg promises, and reports the broken promise.
// RUN: TSAN_OPTIONS=exitcode=66
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=reverse
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{write}
// EXPECT: {file}:{read_only_path_read}
//
// CASE: no_race
// No bug, and nothing to report: barriers, __syncwarp, atomics, and a fence with a ticket order
// what they should, and blocks that use the same shared memory one after the other do not race.
// RUN: TSAN_OPTIONS=exitcode=66
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=reverse
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=random:1
// EXPECT-STATUS: 0
// EXPECT-NOT: ThreadSanitizer
// EXPECT-STDOUT: sum 36864

#include <cstdio>

#include "cases.cuh"

namespace missing_barrier {

__global__ void sum_tree(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (unsigned half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];  // @step
  }
  if (threadIdx.x == 0) x[0] = s[0];
}

int program() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 64 * sizeof(int));
  cudaMemset(d_x, 0, 64 * sizeof(int));
  sum_tree<<<1, 64>>>(d_x);
  const bool good = cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(d_x);
  return good ? 0 : 1;
}

}  // namespace missing_barrier

namespace warp_race {

__global__ void swap_neighbours(int* x) {
  __shared__ int s[32];
  const int i = threadIdx.x;
  s[i] = x[i];
  const int lane = __shfl_sync(0xffffffffu, i ^ 1, i);
  x[i] = s[lane];  // @warp_race_read
}

int program() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaMemset(d_x, 0, 32 * sizeof(int));
  swap_neighbours<<<1, 32>>>(d_x);
  const bool good = cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(d_x);
  return good ? 0 : 1;
}

}  // namespace warp_race

namespace blocks_race {

__global__ void add_block_numbers(int* sum) {
  __shared__ int number;
  if (threadIdx.x == 0) number = blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) *sum += number;  // @add
}

int program() {
  int* d_sum = nullptr;
  cudaMalloc(&d_sum, sizeof(int));
  cudaMemset(d_sum, 0, sizeof(int));
  add_block_numbers<<<3, 64>>>(d_sum);
  const bool good = cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(d_sum);
  return good ? 0 : 1;
}

}  // namespace blocks_race

namespace read_only_path {

__global__ void sum_block_numbers(const int* x, int* partial, unsigned* ticket, int* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = __ldg(&x[blockIdx.x]);  // @write
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += __ldg(&partial[b]);  // @read_only_path_read
    *sum = total;
  }
}

int program() {
  constexpr unsigned kBlocks = 5;
  int *d_x = nullptr, *d_partial = nullptr;
  unsigned* d_ticket = nullptr;
  cudaMalloc(&d_x, kBlocks * sizeof(int));
  cudaMalloc(&d_partial, (kBlocks + 1) * sizeof(int));
  cudaMalloc(&d_ticket, sizeof(unsigned));
  cudaMemset(d_x, 0, kBlocks * sizeof(int));
  cudaMemset(d_ticket, 0, sizeof(unsigned));
  sum_block_numbers<<<kBlocks, 64>>>(d_x, d_partial, d_ticket, d_partial + kBlocks);
  const bool good = cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(d_x);
  cudaFree(d_partial);
  cudaFree(d_ticket);
  return good ? 0 : 1;
}

}  // namespace read_only_path

namespace no_race {

__device__ unsigned ticket;

__global__ void sum_all(const int* x, int* partial, int* sum) {
  __shared__ int s[96];
  extern __shared__ int t[];
  __shared__ bool last;
  const unsigned i = threadIdx.x;
  t[i] = x[blockIdx.x * blockDim.x + i];
  __syncwarp();
  s[i] = t[i ^ 1];
  __syncthreads();
  for (unsigned half = 48; half >= 3; half /= 2) {
    if (i < half) s[i] += s[i + half];
    __syncthreads();
  }
  if (i == 0) {
    partial[blockIdx.x] = s[0] + s[1] + s[2];
    __threadfence();
    last = atomicAdd(&ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && i == 0) {
    __threadfence();
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    *sum = total;
  }
}

int program() {
  constexpr int blocks = 16, block = 96;
  int x[blocks * block];
  for (int& v : x) v = 24;
  int *d_x = nullptr, *d_partial = nullptr, sum = 0;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_partial, (blocks + 1) * sizeof(int));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  sum_all<<<blocks, block, block * sizeof(int)>>>(d_x, d_partial, d_partial + blocks);
  cudaMemcpy(&sum, d_partial + blocks, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("sum %d\n", sum);
  cudaFree(d_x);
  cudaFree(d_partial);
  return 0;
}

}  // namespace no_race

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {
                      {"missing_barrier", missing_barrier::program},
                      {"warp_race", warp_race::program},
                      {"blocks_race", blocks_race::program},
                      {"read_only_path", read_only_path::program},
                      {"no_race", no_race::program},
                  });
}
