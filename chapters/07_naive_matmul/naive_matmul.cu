// SPDX-License-Identifier: MIT
// Chapter 07: what bounds a kernel?
//
// row_per_thread    a thread computes a whole row of C: too few threads
// rows_along_x      a thread per element, neighbouring threads in a column: uncoalesced
// columns_along_x   a thread per element, neighbouring threads in a row: coalesced
// split_inner_loop  the lanes of a warp share one dot product: the wrong loop to split
// C = A * B in float, row-major: A is m x k, B is k x n.
// Run: make run CH=07

#include "../../common/common.cuh"

constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

// The dot product of a row of A and a column of B: two loads for every multiplication and addition.
__device__ float dot(const Matrix& a, const Matrix& b, unsigned row, unsigned column) {
  float sum = 0;
  for (unsigned i = 0; i < a.width; ++i) sum += a.at(row, i) * b.at(i, column);
  return sum;
}

// A thread per row of C, in a handful of blocks: most multiprocessors get none.
__global__ void multiply_row_per_thread(Matrix a, Matrix b, Matrix c) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= c.height) return;  // no barrier follows
  for (unsigned column = 0; column < c.width; ++column) {
    c.at(row, column) = dot(a, b, row, column);
  }
}

// Neighbouring lanes hold neighbouring rows. For every i a warp loads from 32 rows of A,
// a row of A apart: 32 lines for 32 floats. All lanes want the same element of B.
__global__ void multiply_rows_along_x(Matrix a, Matrix b, Matrix c) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < c.height && column < c.width) c.at(row, column) = dot(a, b, row, column);
}

// The same with x and y exchanged. For every i a warp loads one element of A, the same for
// all lanes, and 32 neighbours of B: one line for each of the two loads.
__global__ void multiply_columns_along_x(Matrix a, Matrix b, Matrix c) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < c.height && column < c.width) c.at(row, column) = dot(a, b, row, column);
}

// One element of C per warp: each lane takes every 32nd term of the dot product. The loads of
// A are neighbours now, those of B lie a row of B apart, and no two lanes want the same
// element of either. Then the lanes add up by shuffles, and 31 of them have nothing to store.
__global__ void multiply_split_inner_loop(Matrix a, Matrix b, Matrix c) {
  // 64-bit: there is a warp for every element of C, more than 2^32 of them beyond 65536 x 65536.
  const std::size_t warp =
      static_cast<std::size_t>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  const unsigned lane = threadIdx.x % kWarp;
  // Whole warps leave: the shuffles below miss nobody.
  if (warp >= static_cast<std::size_t>(c.height) * c.width) return;
  const auto row = static_cast<unsigned>(warp / c.width);
  const auto column = static_cast<unsigned>(warp % c.width);
  float sum = 0;
  for (unsigned i = lane; i < a.width; i += kWarp) sum += a.at(row, i) * b.at(i, column);
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(kAllLanes, sum, distance);
  }
  if (lane == 0) c.at(row, column) = sum;
}

// ---- the versions ------------------------------------------------------------------------------

// What the versions read and write, and a block of two dimensions, 32 wide.
struct ProductInBlocks : MatrixProduct {
  dim3 block;
};

const Version<ProductInBlocks> kVersions[] = {
    {"row_per_thread", "a thread computes a whole row of C",
     [](const ProductInBlocks& p) {
       const unsigned block = p.block.x * p.block.y;
       multiply_row_per_thread<<<blocks_for(p.c.height, block), block>>>(p.a, p.b, p.c);
     }},
    {"rows_along_x", "a thread per element, neighbours in a column",
     [](const ProductInBlocks& p) {
       const dim3 grid(blocks_for(p.c.height, p.block.x), blocks_for(p.c.width, p.block.y));
       multiply_rows_along_x<<<grid, p.block>>>(p.a, p.b, p.c);
     }},
    {"columns_along_x", "a thread per element, neighbours in a row",
     [](const ProductInBlocks& p) {
       const dim3 grid(blocks_for(p.c.width, p.block.x), blocks_for(p.c.height, p.block.y));
       multiply_columns_along_x<<<grid, p.block>>>(p.a, p.b, p.c);
     }},
    {"split_inner_loop", "a warp per element, its lanes share the dot product",
     [](const ProductInBlocks& p) {
       // A block has as many warps as it is rows high.
       const unsigned grid = blocks_for(std::size_t{p.c.height} * p.c.width, p.block.y);
       multiply_split_inner_loop<<<grid, p.block.x * p.block.y>>>(p.a, p.b, p.c);
     }},
};

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 2048 : 100, n = m, k = m, block = 256;
  // With sides up to 32 Ki no grid has too many blocks, whatever the block.
  const Options opt(argc, argv, "07_naive_matmul", "what bounds a kernel?",
                    {{"m", &m, 1, 32_Ki, "rows of A and C"},
                     {"n", &n, 1, 32_Ki, "columns of B and C"},
                     {"k", &k, 1, 32_Ki, "columns of A, rows of B"},
                     {"block", &block, kWarp, 1024, "threads per block", kWarp}});
  ResultTable table(opt, (m * k + k * n + m * n) * sizeof(float));
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));

  const ProductInBlocks product{{m, n, k, opt.seed}, dim3(kWarp, block / kWarp)};
  table.each_launch_does(product.amount());
  for (const auto& version : kVersions) table.add(version, product);
  return table.finish();
}
