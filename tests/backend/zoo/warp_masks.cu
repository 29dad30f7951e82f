// SPDX-License-Identifier: MIT
// Masks of warp operations that do not name the lanes that come or are read, or name lanes that are
// not there.
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
//
// CASE: outside_the_mask
// All lanes read one that their mask does not name.
// EXPECT: {file}:{broadcast}: error: a shuffle reads a lane that takes no part in kernel 'broadcast', block (0,0,0), thread (1,0,0)
// EXPECT: __shfl_sync: lane 1 reads lane 0, which mask 0xaaaaaaaa does not name
// EXPECT-STDOUT: cudaErrorLaunchFailure
//
// CASE: outside_the_mask_and_stored
// Each lane stores what it got.
// EXPECT: {file}:{store}: error: a shuffle reads a lane that takes no part in kernel 'neighbour', block (0,0,0), thread (16,0,0)
// EXPECT: __shfl_up_sync: lane 16 reads lane 15, which mask 0xffff0000 does not name
//
// CASE: outside_the_mask_of_half_a_warp
// The largest of half a warp is looked for among 32.
// EXPECT: {file}:{largest}: error: a shuffle reads a lane that takes no part in kernel 'largest', block (0,0,0), thread (0,0,0)
// EXPECT: __shfl_xor_sync: lane 0 reads lane 16, which mask 0x0000ffff does not name
//
// CASE: undefined_and_unused
// A value that is undefined may be read and thrown away, or end in a lane whose sum nobody reads:
// trees in 16 lanes and in 20, one after the other, and a scan of the upper half.
// EXPECT-STDOUT: 120 120 190 31 376

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

__global__ void broadcast(int* out) {
  const unsigned odd = __ballot_sync(0xffffffffu, threadIdx.x % 2);
  if (threadIdx.x % 2 == 1) {
    const int first = __shfl_sync(odd, out[threadIdx.x], 0);  // @broadcast
    out[threadIdx.x] = first;
  }
}

CASE(outside_the_mask) {
  std::puts(cudaGetErrorName(run_on(32, [](int* out) { broadcast<<<1, 32>>>(out); })));
}

__global__ void neighbour(int* out) {
  if (threadIdx.x >= 16) {
    out[threadIdx.x] = __shfl_up_sync(0xffff0000u, out[threadIdx.x], 1);  // @store
  }
}

CASE(outside_the_mask_and_stored) {
  run_on(32, [](int* out) { neighbour<<<1, 32>>>(out); });
}

__global__ void largest(int* out) {
  int v = out[threadIdx.x];
  if (threadIdx.x < 16) {
    for (int distance = 16; distance > 0; distance /= 2) {
      v = max(v, __shfl_xor_sync(0x0000ffffu, v, distance));  // @largest
    }
  }
  if (threadIdx.x == 0) out[0] = v;
}

CASE(outside_the_mask_of_half_a_warp) {
  run_on(32, [](int* out) { largest<<<1, 32>>>(out); });
}

__global__ void trees(int* out) {
  const unsigned lane = threadIdx.x;
  if (lane < 16) {
    for (int turn = 0; turn < 2; ++turn) {
      int v = static_cast<int>(lane);
      for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0x0000ffffu, v, d);
      if (lane == 0) out[turn] = v;
    }
  }
  if (lane < 20) {
    int v = static_cast<int>(lane);
    for (unsigned d = 16; d > 0; d /= 2) {
      const int other = __shfl_down_sync(0x000fffffu, v, d);
      if (lane + d < 20) v += other;
    }
    if (lane == 0) out[2] = v;
  }
  if (lane >= 16) {
    int v = static_cast<int>(lane);
    const int last = __shfl_sync(0xffff0000u, v, 31);
    for (unsigned d = 1; d < 16; d *= 2) {
      const int other = __shfl_up_sync(0xffff0000u, v, d);
      if (lane % 16 >= d) v += other;
    }
    if (lane == 31) out[3] = last, out[4] = v;
  }
}

CASE(undefined_and_unused) {
  run_on(5, [](int* d_out) {
    int out[5] = {};
    trees<<<1, 32>>>(d_out);
    cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
    std::printf("%d %d %d %d %d\n", out[0], out[1], out[2], out[3], out[4]);
  });
}
