// SPDX-License-Identifier: MIT
// Chapter 15: products with few rows, few columns or few terms. One matrix is streamed, the thin
// one lies in shared memory.
#pragma once

#include "../../common/common.cuh"
#include "tile.cuh"

constexpr unsigned kThinThreads = 256;
/// The terms that a block takes at most, where a thin matrix has `thin` rows or columns: they lie
/// in shared memory, at most 32 KiB of it.
__host__ __device__ constexpr unsigned most_of_k(unsigned thin) {
  return thin > 8 ? 512 : thin > 4 ? 1024 : thin > 2 ? 2048 : 4096;
}

/// Where blocks leave sums that others complete.
struct Parts {
  float* sums;        ///< for each part along k a matrix like C, dense
  unsigned* tickets;  ///< one for each group of rows or columns
  unsigned depth;     ///< of a block's part

  /// Where the block stores its sums: in C, if no other block has a part of them.
  __device__ Matrix target(const Matrix& c) const {
    if (gridDim.y == 1) return c;
    const std::size_t all = std::size_t{c.height} * c.width;
    return {sums + blockIdx.y * all, c.height, c.width, c.width};
  }
};

/// Adds what the blocks of a group (blockIdx.x) have left, if this is the last of them. Called by
/// all threads; [row, row + rows) x [column, column + columns) of C belongs to the group.
__device__ inline void add_parts(const Matrix& c, const Parts& parts, unsigned row, unsigned rows,
                                 unsigned column, unsigned columns) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(&parts.tickets[blockIdx.x], 1u) + 1 == gridDim.y;
    if (is_last) parts.tickets[blockIdx.x] = 0;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  const std::size_t all = std::size_t{c.height} * c.width;
  for (unsigned i = threadIdx.x; i < rows * columns; i += kThinThreads) {
    const unsigned r = row + i / columns, q = column + i % columns;
    float sum = 0;
#pragma unroll 8
    for (unsigned part = 0; part < gridDim.y; ++part)
      sum += parts.sums[part * all + std::size_t{r} * c.width + q];
    c.at(r, q) = sum;
  }
}

/// C has at most M rows. A block has kColumns columns; its threads are that many in each of kAlong
/// groups, which share k. Loads of B run one step ahead of the products, and the first ones begin
/// before A's part is copied.
template <unsigned M, unsigned kColumns>
__global__ void __launch_bounds__(kThinThreads)
    multiply_few_rows(Matrix a, Matrix b, Matrix c, Parts parts) {
  constexpr unsigned kAlong = kThinThreads / kColumns;
  constexpr unsigned kAhead = M <= 4 ? 16 : 8, kStep = kAhead * kAlong;
  static_assert(most_of_k(M) % kStep == 0, "a part fits, rounded up to whole steps");
  __shared__ alignas(16) float of_a[most_of_k(M)][M];
  const unsigned along = threadIdx.x / kColumns, mine = threadIdx.x % kColumns;
  const unsigned first = blockIdx.y * parts.depth, count = min(parts.depth, a.width - first);
  const unsigned corner = blockIdx.x * kColumns;
  const float* from = &b.at(first + along, min(corner + mine, b.width - 1));
  const std::size_t row = std::size_t{kAlong} * b.stride;
  const auto load = [&](float(&x)[kAhead], unsigned k) {
#pragma unroll
    for (unsigned i = 0; i < kAhead; ++i) x[i] = k + i * kAlong < count ? from[i * row] : 0;
    from += kAhead * row;
  };
  float x[kAhead], sums[M] = {};
  load(x, along);
  // Behind the part there are zeros, up to a whole step.
  for (unsigned k = threadIdx.x; k < (count + kStep - 1) / kStep * kStep; k += kThinThreads)
#pragma unroll
    for (unsigned r = 0; r < M; ++r) of_a[k][r] = k < count ? at_or_zero(a, r, first + k) : 0;
  __syncthreads();
  for (unsigned k = along; k < count; k += kStep) {
    float next[kAhead];
    load(next, k + kStep);
#pragma unroll
    for (unsigned i = 0; i < kAhead; ++i) {
#pragma unroll
      for (unsigned r = 0; r < M; ++r) sums[r] += of_a[k + i * kAlong][r] * x[i];
      x[i] = next[i];
    }
  }
  static_assert(kAlong * kColumns <= most_of_k(M), "the sums of warps fit where A was");
  auto& of_warps = reinterpret_cast<float(&)[kAlong][M][kColumns]>(of_a);
  __syncthreads();  // everyone has read A's part
#pragma unroll
  for (unsigned r = 0; r < M; ++r) of_warps[along][r][mine] = sums[r];
  __syncthreads();
  const unsigned columns = min(kColumns, c.width - corner);
  const Matrix out = parts.target(c);
  for (unsigned i = threadIdx.x; i < c.height * kColumns; i += kThinThreads) {
    const unsigned r = i / kColumns, q = i % kColumns;
    float sum = 0;
#pragma unroll
    for (unsigned w = 0; w < kAlong; ++w) sum += of_warps[w][r][q];
    if (q < columns) out.at(r, corner + q) = sum;
  }
  if (gridDim.y > 1) add_parts(c, parts, 0, c.height, corner, columns);
}

/// C has at most N columns. kSharers threads share k, and have kRows rows of A: 8 lanes where rows
/// are short, a block where they are few.
template <unsigned N, unsigned kSharers, unsigned kRows>
__global__ void __launch_bounds__(kThinThreads)
    multiply_few_columns(Matrix a, Matrix b, Matrix c, Parts parts) {
  constexpr unsigned kGroups = kThinThreads / kSharers, kRowsOfBlock = kGroups * kRows;
  constexpr unsigned kFit = most_of_k(N) / kSharers, kWanted = (N <= 2 ? 16 : 8) / kRows;
  constexpr unsigned kAhead = kFit < kWanted ? kFit : kWanted, kStep = kAhead * kSharers;
  static_assert(most_of_k(N) % kStep == 0, "a part fits, rounded up to whole steps");
  __shared__ float of_b[N][most_of_k(N)];
  const unsigned group = threadIdx.x / kSharers, mine = threadIdx.x % kSharers;
  const unsigned first = blockIdx.y * parts.depth, count = min(parts.depth, a.width - first);
  const unsigned corner = blockIdx.x * kRowsOfBlock, row = corner + group * kRows;
  const float* from[kRows];
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r) from[r] = &a.at(min(row + r, a.height - 1), first);
  const auto load = [&](float(&x)[kRows][kAhead], unsigned k) {
#pragma unroll
    for (unsigned i = 0; i < kAhead; ++i)
#pragma unroll
      for (unsigned r = 0; r < kRows; ++r)
        x[r][i] = k + i * kSharers < count ? from[r][k + i * kSharers] : 0;
  };
  float x[kRows][kAhead], sums[kRows][N] = {};
  load(x, mine);
  for (unsigned k = threadIdx.x; k < (count + kStep - 1) / kStep * kStep; k += kThinThreads)
#pragma unroll
    for (unsigned q = 0; q < N; ++q) of_b[q][k] = k < count ? at_or_zero(b, first + k, q) : 0;
  __syncthreads();  // all of B's part is there
  for (unsigned k = mine; k < count; k += kStep) {
    float next[kRows][kAhead];
    load(next, k + kStep);
#pragma unroll
    for (unsigned i = 0; i < kAhead; ++i) {
#pragma unroll
      for (unsigned q = 0; q < N; ++q) {
        const float factor = of_b[q][k + i * kSharers];
#pragma unroll
        for (unsigned r = 0; r < kRows; ++r) sums[r][q] += x[r][i] * factor;
      }
#pragma unroll
      for (unsigned r = 0; r < kRows; ++r) x[r][i] = next[r][i];
    }
  }
  const Matrix out = parts.target(c);
  constexpr unsigned kLanes = kSharers < 32 ? kSharers : 32, kWarps = kSharers / kLanes;
  __shared__ float of_warps[kWarps][kRows][N];
#pragma unroll
  for (unsigned r = 0; r < kRows; ++r)
#pragma unroll
    for (unsigned q = 0; q < N; ++q) {
      float sum = sums[r][q];
#pragma unroll
      for (unsigned step = kLanes / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
      if (kWarps > 1 && mine % 32 == 0) of_warps[mine / 32][r][q] = sum;
      if (kWarps == 1 && mine == 0 && row + r < c.height && q < c.width) out.at(row + r, q) = sum;
    }
  if (kWarps > 1) {  // the block has kRows rows
    __syncthreads();
    const unsigned r = threadIdx.x / N, q = threadIdx.x % N;
    if (r < kRows && row + r < c.height && q < c.width) {
      float sum = 0;
#pragma unroll
      for (unsigned w = 0; w < kWarps; ++w) sum += of_warps[w][r][q];
      out.at(row + r, q) = sum;
    }
  }
  if (gridDim.y > 1) add_parts(c, parts, corner, min(kRowsOfBlock, c.height - corner), 0, c.width);
}

/// Few terms: what takes time is to write C. A lane has columns that are 32 apart.
static __global__ void __launch_bounds__(kThinThreads)
    multiply_few_terms(Matrix a, Matrix b, Matrix c) {
  constexpr unsigned kDown = 4, kAcross = 4;
  const unsigned row = (blockIdx.y * (kThinThreads / 32) + threadIdx.x / 32) * kDown;
  const unsigned column = blockIdx.x * 32 * kAcross + threadIdx.x % 32;
  if (row >= c.height) return;
  float sums[kDown][kAcross] = {};
  for (unsigned k = 0; k < a.width; ++k) {
    float x[kDown], y[kAcross];
#pragma unroll
    for (unsigned r = 0; r < kDown; ++r) x[r] = a.at(min(row + r, a.height - 1), k);
#pragma unroll
    for (unsigned q = 0; q < kAcross; ++q) y[q] = b.at(k, min(column + q * 32, b.width - 1));
#pragma unroll
    for (unsigned r = 0; r < kDown; ++r)
#pragma unroll
      for (unsigned q = 0; q < kAcross; ++q) sums[r][q] += x[r] * y[q];
  }
#pragma unroll
  for (unsigned r = 0; r < kDown; ++r)
#pragma unroll
    for (unsigned q = 0; q < kAcross; ++q)
      if (row + r < c.height && column + q * 32 < c.width)
        c.at(row + r, column + q * 32) = sums[r][q];
}
