// SPDX-License-Identifier: MIT
// Chapter 08, the micro tile with loads of 16 bytes. Included by tiled_matmul.cu, whose tiles it
// fills.
//
// micro_tile_wide   a thread's elements in groups of four: one load from a tile brings four
// micro_tile_pairs  the same; of two neighbouring lanes both want the same of B
#pragma once

#include "../../common/common.cuh"

constexpr unsigned kWide = 4, kGroups = kPerThread / kWide;  // 4 floats are 16 bytes

// Where group `group` begins of a thread that stands at `place` of kSide. Neighbouring threads have
// neighbouring groups.
__device__ unsigned first_of(unsigned group, unsigned place) {
  return (group * kSide + place) * kWide;
}

// Four neighbours in one load. They must begin at a multiple of 16 bytes.
__device__ void load_four(const float* from, float* to) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}

// A load of 16 bytes fills four registers of every lane. That takes four clocks, but two if lanes
// 2p and 2p + 1, or else lanes p and p + 2 of every four, want the same. All lanes of half a warp
// want the same four of A: two clocks. Of B they want what their neighbours do not: four. With
// kInPairs two neighbouring lanes stand one above the other in C, and want the same of B as well.
template <bool kInPairs>
__global__ void __launch_bounds__(kSide* kSide)
    multiply_micro_tile_wide(Matrix a, Matrix b, Matrix c) {
  // Every row begins at a multiple of 16 bytes: padding by one word or by two would break that.
  __shared__ alignas(16) float tile_a[kDepth][kMicroTile + kWide];
  __shared__ alignas(16) float tile_b[kDepth][kMicroTile];
  const unsigned t = threadIdx.y * kSide + threadIdx.x;
  const unsigned x = kInPairs ? t / 32 % 2 * 8 + t / 2 % 8 : threadIdx.x;
  const unsigned y = kInPairs ? t / 64 * 4 + t / 16 % 2 * 2 + t % 2 : threadIdx.y;
  float sum[kPerThread][kPerThread] = {};
  for (unsigned first = 0; first < a.width; first += kDepth) {
    bring_tiles(tile_a, tile_b, a, b, first);
    __syncthreads();  // both tiles are complete before anyone reads them
#pragma unroll
    for (unsigned i = 0; i < kDepth; ++i) {
      float from_a[kPerThread], from_b[kPerThread];
#pragma unroll
      for (unsigned g = 0; g < kGroups; ++g) {
        load_four(&tile_a[i][first_of(g, y)], &from_a[g * kWide]);
        load_four(&tile_b[i][first_of(g, x)], &from_b[g * kWide]);
      }
#pragma unroll
      for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
        for (unsigned q = 0; q < kPerThread; ++q) sum[r][q] += from_a[r] * from_b[q];
      }
    }
    __syncthreads();  // everyone has read before anyone loads the next tiles over these
  }
#pragma unroll
  for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
    for (unsigned q = 0; q < kPerThread; ++q) {
      const unsigned row = blockIdx.y * kMicroTile + first_of(r / kWide, y) + r % kWide;
      const unsigned column = blockIdx.x * kMicroTile + first_of(q / kWide, x) + q % kWide;
      if (row < c.height && column < c.width) c.at(row, column) = sum[r][q];
    }
  }
}
