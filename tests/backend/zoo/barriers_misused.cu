// SPDX-License-Identifier: MIT
// Barriers and pipelines that a program uses in ways that there are not. The program resets the
// device after each.
// EXPECT: {file}:{early}: error: cuda::barrier is used before it is initialised in kernel 'misuse', block (0,0,0), thread (0,0,0)
// EXPECT: by cuda::barrier::arrive
// EXPECT: help: one thread calls init(&barrier, count), and __syncthreads() comes before the first use
// EXPECT: {file}:{nobody}: error: cuda::barrier that expects no number of arrivals that there is
// EXPECT: it is to expect 0; 1 to 1048575 are allowed
// EXPECT: {file}:{outside}: error: cuda::barrier of a block that is not in its shared memory
// EXPECT: {file}:{many}: error: more arrivals at a cuda::barrier than it expects
// EXPECT: 3 more arrive, and 2 of 2 are missing in this phase
// EXPECT: {file}:{init}: note: initialised here
// EXPECT: {file}:{old}: error: wait at a cuda::barrier for a phase that is not the last one
// EXPECT: 1 more phases have ended since the arrival that gave the token
// EXPECT: {file}:{copy}: error: asynchronous copy whose barrier nobody has waited at
// EXPECT: found when the block had ended: 1 of its copies were never made
// EXPECT: {file}:{size}: error: asynchronous copy of a size that is not aligned
// EXPECT: 8 bytes are no multiple of the 16 that the program names
// EXPECT: {file}:{address}: error: asynchronous copy from a misaligned address
// EXPECT: {file}:{empty}: error: cuda::barrier waits for arrivals that never come
// EXPECT: {file}:{empty}: note: thread 0 waiting here in cuda::pipeline::consumer_wait
// EXPECT-STDOUT: 9 errors
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <cstdio>
#include <utility>

using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cg = cooperative_groups;

enum Mistake { kEarly, kNobody, kOutside, kMany, kOld, kCopy, kSize, kAddress, kEmpty, kEnd };

__global__ void misuse(float* x, Mistake mistake) {
  __shared__ Barrier barrier;
  __shared__ alignas(16) float tile[64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const cg::thread_block block = cg::this_thread_block();
  if (mistake == kEarly) (void)barrier.arrive();                    // @early
  if (mistake == kNobody) init(&barrier, 0);                        // @nobody
  if (mistake == kOutside) init(reinterpret_cast<Barrier*>(x), 1);  // @outside
  init(&barrier, 2);                                                // @init
  if (mistake == kMany) (void)barrier.arrive(3);                    // @many
  auto token = barrier.arrive();
  (void)barrier.arrive();
  if (mistake == kOld) {
    (void)barrier.arrive(2);
    barrier.wait(std::move(token));  // @old
  }
  if (mistake == kCopy) {
    cuda::memcpy_async(tile, x, sizeof(float), barrier);  // @copy
    (void)barrier.arrive(2);
  }
  if (mistake == kSize) cg::memcpy_async(block, tile, x, cuda::aligned_size_t<16>(8));  // @size
  if (mistake == kAddress)
    cg::memcpy_async(block, tile, x + 1, cuda::aligned_size_t<16>(16));  // @address
  auto pipe = cuda::make_pipeline(block, &state);
  if (mistake == kEmpty) pipe.consumer_wait();  // @empty
}

int main() {
  int errors = 0;
  for (int mistake = 0; mistake < kEnd; ++mistake) {
    float* d_x = nullptr;
    cudaMalloc(&d_x, 64 * sizeof(float));
    misuse<<<1, 1>>>(d_x, static_cast<Mistake>(mistake));
    errors += cudaDeviceSynchronize() != cudaSuccess;
    cudaDeviceReset();
  }
  std::printf("%d errors\n", errors);
}
