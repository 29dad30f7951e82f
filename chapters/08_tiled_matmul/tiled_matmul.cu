// SPDX-License-Identifier: MIT
// Chapter 08: what does shared memory buy?
//
// naive              a thread per element, straight from global memory, 16 x 16 threads
// tiled_16           16 x 16 tiles of A and B in shared memory
// tiled_32           32 x 32 tiles: half the loads again
// tiled_32_ahead     the next tiles are fetched while the present ones are used
// tiled_32_dynamic   the tiles sized by the launch
// column_conflict    tile of A stored transposed: its columns all lie in one bank
// column_padded      the same with one element of padding per row
// micro_tile         8 x 8 elements of C per thread; ..._padded: two words of padding, not one
// micro_tile_wide    the same, 16 bytes per load from the tiles; ..._pairs: and fewer wavefronts
// cublas             the library
// C = A * B in float, row-major: A is m x k, B is k x n.
// Run: make run CH=08

#include "../../common/common.cuh"
#include "../../common/cublas_row.cuh"
#include "../../common/matrix_product.cuh"

__global__ void multiply_naive(Matrix a, Matrix b, Matrix c) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= c.height || column >= c.width) return;  // no barrier follows
  float sum = 0;
  for (unsigned i = 0; i < a.width; ++i) sum += a.at(row, i) * b.at(i, column);
  c.at(row, column) = sum;
}

// The matrix continued by zeros: a tile at its edge is filled up with what changes no sum.
__device__ float at_or_zero(const Matrix& m, unsigned row, unsigned column) {
  return row < m.height && column < m.width ? m.at(row, column) : 0.0f;
}

// A block computes a kTile x kTile tile of C. It walks along a strip of A and a strip of B,
// tile by tile. Each thread brings one element of either tile, and kTile threads use it.
template <unsigned kTile>
__global__ void multiply_tiled(Matrix a, Matrix b, Matrix c) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + y;
  const unsigned column = blockIdx.x * kTile + x;
  float sum = 0;
  for (unsigned first = 0; first < a.width; first += kTile) {
    tile_a[y][x] = at_or_zero(a, row, first + x);
    tile_b[y][x] = at_or_zero(b, first + y, column);
    __syncthreads();  // both tiles are complete before anyone reads them
    for (unsigned i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();  // everyone has read before anyone loads the next tiles over these
  }
  if (row < c.height && column < c.width) c.at(row, column) = sum;
}

// The same, but the loads of the next tiles are issued before the arithmetic on the present
// ones: the wait for memory and the arithmetic overlap. Two registers per thread buy it. The
// launch bound holds the kernel to 32 registers, so that two blocks of 1024 threads share a
// multiprocessor: one register more would leave room for one.
template <unsigned kTile>
__global__ void __launch_bounds__(kTile* kTile, kThreadsPerMultiprocessor / (kTile * kTile))
    multiply_tiled_ahead(Matrix a, Matrix b, Matrix c) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + y;
  const unsigned column = blockIdx.x * kTile + x;
  float sum = 0;
  float next_a = at_or_zero(a, row, x), next_b = at_or_zero(b, y, column);
  for (unsigned first = 0; first < a.width; first += kTile) {
    tile_a[y][x] = next_a;
    tile_b[y][x] = next_b;
    __syncthreads();  // both tiles are complete before anyone reads them
    next_a = at_or_zero(a, row, first + kTile + x);
    next_b = at_or_zero(b, first + kTile + y, column);
    for (unsigned i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();  // everyone has read before anyone stores the next tiles over these
  }
  if (row < c.height && column < c.width) c.at(row, column) = sum;
}

// Tiles whose size the launch decides. There is one dynamic array; the second tile begins
// where the first one ends. The compiler no longer knows the length of a row of the tile.
__global__ void multiply_tiled_dynamic(Matrix a, Matrix b, Matrix c) {
  extern __shared__ float tiles[];
  const unsigned tile = blockDim.x, x = threadIdx.x, y = threadIdx.y;
  float* const tile_a = tiles;
  float* const tile_b = tiles + tile * tile;
  const unsigned row = blockIdx.y * tile + y;
  const unsigned column = blockIdx.x * tile + x;
  float sum = 0;
  for (unsigned first = 0; first < a.width; first += tile) {
    tile_a[y * tile + x] = at_or_zero(a, row, first + x);
    tile_b[y * tile + x] = at_or_zero(b, first + y, column);
    __syncthreads();  // both tiles are complete before anyone reads them
    for (unsigned i = 0; i < tile; ++i) sum += tile_a[y * tile + i] * tile_b[i * tile + x];
    __syncthreads();  // everyone has read before anyone loads the next tiles over these
  }
  if (row < c.height && column < c.width) c.at(row, column) = sum;
}

// How not to do it: the lanes of a warp store a row of A as a column of the tile, kTile words
// apart. With kTile = 32 that is 32 times the same bank. One word of padding per row moves
// each lane on by one bank.
template <unsigned kTile, unsigned kPadding>
__global__ void multiply_transposed_tile(Matrix a, Matrix b, Matrix c) {
  __shared__ float tile_a[kTile][kTile + kPadding], tile_b[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + y;
  const unsigned column = blockIdx.x * kTile + x;
  float sum = 0;
  for (unsigned first = 0; first < a.width; first += kTile) {
    tile_a[x][y] = at_or_zero(a, row, first + x);
    tile_b[y][x] = at_or_zero(b, first + y, column);
    __syncthreads();  // both tiles are complete before anyone reads them
    for (unsigned i = 0; i < kTile; ++i) sum += tile_a[i][y] * tile_b[i][x];
    __syncthreads();  // everyone has read before anyone loads the next tiles over these
  }
  if (row < c.height && column < c.width) c.at(row, column) = sum;
}

// The outlook: a thread computes 8 x 8 elements of C in registers. For each i it loads 8 + 8
// values from shared memory and does 64 multiply-adds with them: 4 per load, where the tiles
// above do less than one. Its elements are kSide apart: neighbouring lanes read neighbours.
constexpr unsigned kPerThread = 8, kSide = 16, kMicroTile = kPerThread * kSide, kDepth = 16;

// Brings the next kDepth columns of A, transposed, and rows of B. Half a warp stores a row of A
// down a column of the tile, the other half the next row down the next column. With one word of
// padding the halves meet in 15 banks, two wavefronts; with two each lane has its own bank.
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

template <unsigned kPadding>
__global__ void __launch_bounds__(kSide* kSide) multiply_micro_tile(Matrix a, Matrix b, Matrix c) {
  __shared__ float tile_a[kDepth][kMicroTile + kPadding], tile_b[kDepth][kMicroTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  float sum[kPerThread][kPerThread] = {};
  for (unsigned first = 0; first < a.width; first += kDepth) {
    bring_tiles(tile_a, tile_b, a, b, first);
    __syncthreads();  // both tiles are complete before anyone reads them
#pragma unroll
    for (unsigned i = 0; i < kDepth; ++i) {
      float from_a[kPerThread], from_b[kPerThread];
#pragma unroll
      for (unsigned r = 0; r < kPerThread; ++r) {
        from_a[r] = tile_a[i][y + r * kSide];
        from_b[r] = tile_b[i][x + r * kSide];
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
      const unsigned row = blockIdx.y * kMicroTile + y + r * kSide;
      const unsigned column = blockIdx.x * kMicroTile + x + q * kSide;
      if (row < c.height && column < c.width) c.at(row, column) = sum[r][q];
    }
  }
}

#include "wide_loads.cuh"  // the same with loads of 16 bytes

// ---- the versions ------------------------------------------------------------------------------

// One block per `tile` x `tile` elements of C.
dim3 grid_for(const Matrix& c, std::size_t tile) {
  return dim3(static_cast<unsigned>(div_up(c.width, tile)),
              static_cast<unsigned>(div_up(c.height, tile)));
}

const Version<MatrixProduct> kVersions[] = {
    {"naive", "straight from global memory",
     [](const MatrixProduct& p) {
       multiply_naive<<<grid_for(p.c, 16), dim3(16, 16)>>>(p.a, p.b, p.c);
     }},
    {"tiled_16", "16 x 16 tiles in shared memory",
     [](const MatrixProduct& p) {
       multiply_tiled<16><<<grid_for(p.c, 16), dim3(16, 16)>>>(p.a, p.b, p.c);
     }},
    {"tiled_32", "32 x 32 tiles",
     [](const MatrixProduct& p) {
       multiply_tiled<32><<<grid_for(p.c, 32), dim3(32, 32)>>>(p.a, p.b, p.c);
     }},
    {"tiled_32_ahead", "the next tiles fetched ahead",
     [](const MatrixProduct& p) {
       multiply_tiled_ahead<32><<<grid_for(p.c, 32), dim3(32, 32)>>>(p.a, p.b, p.c);
     }},
    {"tiled_32_dynamic", "32 x 32 tiles sized by the launch",
     [](const MatrixProduct& p) {
       constexpr unsigned kTile = 32, kBytes = 2 * kTile * kTile * sizeof(float);
       multiply_tiled_dynamic<<<grid_for(p.c, kTile), dim3(kTile, kTile), kBytes>>>(p.a, p.b, p.c);
     }},
    {"column_conflict", "tile of A transposed: one bank per column",
     [](const MatrixProduct& p) {
       multiply_transposed_tile<32, 0><<<grid_for(p.c, 32), dim3(32, 32)>>>(p.a, p.b, p.c);
     }},
    {"column_padded", "the same with one word of padding per row",
     [](const MatrixProduct& p) {
       multiply_transposed_tile<32, 1><<<grid_for(p.c, 32), dim3(32, 32)>>>(p.a, p.b, p.c);
     }},
    {"micro_tile", "8 x 8 elements of C per thread",
     [](const MatrixProduct& p) {
       multiply_micro_tile<1><<<grid_for(p.c, kMicroTile), dim3(kSide, kSide)>>>(p.a, p.b, p.c);
     }},
    {"micro_tile_padded", "its tile padded by two words instead of one",
     [](const MatrixProduct& p) {
       multiply_micro_tile<2><<<grid_for(p.c, kMicroTile), dim3(kSide, kSide)>>>(p.a, p.b, p.c);
     }},
    {"micro_tile_wide", "16 bytes per load from the tiles",
     [](const MatrixProduct& p) {
       const dim3 grid = grid_for(p.c, kMicroTile), block(kSide, kSide);
       multiply_micro_tile_wide<false><<<grid, block>>>(p.a, p.b, p.c);
     }},
    {"micro_tile_pairs", "the same, pairs of lanes want the same of B",
     [](const MatrixProduct& p) {
       const dim3 grid = grid_for(p.c, kMicroTile), block(kSide, kSide);
       multiply_micro_tile_wide<true><<<grid, block>>>(p.a, p.b, p.c);
     }},
};

int main(int argc, char** argv) {
  Options opt("08_tiled_matmul", "what does shared memory buy?");
  opt.versions(kVersions);
  name_cublas_row(opt);
  ProductShape shape = ProductShape::square(kOnGpu ? 2048 : 100);
  shape.add_options(opt);
  opt.parse(argc, argv);
  const Device device = open_device(opt);
  require_device_memory(opt, "--m, --n, --k", shape.bytes());

  const MatrixProduct product(shape, opt.seed);
  ResultTable table(opt, device, shape.text(), shape.bytes());
  table.rate_in_gflops("peak", device.peak_fp32_gflops());
  add_product_rows(table, kVersions, product);
  add_cublas_row(table, product);
  return table.finish();
}
