// SPDX-License-Identifier: MIT
// Exercise 4 of chapter 16, write the kernel: one warp copies, two groups multiply.
//
// C = A * B by tiles of 128 x 64, any sizes but 0. Two warp groups multiply, 64 rows each; a ninth
// warp does nothing but begin bulk copies. They hand three stages to and fro by two barriers each:
// `full` says that a stage's bytes have come, `empty` that both groups have read them.
// Check it: make lab CH=16 EX=4      A hint: make hint CH=16 EX=4
#include "chapters/16_tensor_cores/product.cuh"
#include "common/common.cuh"

constexpr unsigned kWarp = 32, kGroup = 128, kGroups = 2, kStages = 3;
constexpr unsigned kThreads = kGroups * kGroup + kWarp;

// 64 rows of 128 bytes, as bulk copies bring them and wgmma reads them.
struct alignas(1024) Box {
  Bf16 at[kBox][kBox];
};
struct Stage {
  Box a[kGroups];  // one below the other, a group's each
  Box b;           // for both groups
};
struct Ring {
  Stage stages[kStages];
  std::uint64_t full[kStages], empty[kStages];
};

// Begins the four products of a group's step, 16 terms each.
__device__ void multiply_boxes(float (&sums)[kBox / 2], const Box& of_a, const Box& of_b,
                               bool add) {
  constexpr unsigned kTerms = 16, kEightRows = 8 * sizeof(Box) / kBox;
  const std::uint64_t a = ptx::describe(&of_a, sizeof(Box), kEightRows);
  const std::uint64_t b = ptx::describe(&of_b, sizeof(Box), kEightRows);
#pragma unroll
  for (unsigned i = 0; i < kBox / kTerms; ++i)
    ptx::wgmma_m64k16<kBox>(sums, a + i * (kTerms * sizeof(Bf16) / 16),
                            b + i * (2 * kEightRows / 16), add || i > 0);
}

// A group's sums go to C, as far as there is one.
__device__ void store_sums(const float (&sums)[kBox / 2], const Matrix& c) {
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
#pragma unroll
  for (unsigned e = 0; e < kBox / 2; ++e) {
    const unsigned row = blockIdx.y * kGroups * kBox + warp * 16 + lane / 4 + e / 2 % 2 * 8;
    const unsigned column = blockIdx.x * kBox + e / 4 * 8 + lane % 4 * 2 + e % 2;
    if (row < c.height && column < c.width) c.at(row, column) = sums[e];
  }
}

__global__ void __launch_bounds__(kThreads)
    multiply(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
             Matrix c, unsigned steps) {
  extern __shared__ __align__(1024) uint4 dynamic[];
  Ring& ring = *reinterpret_cast<Ring*>(dynamic);
  const unsigned group = threadIdx.x / kGroup;
  const int first_row = static_cast<int>(blockIdx.y * kGroups * kBox);
  const int first_column = static_cast<int>(blockIdx.x * kBox);

  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(&ring.full[i], 1);
      ptx::mbarrier_init(&ring.empty[i], kGroups * kGroup / kWarp);
    }
    ptx::mbarrier_fence_init();
  }
  __syncthreads();  // the barriers are there before anyone waits at one

  if (group == kGroups) {  // the ninth warp
    if (threadIdx.x == kGroups * kGroup) {
      for (unsigned step = 0; step < steps; ++step) {
        const unsigned i = step % kStages;
        const int first = static_cast<int>(step * kBox);
        ptx::mbarrier_wait(&ring.empty[i], step / kStages % 2 ^ 1);  // at first nobody has to
        ptx::mbarrier_expect(&ring.full[i], sizeof(Stage));
        for (unsigned g = 0; g < kGroups; ++g)
          ptx::copy_tile(&ring.stages[i].a[g], &map_a, first,
                         first_row + static_cast<int>(g * kBox), &ring.full[i]);
        ptx::copy_tile(&ring.stages[i].b, &map_b, first_column, first, &ring.full[i]);
      }
    }
    return;
  }

  float sums[kBox / 2] = {};
  for (unsigned step = 0; step < steps; ++step) {
    const unsigned i = step % kStages;
    ptx::mbarrier_wait(&ring.full[i], step / kStages % 2);
    ptx::wgmma_fence();
    multiply_boxes(sums, ring.stages[i].a[group], ring.stages[i].b, step > 0);
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::wgmma_hold(sums);
    if (threadIdx.x % kWarp == 0) ptx::mbarrier_arrive(&ring.empty[i]);  // the warp has read it
  }
  store_sums(sums, c);
}
