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
    for (unsigned r = 0; r < 4; ++r) {
      const unsigned row = first_row + lane / 4 + r % 2 * 8;
      const unsigned l = first + lane % 4 * 2 + r / 2 * 8;
      of_a[r] = together(across_a.at(l, row), across_a.at(l + 1, row));
    }
    for (unsigned r = 0; r < 2; ++r) {
      const Bf16& pair = across_b.at(first_column + lane / 4, first + lane % 4 * 2 + r * 8);
      of_b[r] = *reinterpret_cast<const unsigned*>(&pair);
    }
    ptx::mma_m16n8k16(sum, of_a, of_b);
  }
  for (unsigned e = 0; e < 4; ++e)
    c.at(first_row + lane / 4 + e / 2 * 8, first_column + lane % 4 * 2 + e % 2) = sum[e];
}
