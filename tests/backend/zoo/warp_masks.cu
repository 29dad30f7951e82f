// SPDX-License-Identifier: MIT
// Masks of warp operations that do not name the lanes that come, or name lanes that are not there.
//
// CASE: missing_lanes
// A shuffle in a branch has a mask that names all lanes of the warp. The others wait at the
// barrier.
// EXPECT: {file}:{missing_lanes_shuffle}: error: __shfl_down_sync waits for lanes that never come in kernel 'half_shuffles', block (0,0,0), thread (32,0,0)
// EXPECT: mask 0xffffffff of warp 1: missing are lanes 16-31
// EXPECT: {file}:{missing_lanes_shuffle}: note: threads 32-47 waiting here in __shfl_down_sync with mask 0xffffffff
// EXPECT: {file}:{barrier}: note: threads 0-31, 48-63 waiting here in __syncthreads
//
// CASE: exited_lane
// The guard sends the last lanes away, but the mask still names them.
// EXPECT: {file}:{exited_lane_vote}: error: __ballot_sync waits for lanes that never come in kernel 'guarded_vote', block (0,0,0), thread (0,0,0)
// EXPECT: mask 0xffffffff of warp 0: missing are lanes 20-31
// EXPECT: {file}:{return}: note: threads 20-31 left the kernel here
// EXPECT: the mask must not name lanes that have left
//
// CASE: mismatched_masks
// Lanes of one exchange do not agree about who takes part.
// EXPECT: {file}:{mismatched_masks_shuffle}: error: __shfl_sync waits for lanes that never come in kernel 'own_masks', block (0,0,0), thread (0,0,0)
// EXPECT: mask 0x0000ffff of warp 0: missing are lanes 8-15
// EXPECT: {file}:{mismatched_masks_shuffle}: note: threads 0-7 waiting here in __shfl_sync with mask 0x0000ffff
// EXPECT: {file}:{mismatched_masks_shuffle}: note: threads 8-31 waiting here in __shfl_sync with mask 0xffffffff
//
// CASE: lane_not_in_mask
// The upper half of the warp calls with the mask of the lower half.
// EXPECT: {file}:{sync}: error: a lane calls a warp operation with a mask that does not name it in kernel 'wrong_half', block (0,0,0), thread (16,0,0)
// EXPECT: __syncwarp: lane 16, mask 0x0000ffff
//
// CASE: different_warp_operations
// Half of a mask's lanes vote while the others sum.
// EXPECT: {file}:{sum}: error: lanes of one mask call different warp operations in kernel 'two_operations', block (0,0,0), thread (16,0,0)
// EXPECT: mask 0xffffffff: __reduce_add_sync here, __any_sync by other lanes
//
// CASE: shuffle_past_the_block
// A tree of shuffles for 32 lanes, in a block of 20: its sum holds what lanes read that do not
// exist.
// EXPECT: {file}:{add}: error: a shuffle reads a lane that takes no part in kernel 'sum', block (0,0,0), thread (4,0,0)
// EXPECT: __shfl_down_sync: lane 4 reads lane 20; the block ends with lane 19 of this warp
// EXPECT-STDOUT: cudaErrorLaunchFailure
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_SCHEDULE=random:2

#include "cases.cuh"

__global__ void half_shuffles(float* x) {
  float v = x[threadIdx.x];
  if (threadIdx.x >= 32 && threadIdx.x < 48) {
    v += __shfl_down_sync(0xffffffffu, v, 8);  // @missing_lanes_shuffle
  }
  __syncthreads();  // @barrier
  x[threadIdx.x] = v;
}

CASE(missing_lanes) {
  run_on<float>(64, [](float* d_x) { half_shuffles<<<1, 64>>>(d_x); });
}

__global__ void guarded_vote(unsigned* x, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;                        // @return
  x[i] = __ballot_sync(0xffffffffu, i % 2);  // @exited_lane_vote
}

CASE(exited_lane) {
  run_on<unsigned>(20, [](unsigned* d_x) { guarded_vote<<<1, 32>>>(d_x, 20); });
}

__global__ void own_masks(int* x) {
  const unsigned mask = threadIdx.x < 8 ? 0x0000ffffu : 0xffffffffu;
  x[threadIdx.x] = __shfl_sync(mask, x[threadIdx.x], 8);  // @mismatched_masks_shuffle
}

CASE(mismatched_masks) {
  run_on(32, [](int* d_x) { own_masks<<<1, 32>>>(d_x); });
}

__global__ void wrong_half(int* x) {
  x[threadIdx.x] = 1;
  __syncwarp(0x0000ffffu);  // @sync
}

CASE(lane_not_in_mask) {
  run_on(32, [](int* d_x) { wrong_half<<<1, 32>>>(d_x); });
}

__global__ void two_operations(int* x) {
  const int i = threadIdx.x;
  if (i < 16) {
    x[i] = __any_sync(0xffffffffu, i == 3);
  } else {
    x[i] = __reduce_add_sync(0xffffffffu, i);  // @sum
  }
}

CASE(different_warp_operations) {
  run_on(32, [](int* d_x) { two_operations<<<1, 32>>>(d_x); });
}

__global__ void sum(int* x) {
  int v = x[threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2) {
    v += __shfl_down_sync(0xffffffffu, v, distance);  // @add
  }
  if (threadIdx.x == 0) *x = v;
}

CASE(shuffle_past_the_block) {
  std::puts(cudaGetErrorName(run_on(20, [](int* x) { sum<<<1, 20>>>(x); })));
}
