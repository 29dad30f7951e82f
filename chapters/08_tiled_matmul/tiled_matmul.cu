// SPDX-License-Identifier: MIT
// Chapter 08: what does shared memory buy?
// C = A * B in float, row-major: A is m x k, B is k x n.
// naive               a thread per element, straight from global memory, 16 x 16 threads
// tiled_16, tiled_32  16 x 16 tiles of A and B in shared memory; 32 x 32: half the loads again
// tiled_32_ahead      the next tiles are fetched while the present ones are used
// tiled_32_dynamic    the tiles sized by the launch
// column_conflict     tile of A stored transposed: its columns all lie in one bank; ..._padded
// micro_tile          8 x 8 elements of C per thread; ..._padded: two words of padding, not one
// micro_tile_wide     16 bytes per load from the tiles; ..._pairs: and fewer wavefronts
// cublas              the library
// Run: make run CH=08

#include <cublas_v2.h>

#include "../../common/common.cuh"

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

// As many threads as a multiprocessor of the GPU being compiled for surely holds ("Technical
// Specifications per Compute Capability" in the CUDA C++ Programming Guide).
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ <= 720 || __CUDA_ARCH__ == 800 || \
    __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
constexpr unsigned kThreadsPerMultiprocessor = 2048;
#else
constexpr unsigned kThreadsPerMultiprocessor = 1024;
#endif

// The same, but the loads of the next tiles are issued before the arithmetic on the present
// ones: the wait for memory and the arithmetic overlap. Two variables per thread hold them. The
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

// The micro tile with loads of 16 bytes. A thread's elements come in groups of four: one load from
// a tile brings four.
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

// One block per kTile x kTile elements of C, with kThreads x kThreads threads: one per element, if
// not said otherwise. kBytes is the dynamic shared memory.
template <auto kKernel, unsigned kTile, unsigned kThreads = kTile, unsigned kBytes = 0>
void launch(const MatrixProduct& p) {
  const dim3 grid(blocks_for(p.c.width, kTile), blocks_for(p.c.height, kTile));
  kKernel<<<grid, dim3(kThreads, kThreads), kBytes>>>(p.a, p.b, p.c);
}
constexpr unsigned kTwoTiles = 2 * 32 * 32 * sizeof(float);  // of 32 x 32: bytes, not elements

const Version<MatrixProduct> kVersions[] = {
    {"naive", "straight from global memory", launch<multiply_naive, 16>},
    {"tiled_16", "16 x 16 tiles in shared memory", launch<multiply_tiled<16>, 16>},
    {"tiled_32", "32 x 32 tiles", launch<multiply_tiled<32>, 32>},
    {"tiled_32_ahead", "the next tiles fetched ahead", launch<multiply_tiled_ahead<32>, 32>},
    {"tiled_32_dynamic", "32 x 32 tiles sized by the launch",
     launch<multiply_tiled_dynamic, 32, 32, kTwoTiles>},
    {"column_conflict", "tile of A transposed: one bank per column",
     launch<multiply_transposed_tile<32, 0>, 32>},
    {"column_padded", "the same with one word of padding per row",
     launch<multiply_transposed_tile<32, 1>, 32>},
    {"micro_tile", "8 x 8 elements of C per thread",
     launch<multiply_micro_tile<1>, kMicroTile, kSide>},
    {"micro_tile_padded", "its tile padded by two words instead of one",
     launch<multiply_micro_tile<2>, kMicroTile, kSide>},
    {"micro_tile_wide", "16 bytes per load from the tiles",
     launch<multiply_micro_tile_wide<false>, kMicroTile, kSide>},
    {"micro_tile_pairs", "the same, pairs of lanes want the same of B",
     launch<multiply_micro_tile_wide<true>, kMicroTile, kSide>},
    {"cublas", "cublasSgemm, FP32 without tensor cores", multiply_by_cublas},
};

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 2048 : 100, n = m, k = m;
  const Options opt(argc, argv, "08_tiled_matmul", "what does shared memory buy?",
                    {{"m", &m, 1, 256_Ki, "rows of A and C"},
                     {"n", &n, 1, 256_Ki, "columns of B and C"},
                     {"k", &k, 1, 256_Ki, "columns of A, rows of B"}});
  ResultTable table(opt, (m * k + k * n + m * n) * sizeof(float));
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));
  const MatrixProduct product(m, n, k, opt.seed);
  table.each_launch_does(product.amount());
  for (const auto& version : kVersions) table.add(version, product);
  return table.finish();
}
