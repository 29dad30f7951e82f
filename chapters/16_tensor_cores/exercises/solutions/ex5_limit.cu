// SPDX-License-Identifier: MIT
// Exercise 5 of chapter 16, predict, then measure: which tile can feed the tensor cores?
//
// Put your predictions in place of the -1; change nothing else. The check runs the kernels, counts,
// and calculates with what it counts. It says too low or too high, never the number.
// Check it: make lab CH=16 EX=5      A hint: make hint CH=16 EX=5
#include "chapters/16_tensor_cores/product.cuh"
#include "common/common.cuh"

// On paper a multiprocessor of an H200 makes 2,048 multiply-adds of BF16 in a clock: an mma of
// 16 x 8 x 16. (The lesson counts 1.5 clocks for it: leave that aside.) Its shared memory serves
// one wavefront in a clock, 128 bytes. Both work at the same time, so the one that needs more
// clocks is the limit.

// A warp has a tile of C in registers. For 16 terms it reads as many rows of A as its tile has, and
// as many columns of B, 16 elements of 2 bytes of each: by ldmatrix, without bank conflicts. How
// many clocks does shared memory take for that, and how many the tensor cores for the products?
constexpr int kReadsOf16x16 = 8;
constexpr int kProductsOf16x16 = 2;
constexpr int kReadsOf64x32 = 24;  // the warp's tile in mma_swizzled
constexpr int kProductsOf64x32 = 16;
constexpr int kReadsOf128x16 = 36;  // as many elements of C
// The side of the smallest square tile whose reads take no longer than its products: a multiple of
// 16.
constexpr int kSideOfSquare = 64;

// In mma_swizzled eight warps of 64 x 32 share 128 rows of A and 128 columns of B, in steps of 32
// terms. What they read has to be written to shared memory first, once for all. How many clocks
// does shared memory take for writing in a step, how many for writing and reading? And for how many
// percent of these do the products keep the tensor cores busy, on paper?
constexpr int kWritesOfBlock = 128;
constexpr int kClocksOfBlock = 512;
constexpr int kPercentOfBlock = 50;

// wgmma.m64nNk16 reads shared memory itself, for four warps at once: 64 rows of A and N columns of
// B, 16 terms of each, every element once. How many clocks do reads and products take for N = 256?
// What is the smallest N, a multiple of 8, for which reads take no longer than products?
constexpr int kReadsOfWgmma = 80;
constexpr int kProductsOfWgmma = 128;
constexpr int kLeastN = 64;

constexpr unsigned kWarp = 32, kPiece = 8, kStep = 32;  // terms of a step
__device__ uint4& sixteen_bytes(Bf16* at) { return *reinterpret_cast<uint4*>(at); }

// Rows of 32 terms, 64 bytes: four pieces, whose places change with every second row.
__device__ Bf16* piece(Bf16* slice, unsigned row, unsigned number) {
  return slice + (row * 4 + (number ^ row / 2 % 4)) * kPiece;
}

// The block's part: its threads bring kRows rows of a slice.
template <unsigned kRows>
__device__ void bring(Bf16* slice, const uint4* from) {
  for (unsigned i = threadIdx.x; i < kRows * 4; i += blockDim.x)
    sixteen_bytes(piece(slice, i / 4, i % 4)) = from[i];
}

// A warp's part: 16 terms of kDown x kAcross elements, and their products. B lies as A does here,
// a column of it in a row.
template <unsigned kDown, unsigned kAcross>
__device__ void multiply_tile(float (&sum)[kDown / 16][kAcross / 8][4], Bf16* slice_a,
                              Bf16* slice_b, unsigned first_piece) {
  const unsigned row = threadIdx.x % kWarp % 16, number = first_piece + threadIdx.x % kWarp / 16;
  unsigned of_a[kDown / 16][4], of_b[kAcross / 16][4];
  for (unsigned i = 0; i < kDown / 16; ++i)
    ptx::load_matrices(of_a[i], piece(slice_a, 16 * i + row, number));
  for (unsigned j = 0; j < kAcross / 16; ++j)
    ptx::load_matrices(of_b[j], piece(slice_b, 16 * j + row, number));
  for (unsigned i = 0; i < kDown / 16; ++i) {
    for (unsigned j = 0; j < kAcross / 8; ++j) {
      const unsigned pair[2] = {of_b[j / 2][j % 2], of_b[j / 2][j % 2 + 2]};
      ptx::mma_m16n8k16(sum[i][j], of_a[i], pair);
    }
  }
}

// One warp, 16 terms.
template <unsigned kDown, unsigned kAcross>
__global__ void one_tile(const uint4* from, float* out) {
  __shared__ alignas(128) Bf16 slice_a[kDown * kStep], slice_b[kAcross * kStep];
  bring<kDown>(slice_a, from);
  bring<kAcross>(slice_b, from);
  __syncthreads();
  float sum[kDown / 16][kAcross / 8][4] = {};
  multiply_tile<kDown, kAcross>(sum, slice_a, slice_b, 0);
  out[threadIdx.x] = sum[0][0][0];
}

// Eight warps, in two rows of four, a step of 32 terms.
__global__ void one_step(const uint4* from, float* out) {
  __shared__ alignas(128) Bf16 slice_a[128 * kStep], slice_b[128 * kStep];
  bring<128>(slice_a, from);
  bring<128>(slice_b, from);
  __syncthreads();
  const unsigned warp = threadIdx.x / kWarp;
  float sum[4][4][4] = {};
  for (unsigned k = 0; k < kStep / kPiece; k += 2)
    multiply_tile<64, 32>(sum, slice_a + warp / 4 * 64 * kStep, slice_b + warp % 4 * 32 * kStep, k);
  out[threadIdx.x] = sum[0][0][0];
}
