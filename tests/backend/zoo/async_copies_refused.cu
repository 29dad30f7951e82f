// SPDX-License-Identifier: MIT
// Asynchronous copies that there are not: of 12 bytes, of 16 bytes between addresses that are
// multiples of 4 only, to global memory, from shared memory, past the ends of both arrays; two to
// one place; and one that its thread has not waited for.
// EXPECT: {file}:{size}: error: asynchronous copy of a size that there is not in kernel 'copy', block (0,0,0), thread (0,0,0)
// EXPECT: it copies 12 bytes
// EXPECT: help: a thread copies 4, 8 or 16 bytes at a time
// EXPECT: {file}:{zeros}: error: asynchronous copy of a size that there is not
// EXPECT: it fills 8 of 4 bytes with zeros
// EXPECT: {file}:{aligned_to}: error: asynchronous copy to a misaligned address
// EXPECT: a copy of 16 bytes needs addresses that are multiples of 16
// EXPECT: it is byte 4 of the __shared__ array 'tile'
// EXPECT: {file}:{tile}: note: declared here
// EXPECT: {file}:{aligned_from}: error: asynchronous copy from a misaligned address
// EXPECT: it is element 1 of device memory
// EXPECT: {file}:{to_global}: error: asynchronous copy to memory that is not shared memory of this block
// EXPECT: it is element 0 of device memory
// EXPECT: {file}:{from_shared}: error: asynchronous copy from memory that is not global
// EXPECT: it is element 4 of the __shared__ array 'tile'
// EXPECT: {file}:{past_source}: error: out-of-bounds read
// EXPECT: {file}:{past_tile}: error: out-of-bounds write
// EXPECT: {file}:{twice}: error: shared memory was written while an asynchronous copy to it was under way in kernel 'copy', block (0,0,0), thread (0,0,0)
// EXPECT: help: the copy may come before or after that write
// EXPECT: {file}:{not_waited}: error: asynchronous copy that its thread has never waited for
// EXPECT: found when the block had ended: 1 of its copies were never made
// EXPECT: help: the thread that copies calls __pipeline_commit(), and __pipeline_wait_prior(0)
// EXPECT-NOT: no commit follows
// EXPECT-STDOUT: 10 errors
#include <cuda_pipeline.h>

#include <cstdio>

enum Mistake {
  kSize,
  kZeros,
  kTo,
  kFrom,
  kToGlobal,
  kFromShared,
  kPastSource,
  kPastTile,
  kTwice,
  kNotWaited,
  kEnd
};

__global__ void copy(const float* x, float* y, Mistake mistake) {
  __shared__ alignas(16) float tile[64];  // @tile
  const float* past = x + 64;
  if (mistake == kSize) __pipeline_memcpy_async(tile, x, 12);              // @size
  if (mistake == kZeros) __pipeline_memcpy_async(tile, x, 4, 8);           // @zeros
  if (mistake == kTo) __pipeline_memcpy_async(tile + 1, x, 16);            // @aligned_to
  if (mistake == kFrom) __pipeline_memcpy_async(tile, x + 1, 16);          // @aligned_from
  if (mistake == kToGlobal) __pipeline_memcpy_async(y, x, 4);              // @to_global
  if (mistake == kFromShared) __pipeline_memcpy_async(tile, tile + 4, 4);  // @from_shared
  if (mistake == kPastSource) __pipeline_memcpy_async(tile, past, 4);      // @past_source
  if (mistake == kPastTile) __pipeline_memcpy_async(tile + 64, x, 4);      // @past_tile
  if (mistake == kNotWaited) __pipeline_memcpy_async(tile, x, 4);          // @not_waited
  for (int i = 0; i < 2; ++i) {
    if (mistake == kTwice) __pipeline_memcpy_async(tile, x + i, 4);  // @twice
    __pipeline_commit();
  }
  if (mistake != kNotWaited) __pipeline_wait_prior(0);
}

int main() {
  int errors = 0;
  for (int mistake = 0; mistake < kEnd; ++mistake) {
    float *d_x = nullptr, *d_y = nullptr;
    cudaMalloc(&d_x, 64 * sizeof(float));
    cudaMalloc(&d_y, 64 * sizeof(float));
    cudaMemset(d_x, 0, 64 * sizeof(float));
    copy<<<1, 1>>>(d_x, d_y, static_cast<Mistake>(mistake));
    errors += cudaDeviceSynchronize() != cudaSuccess;
    cudaDeviceReset();
  }
  std::printf("%d errors\n", errors);
}
