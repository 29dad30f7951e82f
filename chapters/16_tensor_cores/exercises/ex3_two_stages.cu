// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 16, fix the bug: two stages in turn.
//
// C = A * B by tiles of 64 x 64, with a warp group for each, any sizes but 0. In step s the group
// multiplies 64 terms that lie in stage s % 2. Bulk copies of the next 64 are on their way to the
// other stage meanwhile. What would lie outside of a matrix comes as zeros.
// Check it: make lab CH=16 EX=3      A hint: make hint CH=16 EX=3
#include "chapters/16_tensor_cores/product.cuh"
#include "common/common.cuh"

constexpr unsigned kGroup = 128, kStages = 2;

// 64 rows of 128 bytes, as bulk copies bring them and wgmma reads them.
struct alignas(1024) Box {
  Bf16 at[kBox][kBox];
};
struct Stage {
  Box a, b;
};

// Begins the four products of a stage, 16 terms each.
__device__ void multiply_stage(float (&sums)[kBox / 2], const Stage& stage, bool add) {
  constexpr unsigned kTerms = 16, kEightRows = 8 * sizeof(Box) / kBox;
  const std::uint64_t a = ptx::describe(&stage.a, sizeof(Box), kEightRows);
  const std::uint64_t b = ptx::describe(&stage.b, sizeof(Box), kEightRows);
#pragma unroll
  for (unsigned i = 0; i < kBox / kTerms; ++i)
    ptx::wgmma_m64k16<kBox>(sums, a + i * (kTerms * sizeof(Bf16) / 16),
                            b + i * (2 * kEightRows / 16), add || i > 0);
}

// The group's sums go to C, as far as there is one.
__device__ void store_sums(const float (&sums)[kBox / 2], const Matrix& c) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (unsigned e = 0; e < kBox / 2; ++e) {
    const unsigned row = blockIdx.y * kBox + warp * 16 + lane / 4 + e / 2 % 2 * 8;
    const unsigned column = blockIdx.x * kBox + e / 4 * 8 + lane % 4 * 2 + e % 2;
    if (row < c.height && column < c.width) c.at(row, column) = sums[e];
  }
}

__global__ void __launch_bounds__(kGroup)
    multiply(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
             Matrix c, unsigned steps) {
  __shared__ Stage stages[kStages];
  __shared__ std::uint64_t full[kStages];
  const int first_row = static_cast<int>(blockIdx.y * kBox);
  const int first_column = static_cast<int>(blockIdx.x * kBox);
  float sums[kBox / 2] = {};

  // TODO: right for up to two steps. What is not right in the third?
  const auto bring = [&](unsigned step) {
    Stage& to = stages[step % kStages];
    std::uint64_t* const bar = &full[step % kStages];
    const int first = static_cast<int>(step * kBox);
    ptx::mbarrier_expect(bar, sizeof(Stage));
    ptx::copy_tile(&to.a, &map_a, first, first_row, bar);
    ptx::copy_tile(&to.b, &map_b, first_column, first, bar);
  };
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < kStages; ++i) ptx::mbarrier_init(&full[i], 1);
    ptx::mbarrier_fence_init();
    for (unsigned step = 0; step < min(kStages, steps); ++step) bring(step);
  }
  __syncthreads();  // the barriers are there before anyone waits at one
  for (unsigned step = 0; step < steps; ++step) {
    ptx::mbarrier_wait(&full[step % kStages], 0);
    ptx::wgmma_fence();
    multiply_stage(sums, stages[step % kStages], step > 0);
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::wgmma_hold(sums);
    __syncthreads();
  }
  // end of TODO

  store_sums(sums, c);
}
