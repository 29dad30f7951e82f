// SPDX-License-Identifier: MIT
// What do registers bring without a tile, and what does a tile bring without them?
//
//              from global memory   from tiles in shared memory
// 1 element    naive                tiled_16
// 8 x 8        micro_bare           micro_tile
//              micro_unguarded: only blocks at the edge of C ask for it, not every load
//
// All have blocks of 16 x 16 threads.

#include "../../../common/common.cuh"

constexpr unsigned kSide = 16, kPerThread = 8, kMicroTile = kPerThread * kSide, kDepth = 16;

__global__ void multiply_naive(Matrix a, Matrix b, Matrix c) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= c.height || column >= c.width) return;  // no barrier follows
  float sum = 0;
  for (unsigned i = 0; i < a.width; ++i) sum += a.at(row, i) * b.at(i, column);
  c.at(row, column) = sum;
}

// The matrix continued by zeros: what lies past its edge changes no sum.
__device__ float element_or_zero(const Matrix& m, unsigned row, unsigned column) {
  return row < m.height && column < m.width ? m.at(row, column) : 0.0f;
}

// A block computes 16 x 16 elements of C. Each thread brings one element of either tile.
__global__ void multiply_tiled(Matrix a, Matrix b, Matrix c) {
  __shared__ float tile_a[kSide][kSide], tile_b[kSide][kSide];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * kSide + y;
  const unsigned column = blockIdx.x * kSide + x;
  float sum = 0;
  for (unsigned first = 0; first < a.width; first += kSide) {
    tile_a[y][x] = element_or_zero(a, row, first + x);
    tile_b[y][x] = element_or_zero(b, first + y, column);
    __syncthreads();  // both tiles are complete before anyone reads them
    for (unsigned i = 0; i < kSide; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();  // everyone has read before anyone loads the next tiles over these
  }
  if (row < c.height && column < c.width) c.at(row, column) = sum;
}

// 8 x 8 elements of C per thread, kSide apart: each factor is used 8 times.
using Factors = float[kPerThread];
using Sums = float[kPerThread][kPerThread];

__device__ void add_products(Sums& sum, const Factors& from_a, const Factors& from_b) {
#pragma unroll
  for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
    for (unsigned q = 0; q < kPerThread; ++q) sum[r][q] += from_a[r] * from_b[q];
  }
}

__device__ void store_sums(const Matrix& c, const Sums& sum) {
#pragma unroll
  for (unsigned r = 0; r < kPerThread; ++r) {
#pragma unroll
    for (unsigned q = 0; q < kPerThread; ++q) {
      const unsigned row = blockIdx.y * kMicroTile + threadIdx.y + r * kSide;
      const unsigned column = blockIdx.x * kMicroTile + threadIdx.x + q * kSide;
      if (row < c.height && column < c.width) c.at(row, column) = sum[r][q];
    }
  }
}

// The factors come straight from global memory, and no barrier is needed. Each load asks whether it
// lies past an edge.
__device__ void add_to_the_edge(const Matrix& a, const Matrix& b, Sums& sum) {
  const unsigned row = blockIdx.y * kMicroTile + threadIdx.y;
  const unsigned column = blockIdx.x * kMicroTile + threadIdx.x;
#pragma unroll 4
  for (unsigned i = 0; i < a.width; ++i) {
    Factors from_a, from_b;
#pragma unroll
    for (unsigned r = 0; r < kPerThread; ++r) {
      from_a[r] = element_or_zero(a, row + r * kSide, i);
      from_b[r] = element_or_zero(b, i, column + r * kSide);
    }
    add_products(sum, from_a, from_b);
  }
}

// For blocks that lie inside of C: no load asks, and few addresses are computed.
__device__ void add_inside(const Matrix& a, const Matrix& b, Sums& sum) {
  const float* of_a[kPerThread];
#pragma unroll
  for (unsigned r = 0; r < kPerThread; ++r)
    of_a[r] = &a.at(blockIdx.y * kMicroTile + threadIdx.y + r * kSide, 0);
  const float* of_b = &b.at(0, blockIdx.x * kMicroTile + threadIdx.x);
#pragma unroll 4
  for (unsigned i = 0; i < a.width; ++i, of_b += b.stride) {
    Factors from_a, from_b;
#pragma unroll
    for (unsigned r = 0; r < kPerThread; ++r) {
      from_a[r] = of_a[r][i];
      from_b[r] = of_b[r * kSide];
    }
    add_products(sum, from_a, from_b);
  }
}

__global__ void __launch_bounds__(kSide* kSide) multiply_micro_bare(Matrix a, Matrix b, Matrix c) {
  Sums sum = {};
  add_to_the_edge(a, b, sum);
  store_sums(c, sum);
}

// The launch bound holds it to 128 registers, as many as the kernel above takes: two blocks of each
// share a multiprocessor.
__global__ void __launch_bounds__(kSide* kSide, 2)
    multiply_micro_unguarded(Matrix a, Matrix b, Matrix c) {
  Sums sum = {};
  if ((blockIdx.y + 1) * kMicroTile <= c.height && (blockIdx.x + 1) * kMicroTile <= c.width)
    add_inside(a, b, sum);
  else
    add_to_the_edge(a, b, sum);
  store_sums(c, sum);
}

// The same from tiles. That of A is transposed, with a word of padding per row.
__global__ void __launch_bounds__(kSide* kSide) multiply_micro_tile(Matrix a, Matrix b, Matrix c) {
  __shared__ float tile_a[kDepth][kMicroTile + 1], tile_b[kDepth][kMicroTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  Sums sum = {};
  for (unsigned first = 0; first < a.width; first += kDepth) {
    for (unsigned e = y * kSide + x; e < kMicroTile * kDepth; e += kSide * kSide) {
      tile_a[e % kDepth][e / kDepth] =
          element_or_zero(a, blockIdx.y * kMicroTile + e / kDepth, first + e % kDepth);
      tile_b[e / kMicroTile][e % kMicroTile] =
          element_or_zero(b, first + e / kMicroTile, blockIdx.x * kMicroTile + e % kMicroTile);
    }
    __syncthreads();  // both tiles are complete before anyone reads them
#pragma unroll
    for (unsigned i = 0; i < kDepth; ++i) {
      Factors from_a, from_b;
#pragma unroll
      for (unsigned r = 0; r < kPerThread; ++r) {
        from_a[r] = tile_a[i][y + r * kSide];
        from_b[r] = tile_b[i][x + r * kSide];
      }
      add_products(sum, from_a, from_b);
    }
    __syncthreads();  // everyone has read before anyone loads the next tiles over these
  }
  store_sums(c, sum);
}

// One block of kSide x kSide threads per kTile x kTile elements of C.
template <auto kKernel, unsigned kTile>
void launch(const MatrixProduct& p) {
  const dim3 grid(blocks_for(p.c.width, kTile), blocks_for(p.c.height, kTile));
  kKernel<<<grid, dim3(kSide, kSide)>>>(p.a, p.b, p.c);
}

const Version<MatrixProduct> kVersions[] = {
    {"naive", "an element per thread, from global memory", launch<multiply_naive, kSide>},
    {"tiled_16", "an element per thread, from tiles", launch<multiply_tiled, kSide>},
    {"micro_bare", "8 x 8 elements, from global memory", launch<multiply_micro_bare, kMicroTile>},
    {"micro_unguarded", "the same, only blocks at the edge ask for it",
     launch<multiply_micro_unguarded, kMicroTile>},
    {"micro_tile", "8 x 8 elements, from tiles", launch<multiply_micro_tile, kMicroTile>},
};

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 2048 : 100, n = m, k = m;
  const Options opt(argc, argv, "08_without_a_tile", "what do registers bring without a tile?",
                    {{"m", &m, 1, 64_Ki, "rows of A and C"},
                     {"n", &n, 1, 64_Ki, "columns of B and C"},
                     {"k", &k, 1, 64_Ki, "columns of A, rows of B"}});
  ResultTable table(opt, (m * k + k * n + m * n) * sizeof(float));
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));
  const MatrixProduct product(m, n, k, opt.seed);
  table.each_launch_does(product.amount());
  for (const auto& version : kVersions) table.add(version, product);
  return table.finish();
}
