// SPDX-License-Identifier: MIT
// Chapter 14: what does it take to reach cuBLAS?
// C = A * B in float, row-major: A is m x k, B is k x n.
// micro_tile_pairs  chapter 08's last, unchanged: 8 x 8 elements of C per thread
// addresses_once    whole tiles: no guard, and an address is computed once, not at each step
// wide_copies       16 bytes per load from global memory and per store
// double_buffer     two slices in shared memory, one barrier per step
// b_first           a thread reads B's elements from shared memory before A's
// large_tiles       128 x 256 elements of C per block, 8 x 16 per thread; B copied past registers
// to_and_fro        multiply-adds go down a column, up the next: operands are used again at once
// lanes_in_rows     a warp's lanes lie in rows of eight, not in pairs
// cublas            the library
// Run: make run CH=14

#include <cublas_v2.h>
#include <cuda_pipeline.h>

#include "../../common/common.cuh"

// ---- micro_tile_pairs: any shape ---------------------------------------------------------------

// The matrix continued by zeros: a tile at its edge is filled up with what changes no sum.
__device__ float at_or_zero(const Matrix& m, unsigned row, unsigned column) {
  return row < m.height && column < m.width ? m.at(row, column) : 0.0f;
}

// A block computes kMicroTile x kMicroTile elements of C, a thread 8 x 8 of them, in registers. The
// block walks along k in steps of kDepth: at each it brings kDepth columns of A and rows of B to
// shared memory. For each i a thread loads 8 + 8 values from there and does 64 multiply-adds.
constexpr unsigned kPerThread = 8, kSide = 16, kMicroTile = kPerThread * kSide, kDepth = 16;

// Brings the next kDepth columns of A, transposed, and rows of B. Half a warp stores a row of A
// down a column of the tile, the other half the next row down the next column. With four words of
// padding the lanes of a warp use 16 banks, two lanes each: a store takes two wavefronts.
template <unsigned kRow>
__device__ void bring_tiles(float (&tile_a)[kDepth][kRow], float (&tile_b)[kDepth][kMicroTile],
                            const Matrix& a, const Matrix& b, unsigned first) {
  const unsigned first_row = blockIdx.y * kMicroTile, first_column = blockIdx.x * kMicroTile;
  for (unsigned e = threadIdx.y * kSide + threadIdx.x; e < kMicroTile * kDepth;
       e += kSide * kSide) {
    tile_a[e % kDepth][e / kDepth] = at_or_zero(a, first_row + e / kDepth, first + e % kDepth);
    tile_b[e / kMicroTile][e % kMicroTile] =
        at_or_zero(b, first + e / kMicroTile, first_column + e % kMicroTile);
  }
}

// A thread's elements come in groups of four: one load of 16 bytes from a tile brings four of A, or
// four of B.
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

// A load of 16 bytes per lane is served in four passes of 8 lanes, a wavefront each. Two are enough
// if lanes 2p and 2p + 1, or else lanes p and p + 2 of every four, want the same. All lanes of half
// a warp want the same four of A: two passes. Of B they want what their neighbours do not: four.
// With kInPairs two neighbouring lanes stand one above the other in C, and want the same of B too.
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

// ---- addresses_once ----------------------------------------------------------------------------

// From here on tiles are whole: sides of C are multiples of the tile's, k is one of kDepth, and
// rows begin at multiples of 16 bytes. Any other product is left to the kernel above.
constexpr unsigned kThreads = kSide * kSide;

// A thread brings elements of a tile that are a few rows apart, and the same ones of each slice. So
// the addresses of the first one are computed before the loop, and all others are a distance from
// there.
__global__ void __launch_bounds__(kThreads, 2)
    multiply_addresses_once(Matrix a, Matrix b, Matrix c) {
  __shared__ alignas(16) float tile_a[kDepth][kMicroTile + kWide];
  __shared__ alignas(16) float tile_b[kDepth][kMicroTile];
  const unsigned t = threadIdx.x;
  const unsigned x = t / 32 % 2 * 8 + t / 2 % 8;
  const unsigned y = t / 64 * 4 + t / 16 % 2 * 2 + t % 2;
  const unsigned row_a = t / kDepth, column_a = t % kDepth;
  const unsigned row_b = t / kMicroTile, column_b = t % kMicroTile;
  const float* next_a = &a.at(blockIdx.y * kMicroTile + row_a, column_a);
  const float* next_b = &b.at(row_b, blockIdx.x * kMicroTile + column_b);
  float sum[kPerThread][kPerThread] = {};
  for (unsigned first = 0; first < a.width; first += kDepth) {
#pragma unroll
    for (unsigned i = 0; i < kMicroTile * kDepth / kThreads; ++i) {
      constexpr unsigned kRowsOfA = kThreads / kDepth, kRowsOfB = kThreads / kMicroTile;
      tile_a[column_a][row_a + i * kRowsOfA] = next_a[i * kRowsOfA * a.stride];
      tile_b[row_b + i * kRowsOfB][column_b] = next_b[i * kRowsOfB * b.stride];
    }
    next_a += kDepth;
    next_b += std::size_t{kDepth} * b.stride;
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
      c.at(row, column) = sum[r][q];
    }
  }
}

// ---- wide_copies -------------------------------------------------------------------------------

// Four neighbours in one store. They must begin at a multiple of 16 bytes.
__device__ void store_four(const float* from, float* to) {
  *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}

// A slice of either matrix takes two pieces of 16 bytes per thread. Two neighbouring lanes load 32
// bytes of a row of A, a sector; the 32 words of a store go down two columns, to 32 banks.
__global__ void __launch_bounds__(kThreads, 2) multiply_wide_copies(Matrix a, Matrix b, Matrix c) {
  __shared__ alignas(16) float tile_a[kDepth][kMicroTile + kWide];
  __shared__ alignas(16) float tile_b[kDepth][kMicroTile];
  const unsigned t = threadIdx.x;
  const unsigned x = t / 32 % 2 * 8 + t / 2 % 8;
  const unsigned y = t / 64 * 4 + t / 16 % 2 * 2 + t % 2;
  const unsigned row_a = t / 2, column_a = t % 2 * kWide;
  const unsigned row_b = t / 32, column_b = t % 32 * kWide;
  const float* next_a = &a.at(blockIdx.y * kMicroTile + row_a, column_a);
  const float* next_b = &b.at(row_b, blockIdx.x * kMicroTile + column_b);
  float sum[kPerThread][kPerThread] = {};
  for (unsigned first = 0; first < a.width; first += kDepth) {
#pragma unroll
    for (unsigned i = 0; i < kDepth; i += 8) {
      float of_a[kWide], of_b[kWide];
      load_four(next_a + i, of_a);
      load_four(next_b + i * b.stride, of_b);
#pragma unroll
      for (unsigned e = 0; e < kWide; ++e) tile_a[column_a + i + e][row_a] = of_a[e];
      store_four(of_b, &tile_b[row_b + i][column_b]);
    }
    next_a += kDepth;
    next_b += std::size_t{kDepth} * b.stride;
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
    for (unsigned q = 0; q < kPerThread; q += kWide) {
      const unsigned row = blockIdx.y * kMicroTile + first_of(r / kWide, y) + r % kWide;
      const unsigned column = blockIdx.x * kMicroTile + first_of(q / kWide, x);
      store_four(&sum[r][q], &c.at(row, column));
    }
  }
}

// ---- double_buffer -----------------------------------------------------------------------------

// The next slices are loaded into registers while the present ones are multiplied, and then stored
// where no thread is reading: there are two tiles of either matrix, in turn. So one barrier per
// step is enough.
__global__ void __launch_bounds__(kThreads, 2)
    multiply_double_buffer(Matrix a, Matrix b, Matrix c) {
  __shared__ alignas(16) float tiles_a[2][kDepth][kMicroTile + kWide];
  __shared__ alignas(16) float tiles_b[2][kDepth][kMicroTile];
  const unsigned t = threadIdx.x;
  const unsigned x = t / 32 % 2 * 8 + t / 2 % 8;
  const unsigned y = t / 64 * 4 + t / 16 % 2 * 2 + t % 2;
  const unsigned row_a = t / 2, column_a = t % 2 * kWide;
  const unsigned row_b = t / 32, column_b = t % 32 * kWide;
  const float* next_a = &a.at(blockIdx.y * kMicroTile + row_a, column_a);
  const float* next_b = &b.at(row_b, blockIdx.x * kMicroTile + column_b);
  float of_a[kDepth / 8][kWide], of_b[kDepth / 8][kWide];
#pragma unroll
  for (unsigned i = 0; i < kDepth; i += 8) {
    load_four(next_a + i, of_a[i / 8]);
    load_four(next_b + i * b.stride, of_b[i / 8]);
  }
  float sum[kPerThread][kPerThread] = {};
  for (unsigned first = 0; first < a.width; first += kDepth) {
    auto& tile_a = tiles_a[first / kDepth % 2];
    auto& tile_b = tiles_b[first / kDepth % 2];
#pragma unroll
    for (unsigned i = 0; i < kDepth; i += 8) {
#pragma unroll
      for (unsigned e = 0; e < kWide; ++e) tile_a[column_a + i + e][row_a] = of_a[i / 8][e];
      store_four(of_b[i / 8], &tile_b[row_b + i][column_b]);
    }
    __syncthreads();  // both tiles are complete; and everyone has read those of the step before
    if (first + kDepth < a.width) {
      next_a += kDepth;
      next_b += std::size_t{kDepth} * b.stride;
#pragma unroll
      for (unsigned i = 0; i < kDepth; i += 8) {
        load_four(next_a + i, of_a[i / 8]);
        load_four(next_b + i * b.stride, of_b[i / 8]);
      }
    }
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
  }
#pragma unroll
  for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
    for (unsigned q = 0; q < kPerThread; q += kWide) {
      const unsigned row = blockIdx.y * kMicroTile + first_of(r / kWide, y) + r % kWide;
      const unsigned column = blockIdx.x * kMicroTile + first_of(q / kWide, x);
      store_four(&sum[r][q], &c.at(row, column));
    }
  }
}

// ---- b_first -----------------------------------------------------------------------------------

// The same, except that a thread reads its elements of B first, and then those of A. The order in
// which the compiler issues loads and multiply-adds depends on it.
__global__ void __launch_bounds__(kThreads, 2) multiply_b_first(Matrix a, Matrix b, Matrix c) {
  __shared__ alignas(16) float tiles_a[2][kDepth][kMicroTile + kWide];
  __shared__ alignas(16) float tiles_b[2][kDepth][kMicroTile];
  const unsigned t = threadIdx.x;
  const unsigned x = t / 32 % 2 * 8 + t / 2 % 8;
  const unsigned y = t / 64 * 4 + t / 16 % 2 * 2 + t % 2;
  const unsigned row_a = t / 2, column_a = t % 2 * kWide;
  const unsigned row_b = t / 32, column_b = t % 32 * kWide;
  const float* next_a = &a.at(blockIdx.y * kMicroTile + row_a, column_a);
  const float* next_b = &b.at(row_b, blockIdx.x * kMicroTile + column_b);
  float of_a[kDepth / 8][kWide], of_b[kDepth / 8][kWide];
#pragma unroll
  for (unsigned i = 0; i < kDepth; i += 8) {
    load_four(next_a + i, of_a[i / 8]);
    load_four(next_b + i * b.stride, of_b[i / 8]);
  }
  float sum[kPerThread][kPerThread] = {};
  for (unsigned first = 0; first < a.width; first += kDepth) {
    auto& tile_a = tiles_a[first / kDepth % 2];
    auto& tile_b = tiles_b[first / kDepth % 2];
#pragma unroll
    for (unsigned i = 0; i < kDepth; i += 8) {
#pragma unroll
      for (unsigned e = 0; e < kWide; ++e) tile_a[column_a + i + e][row_a] = of_a[i / 8][e];
      store_four(of_b[i / 8], &tile_b[row_b + i][column_b]);
    }
    __syncthreads();  // both tiles are complete; and everyone has read those of the step before
    if (first + kDepth < a.width) {
      next_a += kDepth;
      next_b += std::size_t{kDepth} * b.stride;
#pragma unroll
      for (unsigned i = 0; i < kDepth; i += 8) {
        load_four(next_a + i, of_a[i / 8]);
        load_four(next_b + i * b.stride, of_b[i / 8]);
      }
    }
#pragma unroll
    for (unsigned i = 0; i < kDepth; ++i) {
      float from_a[kPerThread], from_b[kPerThread];
#pragma unroll
      for (unsigned g = 0; g < kGroups; ++g)
        load_four(&tile_b[i][first_of(g, x)], &from_b[g * kWide]);
#pragma unroll
      for (unsigned g = 0; g < kGroups; ++g)
        load_four(&tile_a[i][first_of(g, y)], &from_a[g * kWide]);
#pragma unroll
      for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
        for (unsigned q = 0; q < kPerThread; ++q) sum[r][q] += from_a[r] * from_b[q];
      }
    }
  }
#pragma unroll
  for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
    for (unsigned q = 0; q < kPerThread; q += kWide) {
      const unsigned row = blockIdx.y * kMicroTile + first_of(r / kWide, y) + r % kWide;
      const unsigned column = blockIdx.x * kMicroTile + first_of(q / kWide, x);
      store_four(&sum[r][q], &c.at(row, column));
    }
  }
}

// ---- large_tiles -------------------------------------------------------------------------------

constexpr unsigned kColumns = 256, kAcross = kColumns / kSide;  // of C: per block, per thread

// Rows and columns of a step: two of these are in shared memory.
struct Slice {
  float a[kDepth][kMicroTile + kWide];
  float b[kDepth][kColumns];
};

// 8 x 16 elements per thread: 6 loads from a slice for 128 multiply-adds, not 4 for 64. One block
// per multiprocessor is enough, so a thread may have 255 registers. Its pieces of B are copied past
// them, to shared memory, while the thread goes on. Those of A still pass through registers, a step
// earlier: a copy of 16 bytes cannot turn a row into a column.
__global__ void __launch_bounds__(kThreads, 1) multiply_large_tiles(Matrix a, Matrix b, Matrix c) {
  extern __shared__ __align__(16) float4 dynamic[];
  auto* const slices = reinterpret_cast<Slice*>(dynamic);
  const unsigned t = threadIdx.x;
  const unsigned x = t / 32 % 2 * 8 + t / 2 % 8;
  const unsigned y = t / 64 * 4 + t / 16 % 2 * 2 + t % 2;
  const unsigned row_a = t / 2, column_a = t % 2 * kWide;
  const unsigned row_b = t / 64, column_b = t % 64 * kWide;
  const float* next_a = &a.at(blockIdx.y * kMicroTile + row_a, column_a);
  const float* next_b = &b.at(row_b, blockIdx.x * kColumns + column_b);
#pragma unroll
  for (unsigned i = 0; i < kDepth; i += 4)
    __pipeline_memcpy_async(&slices[0].b[row_b + i][column_b], next_b + i * b.stride, 16);
  __pipeline_commit();
  float of_a[kDepth / 8][kWide];
#pragma unroll
  for (unsigned i = 0; i < kDepth; i += 8) load_four(next_a + i, of_a[i / 8]);
#pragma unroll
  for (unsigned i = 0; i < kDepth; i += 8) {
#pragma unroll
    for (unsigned e = 0; e < kWide; ++e) slices[0].a[column_a + i + e][row_a] = of_a[i / 8][e];
  }
  const unsigned steps = a.width / kDepth;
  if (steps > 1) {
    next_a += kDepth;
    next_b += std::size_t{kDepth} * b.stride;
#pragma unroll
    for (unsigned i = 0; i < kDepth; i += 8) load_four(next_a + i, of_a[i / 8]);
  }
  float sum[kPerThread][kAcross] = {};
  for (unsigned step = 0; step < steps; ++step) {
    __pipeline_wait_prior(0);  // what this thread copies has arrived
    __syncthreads();  // and what all copy; and everyone has read the slice that is filled now
    if (step + 1 < steps) {
      Slice& slice = slices[(step + 1) % 2];
#pragma unroll
      for (unsigned i = 0; i < kDepth; i += 4)
        __pipeline_memcpy_async(&slice.b[row_b + i][column_b], next_b + i * b.stride, 16);
      __pipeline_commit();
#pragma unroll
      for (unsigned i = 0; i < kDepth; i += 8) {
#pragma unroll
        for (unsigned e = 0; e < kWide; ++e) slice.a[column_a + i + e][row_a] = of_a[i / 8][e];
      }
      if (step + 2 < steps) {
        next_a += kDepth;
        next_b += std::size_t{kDepth} * b.stride;
#pragma unroll
        for (unsigned i = 0; i < kDepth; i += 8) load_four(next_a + i, of_a[i / 8]);
      }
    }
    const Slice& slice = slices[step % 2];
#pragma unroll
    for (unsigned i = 0; i < kDepth; ++i) {
      float from_a[kPerThread], from_b[kAcross];
#pragma unroll
      for (unsigned g = 0; g < kAcross / kWide; ++g)
        load_four(&slice.b[i][first_of(g, x)], &from_b[g * kWide]);
#pragma unroll
      for (unsigned g = 0; g < kGroups; ++g)
        load_four(&slice.a[i][first_of(g, y)], &from_a[g * kWide]);
#pragma unroll
      for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
        for (unsigned q = 0; q < kAcross; ++q) sum[r][q] += from_a[r] * from_b[q];
      }
    }
  }
#pragma unroll
  for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
    for (unsigned q = 0; q < kAcross; q += kWide) {
      const unsigned row = blockIdx.y * kMicroTile + first_of(r / kWide, y) + r % kWide;
      const unsigned column = blockIdx.x * kColumns + first_of(q / kWide, x);
      store_four(&sum[r][q], &c.at(row, column));
    }
  }
}

// ---- to_and_fro --------------------------------------------------------------------------------

// The same, except for the order of the multiply-adds: down a column of the thread's elements, and
// up the next one. Each multiply-add shares an operand with the one before it, at the turns too.
__global__ void __launch_bounds__(kThreads, 1) multiply_to_and_fro(Matrix a, Matrix b, Matrix c) {
  extern __shared__ __align__(16) float4 dynamic[];
  auto* const slices = reinterpret_cast<Slice*>(dynamic);
  const unsigned t = threadIdx.x;
  const unsigned x = t / 32 % 2 * 8 + t / 2 % 8;
  const unsigned y = t / 64 * 4 + t / 16 % 2 * 2 + t % 2;
  const unsigned row_a = t / 2, column_a = t % 2 * kWide;
  const unsigned row_b = t / 64, column_b = t % 64 * kWide;
  const float* next_a = &a.at(blockIdx.y * kMicroTile + row_a, column_a);
  const float* next_b = &b.at(row_b, blockIdx.x * kColumns + column_b);
#pragma unroll
  for (unsigned i = 0; i < kDepth; i += 4)
    __pipeline_memcpy_async(&slices[0].b[row_b + i][column_b], next_b + i * b.stride, 16);
  __pipeline_commit();
  float of_a[kDepth / 8][kWide];
#pragma unroll
  for (unsigned i = 0; i < kDepth; i += 8) load_four(next_a + i, of_a[i / 8]);
#pragma unroll
  for (unsigned i = 0; i < kDepth; i += 8) {
#pragma unroll
    for (unsigned e = 0; e < kWide; ++e) slices[0].a[column_a + i + e][row_a] = of_a[i / 8][e];
  }
  const unsigned steps = a.width / kDepth;
  if (steps > 1) {
    next_a += kDepth;
    next_b += std::size_t{kDepth} * b.stride;
#pragma unroll
    for (unsigned i = 0; i < kDepth; i += 8) load_four(next_a + i, of_a[i / 8]);
  }
  float sum[kPerThread][kAcross] = {};
  for (unsigned step = 0; step < steps; ++step) {
    __pipeline_wait_prior(0);  // what this thread copies has arrived
    __syncthreads();  // and what all copy; and everyone has read the slice that is filled now
    if (step + 1 < steps) {
      Slice& slice = slices[(step + 1) % 2];
#pragma unroll
      for (unsigned i = 0; i < kDepth; i += 4)
        __pipeline_memcpy_async(&slice.b[row_b + i][column_b], next_b + i * b.stride, 16);
      __pipeline_commit();
#pragma unroll
      for (unsigned i = 0; i < kDepth; i += 8) {
#pragma unroll
        for (unsigned e = 0; e < kWide; ++e) slice.a[column_a + i + e][row_a] = of_a[i / 8][e];
      }
      if (step + 2 < steps) {
        next_a += kDepth;
        next_b += std::size_t{kDepth} * b.stride;
#pragma unroll
        for (unsigned i = 0; i < kDepth; i += 8) load_four(next_a + i, of_a[i / 8]);
      }
    }
    const Slice& slice = slices[step % 2];
#pragma unroll
    for (unsigned i = 0; i < kDepth; ++i) {
      float from_a[kPerThread], from_b[kAcross];
#pragma unroll
      for (unsigned g = 0; g < kAcross / kWide; ++g)
        load_four(&slice.b[i][first_of(g, x)], &from_b[g * kWide]);
#pragma unroll
      for (unsigned g = 0; g < kGroups; ++g)
        load_four(&slice.a[i][first_of(g, y)], &from_a[g * kWide]);
#pragma unroll
      for (unsigned q = 0; q < kAcross; ++q) {
#pragma unroll
        for (unsigned p = 0; p < kPerThread; ++p) {
          const unsigned r = q % 2 == 0 ? p : kPerThread - 1 - p;
          sum[r][q] += from_a[r] * from_b[q];
        }
      }
    }
  }
#pragma unroll
  for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
    for (unsigned q = 0; q < kAcross; q += kWide) {
      const unsigned row = blockIdx.y * kMicroTile + first_of(r / kWide, y) + r % kWide;
      const unsigned column = blockIdx.x * kColumns + first_of(q / kWide, x);
      store_four(&sum[r][q], &c.at(row, column));
    }
  }
}

// ---- lanes_in_rows -----------------------------------------------------------------------------

// The same, except for the place of each lane. Above, neighbouring lanes stand in pairs, and a load
// from a slice takes two wavefronts. Here the lanes of a warp are four rows of eight: a load from
// slice.b takes four, and a warp's loads at one k 20 instead of 12.
__global__ void __launch_bounds__(kThreads, 1)
    multiply_lanes_in_rows(Matrix a, Matrix b, Matrix c) {
  extern __shared__ __align__(16) float4 dynamic[];
  auto* const slices = reinterpret_cast<Slice*>(dynamic);
  const unsigned t = threadIdx.x;
  const unsigned x = t / 32 % 2 * 8 + t % 8;
  const unsigned y = t / 64 * 4 + t % 32 / 8;
  const unsigned row_a = t / 2, column_a = t % 2 * kWide;
  const unsigned row_b = t / 64, column_b = t % 64 * kWide;
  const float* next_a = &a.at(blockIdx.y * kMicroTile + row_a, column_a);
  const float* next_b = &b.at(row_b, blockIdx.x * kColumns + column_b);
#pragma unroll
  for (unsigned i = 0; i < kDepth; i += 4)
    __pipeline_memcpy_async(&slices[0].b[row_b + i][column_b], next_b + i * b.stride, 16);
  __pipeline_commit();
  float of_a[kDepth / 8][kWide];
#pragma unroll
  for (unsigned i = 0; i < kDepth; i += 8) load_four(next_a + i, of_a[i / 8]);
#pragma unroll
  for (unsigned i = 0; i < kDepth; i += 8) {
#pragma unroll
    for (unsigned e = 0; e < kWide; ++e) slices[0].a[column_a + i + e][row_a] = of_a[i / 8][e];
  }
  const unsigned steps = a.width / kDepth;
  if (steps > 1) {
    next_a += kDepth;
    next_b += std::size_t{kDepth} * b.stride;
#pragma unroll
    for (unsigned i = 0; i < kDepth; i += 8) load_four(next_a + i, of_a[i / 8]);
  }
  float sum[kPerThread][kAcross] = {};
  for (unsigned step = 0; step < steps; ++step) {
    __pipeline_wait_prior(0);  // what this thread copies has arrived
    __syncthreads();  // and what all copy; and everyone has read the slice that is filled now
    if (step + 1 < steps) {
      Slice& slice = slices[(step + 1) % 2];
#pragma unroll
      for (unsigned i = 0; i < kDepth; i += 4)
        __pipeline_memcpy_async(&slice.b[row_b + i][column_b], next_b + i * b.stride, 16);
      __pipeline_commit();
#pragma unroll
      for (unsigned i = 0; i < kDepth; i += 8) {
#pragma unroll
        for (unsigned e = 0; e < kWide; ++e) slice.a[column_a + i + e][row_a] = of_a[i / 8][e];
      }
      if (step + 2 < steps) {
        next_a += kDepth;
        next_b += std::size_t{kDepth} * b.stride;
#pragma unroll
        for (unsigned i = 0; i < kDepth; i += 8) load_four(next_a + i, of_a[i / 8]);
      }
    }
    const Slice& slice = slices[step % 2];
#pragma unroll
    for (unsigned i = 0; i < kDepth; ++i) {
      float from_a[kPerThread], from_b[kAcross];
#pragma unroll
      for (unsigned g = 0; g < kAcross / kWide; ++g)
        load_four(&slice.b[i][first_of(g, x)], &from_b[g * kWide]);
#pragma unroll
      for (unsigned g = 0; g < kGroups; ++g)
        load_four(&slice.a[i][first_of(g, y)], &from_a[g * kWide]);
#pragma unroll
      for (unsigned q = 0; q < kAcross; ++q) {
#pragma unroll
        for (unsigned p = 0; p < kPerThread; ++p) {
          const unsigned r = q % 2 == 0 ? p : kPerThread - 1 - p;
          sum[r][q] += from_a[r] * from_b[q];
        }
      }
    }
  }
#pragma unroll
  for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
    for (unsigned q = 0; q < kAcross; q += kWide) {
      const unsigned row = blockIdx.y * kMicroTile + first_of(r / kWide, y) + r % kWide;
      const unsigned column = blockIdx.x * kColumns + first_of(q / kWide, x);
      store_four(&sum[r][q], &c.at(row, column));
    }
  }
}

// ---- the versions ------------------------------------------------------------------------------

// A call of cuBLAS that fails ends the program.
void ensure(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    on_cuda_failure(std::string(call) + " failed: " + cublasGetStatusString(status));
}

// cuBLAS is column-major: what it sees as B^T * A^T = C^T is the row-major A * B = C.
void multiply_by_cublas(const MatrixProduct& p) {
  static cublasHandle_t handle = nullptr;  // made once: that takes longer than a product
  if (handle == nullptr) ensure(cublasCreate(&handle), "cublasCreate");
  const float one = 1, zero = 0;
  ensure(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, p.c.width, p.c.height, p.a.width, &one,
                     p.b.data, p.b.stride, p.a.data, p.a.stride, &zero, p.c.data, p.c.stride),
         "cublasSgemm");
}

// Any shape. Where a tile reaches past an edge the guards bring zeros.
void launch_guarded(const MatrixProduct& p) {
  const dim3 grid(blocks_for(p.c.width, kMicroTile), blocks_for(p.c.height, kMicroTile));
  multiply_micro_tile_wide<true><<<grid, dim3(kSide, kSide)>>>(p.a, p.b, p.c);
}

// Whether every row begins at a multiple of 16 bytes.
bool is_wide(const Matrix& m) {
  return reinterpret_cast<std::uintptr_t>(m.data) % 16 == 0 && m.stride % kWide == 0;
}

// One block per kMicroTile x kColumnsOfTile elements of C, where such tiles are whole.
template <auto kKernel, unsigned kColumnsOfTile, unsigned kBytes = 0>
void launch(const MatrixProduct& p) {
  const bool whole =
      p.c.height % kMicroTile == 0 && p.c.width % kColumnsOfTile == 0 && p.a.width % kDepth == 0;
  if (!whole || !is_wide(p.a) || !is_wide(p.b) || !is_wide(p.c)) return launch_guarded(p);
  if (kBytes > 48_Ki)  // more than a block gets without asking
    CUDA_CHECK(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kKernel<<<dim3(p.c.width / kColumnsOfTile, p.c.height / kMicroTile), kThreads, kBytes>>>(p.a, p.b,
                                                                                           p.c);
}
constexpr unsigned kBothSlices = 2 * sizeof(Slice);

const Version<MatrixProduct> kVersions[] = {
    {"micro_tile_pairs", "8 x 8 elements of C per thread, as in chapter 08", launch_guarded},
    {"addresses_once", "whole tiles: no guard, and addresses computed once",
     launch<multiply_addresses_once, kMicroTile>},
    {"wide_copies", "16 bytes per load from global memory, and per store",
     launch<multiply_wide_copies, kMicroTile>},
    {"double_buffer", "two slices in shared memory, one barrier per step",
     launch<multiply_double_buffer, kMicroTile>},
    {"b_first", "B's elements are read before A's", launch<multiply_b_first, kMicroTile>},
    {"large_tiles", "128 x 256 elements of C per block, 8 x 16 per thread",
     launch<multiply_large_tiles, kColumns, kBothSlices>},
    {"to_and_fro", "multiply-adds go down a column and up the next",
     launch<multiply_to_and_fro, kColumns, kBothSlices>},
    {"lanes_in_rows", "a warp's lanes lie in rows of eight, not in pairs",
     launch<multiply_lanes_in_rows, kColumns, kBothSlices>},
    {"cublas", "cublasSgemm, FP32 without tensor cores", multiply_by_cublas},
};

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 4096 : 128, n = kOnGpu ? m : 256, k = kOnGpu ? m : 64;
  const Options opt(argc, argv, "14_matmul_at_the_limit", "what does it take to reach cuBLAS?",
                    {{"m", &m, 1, 256_Ki, "rows of A and C"},
                     {"n", &n, 1, 256_Ki, "columns of B and C"},
                     {"k", &k, 1, 256_Ki, "columns of A, rows of B"}});
  ResultTable table(opt, (m * k + k * n + m * n) * sizeof(float));
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));
  if (opt.list) m = n = k = 1;  // nothing runs, so nothing has to be multiplied on the host
  const MatrixProduct product(m, n, k, opt.seed);
  table.each_launch_does(product.amount());
  for (const auto& version : kVersions) table.add(version, product);
  return table.finish();
}
