// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 16, write the kernel: who holds which element.
//
// C = A * B, where both matrices lie transposed: column l of A is row l of `across_a`, and column j
// of B is row j of `across_b`. C is row-major, of floats. The height of C is a multiple of 16, its
// width of 8, and the terms of a sum are a multiple of 16. A block is one warp: 16 x 8 elements.
// Check it: make lab CH=16 EX=1      A hint: make hint CH=16 EX=1
#include "chapters/16_tensor_cores/product.cuh"
#include "common/common.cuh"

constexpr unsigned kRows = 16, kColumns = 8, kTerms = 16;  // of one mma

// Two elements in one register; the instruction wants the one with the lower index first.
__device__ unsigned together(const Bf16& first, const Bf16& second) {
  return __bfloat16_as_ushort(first) | static_cast<unsigned>(__bfloat16_as_ushort(second)) << 16;
}

// A lane loads what the instruction wants it to hold, and nothing else. Where two elements of a
// register lie side by side, one load brings both: rows of `across_b` begin at multiples of 4
// bytes. What is in which register, instructions.cuh says.
__global__ void multiply(Bf16Matrix across_a, Bf16Matrix across_b, Matrix c) {
  const unsigned lane = threadIdx.x;
  const unsigned first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
  float sum[4] = {};
  for (unsigned first = 0; first < across_a.height; first += kTerms) {
    unsigned of_a[4] = {}, of_b[2] = {};
    // TODO: the lane's elements of A, in four registers, and of B, in two.
    (void)together, (void)across_b;
    // end of TODO
    ptx::mma_m16n8k16(sum, of_a, of_b);
  }
  // TODO: the lane's elements of C.
  (void)lane, (void)first_row, (void)first_column, (void)c;
  // end of TODO
}
