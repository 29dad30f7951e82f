// SPDX-License-Identifier: MIT
// Which kernel suits which shape of the matrices?
//
// serpentine       large tiles, one block each, as in the chapter's program
// by_shape         the way whose predicted time is the least: choice.cuh
// cublas           the library, which chooses as well
// fragments_ahead  large tiles; a step's first fragments are loaded before the barrier

#include "../../../common/common.cuh"
#include "../choice.cuh"
#include "../cublas_product.cuh"

// A block computes one tile of C.
template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    multiply_tiles(Matrix a, Matrix b, Matrix c) {
  extern __shared__ __align__(128) float4 dynamic[];  // where copies land, in whole sectors
  float* const slices = reinterpret_cast<float*>(dynamic);
  const Place corner =
      corner_in_groups<T>(blockIdx.y * gridDim.x + blockIdx.x, gridDim.y, gridDim.x);
  const unsigned steps = (a.width + T::kDepth - 1) / T::kDepth;
  Sums<T> sums;
  walk_guarding_edges<T>(sums, slices, a, b, corner, place_of_thread<T>(), 0, steps);
  sums.store(c, corner, place_of_thread<T>(), true);
}

constexpr unsigned kRowsOfCopy = 8;  // that a thread copies

// Copies A and B into matrices that are as large or larger; what is beyond their ends becomes 0.
// Blocks with z = 0 copy A, the others B.
__global__ void copy_padded(Matrix a, Matrix padded_a, Matrix b, Matrix padded_b) {
  const Matrix from = blockIdx.z == 0 ? a : b, to = blockIdx.z == 0 ? padded_a : padded_b;
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first_row = blockIdx.y * kRowsOfCopy;
  if (column >= to.width) return;
  float values[kRowsOfCopy];  // all are loaded before any is stored
#pragma unroll
  for (unsigned i = 0; i < kRowsOfCopy; ++i) values[i] = at_or_zero(from, first_row + i, column);
#pragma unroll
  for (unsigned i = 0; i < kRowsOfCopy; ++i)
    if (first_row + i < to.height) to.at(first_row + i, column) = values[i];
}

constexpr unsigned aligned(unsigned width) { return (width + kWide - 1) / kWide * kWide; }

// C = A * B, the way in which it is computed, and the memory for that. Copies of A and B have rows
// that are aligned, continued by zeros.
struct ShapedProduct : MatrixProduct {
  unsigned sms;  // multiprocessors
  ShapeModel shape{a.height, b.width, a.width, rows_are_aligned(a, b), sms};
  Plan plan = shape.best();
  DeviceArray<float> copies{
      plan.copies ? aligned(a.width) * (std::size_t{a.height} + aligned(b.width)) : 0};
  DeviceArray<float> sums{plan.floats};
  DeviceArray<unsigned> tickets{std::vector<unsigned>(plan.tickets, 0)};
  Matrix padded_a = dense_matrix(copies, a.height, aligned(a.width));
  Matrix padded_b = dense_matrix(copies + padded_a.elements(), aligned(a.width), aligned(b.width));
};

// Of dynamic shared memory, for large tiles.
constexpr unsigned kBytes = Turning::kStages * Turning::kSliceBytes;

void launch_tiles(const ShapedProduct& p) {
  const dim3 grid(blocks_for(p.c.width, Turning::kColumns), blocks_for(p.c.height, Turning::kRows));
  CUDA_CHECK(cudaFuncSetAttribute(multiply_tiles<Turning>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  multiply_tiles<Turning><<<grid, Turning::kThreads, kBytes>>>(p.a, p.b, p.c);
}

void launch_by_shape(const ShapedProduct& p) {
  const auto multiply = [&](const Matrix& a, const Matrix& b) {
    launch_plan(p.plan, p.shape, a, b, p.c, p.sums, p.tickets);
  };
  if (!p.plan.copies) return multiply(p.a, p.b);
  constexpr unsigned kBlock = 256;
  const dim3 grid(blocks_for(std::max(p.padded_a.width, p.padded_b.width), kBlock),
                  blocks_for(std::max(p.padded_a.height, p.padded_b.height), kRowsOfCopy), 2);
  copy_padded<<<grid, kBlock>>>(p.a, p.padded_a, p.b, p.padded_b);
  multiply(p.padded_a, p.padded_b);
}

void launch_fragments_ahead(const ShapedProduct& p) {
  CUDA_CHECK(cudaFuncSetAttribute(multiply_any<Turning, true>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const unsigned down = blocks_for(p.c.height, Turning::kRows);
  const unsigned across = blocks_for(p.c.width, Turning::kColumns);
  multiply_any<Turning, true>
      <<<down * across, Turning::kThreads, kBytes>>>(p.a, p.b, p.c, down, across);
}

const Version<ShapedProduct> kVersions[] = {
    {"serpentine", "large tiles, one block each", launch_tiles},
    {"by_shape", "the way whose predicted time is the least", launch_by_shape},
    kCublas<ShapedProduct>,
    {"fragments_ahead", "large tiles, a step's first fragments loaded before the barrier",
     launch_fragments_ahead},
};

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 4096 : 100, n = m, k = m;
  const Options opt(argc, argv, "14_by_shape", "which kernel suits which shape?",
                    {{"m", &m, 1, kMostSide, "rows"},
                     {"n", &n, 1, kMostSide, "columns"},
                     {"k", &k, 1, kMostSide, "terms of an element"}});
  const std::size_t bytes = (m * k + k * n + m * n) * sizeof(float);
  ResultTable table(opt, bytes, bytes);
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));
  if (opt.list) m = n = k = 1;  // nothing runs, so nothing has to be multiplied on the host
  const unsigned sms = table.device.multiProcessorCount;
  const ShapedProduct product{{m, n, k, opt.seed}, sms};
  table.each_launch_does(product.amount());
  for (const auto& version : kVersions) table.add(version, product);
  return table.finish();
}
