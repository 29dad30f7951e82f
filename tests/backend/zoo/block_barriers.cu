// SPDX-License-Identifier: MIT
// Threads of a block and the barriers that they come to.
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_SCHEDULE=random:1
//
// CASE: different_barriers
// Both branches have a barrier, but not the same one.
// EXPECT: {file}:{even}: error: threads of one block wait at different barriers in kernel 'two_barriers', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{even}: note: threads 0, 2, 4, 6 waiting here in __syncthreads
// EXPECT: {file}:{odd}: note: threads 1, 3, 5, 7 waiting here in __syncthreads
// EXPECT: every thread of the block must come to the same __syncthreads
//
// CASE: barriers_on_one_line
// Both branches have a barrier, on one line: they are two barriers all the same.
// EXPECT: {file}:{barriers_on_one_line_both}: error: threads of one block wait at different barriers in kernel 'barriers_in_a_line', block (0,0,0), thread (0,0,0)
// EXPECT: they stand on one line of the source, and are two barriers
// EXPECT: {file}:{barriers_on_one_line_both}: note: threads 0, 2, 4, 6 waiting here in __syncthreads
// EXPECT: {file}:{barriers_on_one_line_both}: note: threads 1, 3, 5, 7 waiting here in __syncthreads
// EXPECT-NOT: never_reached
//
// CASE: barriers_of_one_macro
// A macro stands for a barrier and is used in both branches. Votes are barriers too.
// EXPECT: {file}:{barriers_of_one_macro_both}: error: threads of one block wait at different barriers in kernel 'two_votes', block (0,0,0), thread (0,0,0)
// EXPECT: they stand on one line of the source, and are two barriers
// EXPECT: {file}:{barriers_of_one_macro_both}: note: threads 0-31 waiting here in __syncthreads
// EXPECT: {file}:{barriers_of_one_macro_both}: note: threads 32-63 waiting here in __syncthreads
//
// CASE: group_barriers_on_one_line
// Both branches synchronise the block as a group, on one line: they are two barriers all the same.
// EXPECT: {file}:{group_barriers_on_one_line_both}: error: threads of one block wait at different barriers in kernel 'group_barriers_in_a_line', block (0,0,0), thread (0,0,0)
// EXPECT: they stand on one line of the source, and are two barriers
// EXPECT-NOT: never_reached
//
// CASE: loop_counts_differ
// A barrier stands in a loop that some threads leave sooner: they wait at the next one.
// EXPECT: {file}:{behind}: error: threads of one block wait at different barriers in kernel 'uneven_loop', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{inside}: note: threads 1-3 waiting here in __syncthreads
// EXPECT: {file}:{behind}: note: thread 0 waiting here in __syncthreads
//
// CASE: some_leave_later
// Some threads leave the kernel after turns of a loop in which all came to its barrier.
// EXPECT: {file}:{left_by_some}: error: barrier not reached by all threads of the block in kernel 'shorter_loop', block (0,0,0), thread (0,0,0)
// EXPECT: 40 of 64 threads wait, 24 have left the kernel
// EXPECT: {file}:{left_by_some}: note: threads 0-39 waiting here in __syncthreads
// EXPECT: {file}:{left_end}: note: threads 40-63 left the kernel here
//
// CASE: barriers_one_after_the_other
// Several barriers on one line, which all threads pass in turn, and branches that a block takes as
// a whole.
// EXPECT-STDOUT: 36 36
#include <cooperative_groups.h>

#include <cstdio>

#include "../../../common/check.cuh"
#include "cases.cuh"

__global__ void two_barriers(int* x) {
  if (threadIdx.x % 2 == 0) {
    x[threadIdx.x] = 0;
    __syncthreads();  // @even
  } else {
    x[threadIdx.x] = 1;
    __syncthreads();  // @odd
  }
}

CASE(different_barriers) {
  run_on(8, [](int* d_x) { two_barriers<<<1, 8>>>(d_x); });
}

__global__ void barriers_in_a_line(int* x) {
  // clang-format off
  if (threadIdx.x % 2 == 0) { x[threadIdx.x] = 0; __syncthreads(); } else { __syncthreads(); }  // @barriers_on_one_line_both
  // clang-format on
}

CASE(barriers_on_one_line) {
  if (run_on(8, [](int* d_x) { barriers_in_a_line<<<1, 8>>>(d_x); }) == cudaSuccess)
    std::fprintf(stderr, "never_reached\n");
}

#define VOTE(x) __syncthreads_count(x)

__global__ void two_votes(int* count) {
  *count = threadIdx.x < 32 ? VOTE(1) : VOTE(0);  // @barriers_of_one_macro_both
}

CASE(barriers_of_one_macro) {
  run_on(1, [](int* d_count) { two_votes<<<1, 64>>>(d_count); });
}

namespace cg = cooperative_groups;

__global__ void group_barriers_in_a_line(int* x) {
  const cg::thread_block block = cg::this_thread_block();
  // clang-format off
  if (threadIdx.x % 2 == 0) { x[threadIdx.x] = 0; block.sync(); } else { cg::sync(block); }  // @group_barriers_on_one_line_both
  // clang-format on
}

CASE(group_barriers_on_one_line) {
  if (run_on(8, [](int* d_x) { group_barriers_in_a_line<<<1, 8>>>(d_x); }) == cudaSuccess)
    std::fprintf(stderr, "never_reached\n");
}

__global__ void uneven_loop(int* x) {
  for (int i = 0; i < 2 + (threadIdx.x > 0); ++i) {
    x[threadIdx.x] = i;
    __syncthreads();  // @inside
  }
  __syncthreads();  // @behind
}

CASE(loop_counts_differ) {
  run_on(4, [](int* d_x) { uneven_loop<<<1, 4>>>(d_x); });
}

__global__ void shorter_loop(int* x) {
  for (int i = 0; i < 9 - static_cast<int>(threadIdx.x) / 40; ++i) {
    x[threadIdx.x] = i;
    __syncthreads();  // @left_by_some
  }
}  // @left_end

CASE(some_leave_later) {
  run_on(64, [](int* d_x) { shorter_loop<<<1, 64>>>(d_x); });
}

#define STEP(k)                           \
  if (threadIdx.x < k) {                  \
    s[threadIdx.x] += s[threadIdx.x + k]; \
  }                                       \
  __syncthreads();

__global__ void sum(const int* x, int* total) {
  __shared__ int s[8];
  s[threadIdx.x] = x[threadIdx.x];
  // clang-format off
  __syncthreads(); if (blockIdx.x == 0) { __syncthreads(); } else { __syncthreads(); } __syncthreads();
  STEP(4) STEP(2) STEP(1)
      // clang-format on
      if (threadIdx.x == 0) total[blockIdx.x] = s[0];
}

CASE(barriers_one_after_the_other) {
  const int x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int total[2] = {};
  int *d_x, *d_total;
  CUDA_CHECK(cudaMalloc(&d_x, sizeof(x)));
  CUDA_CHECK(cudaMalloc(&d_total, sizeof(total)));
  CUDA_CHECK(cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice));
  sum<<<2, 8>>>(d_x, d_total);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(total, d_total, sizeof(total), cudaMemcpyDeviceToHost));
  std::printf("%d %d\n", total[0], total[1]);
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_total));
}
