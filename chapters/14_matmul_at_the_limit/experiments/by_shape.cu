// SPDX-License-Identifier: MIT
// Which kernel suits which shape of the matrices?
//
// serpentine  large tiles, one block each
// by_shape    serpentine, or small tiles in even shares; what is not aligned is copied first
// cublas      the library, which chooses as well

#include "../../../common/common.cuh"
#include "../cublas_product.cuh"
#include "../tile.cuh"
#include "../walk.cuh"
#include "../work_shares.cuh"

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

unsigned whole(unsigned side, unsigned piece) {
  return static_cast<unsigned>(div_up(side, piece) * piece);
}

// C = A * B, and what the choice needs besides. The copies of A and B are continued by zeros to
// whole tiles and whole steps: their rows are aligned, and no tile lies at an edge.
struct ShapedProduct : MatrixProduct {
  ShapedProduct(MatrixProduct&& product, int sms)
      : MatrixProduct(std::move(product)),
        multiprocessors(static_cast<unsigned>(sms)),
        needs_copies(!is_wide(a) || !is_wide(b)),
        m(whole(a.height, Turning::kRows)),
        n(whole(b.width, Turning::kColumns)),
        k(whole(a.width, Turning::kDepth)),
        copies(needs_copies ? std::size_t{k} * (std::size_t{m} + n) : 0),
        padded_a{copies, m, k, k},
        padded_b{copies + std::size_t{m} * k, k, n, n} {}

  unsigned multiprocessors;
  bool needs_copies;  // A or B cannot be copied 16 bytes at a time where it is
  unsigned m, n, k;   // of the copies
  DeviceArray<float> copies;
  Matrix padded_a, padded_b;
  EvenShares<Small> shares;
};

dim3 grid_of(std::size_t width, std::size_t height, unsigned columns, unsigned rows) {
  return {blocks_for(width, columns), blocks_for(height, rows)};
}

void launch_tiles(const Matrix& a, const Matrix& b, const Matrix& c) {
  constexpr unsigned kBytes = Turning::kStages * Turning::kSliceBytes;
  const dim3 grid = grid_of(c.width, c.height, Turning::kColumns, Turning::kRows);
  CUDA_CHECK(cudaFuncSetAttribute(multiply_tiles<Turning>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  multiply_tiles<Turning><<<grid, Turning::kThreads, kBytes>>>(a, b, c);
}

// Large tiles if there is one for nearly every multiprocessor: with fewer, too much would have to
// be put together. Else small ones in even shares.
void launch_by_shape(const ShapedProduct& p) {
  const bool copies = p.needs_copies;
  const Matrix a = copies ? p.padded_a : p.a, b = copies ? p.padded_b : p.b;
  if (copies) {
    constexpr unsigned kBlock = 256;
    dim3 grid = grid_of(std::max(p.k, p.n), std::max(p.m, p.k), kBlock, kRowsOfCopy);
    grid.z = 2;
    copy_padded<<<grid, kBlock>>>(p.a, a, p.b, b);
  }
  const dim3 tiles = grid_of(p.c.width, p.c.height, Turning::kColumns, Turning::kRows);
  const bool large = std::size_t{10} * tiles.x * tiles.y >= std::size_t{9} * p.multiprocessors;
  large ? launch_tiles(a, b, p.c) : p.shares.launch(a, b, p.c);
}

const Version<ShapedProduct> kVersions[] = {
    {"serpentine", "large tiles, one block each",
     [](const ShapedProduct& p) { launch_tiles(p.a, p.b, p.c); }},
    {"by_shape", "or small tiles in even shares; what is not aligned is copied", launch_by_shape},
    kCublas<ShapedProduct>,
};

int main(int argc, char** argv) {
  constexpr std::size_t kMost = 256_Ki;  // grids stay within their limits
  std::size_t m = kOnGpu ? 4096 : 100, n = m, k = m;
  const Options opt(argc, argv, "14_by_shape", "which kernel suits which shape?",
                    {{"m", &m, 1, kMost, "rows"},
                     {"n", &n, 1, kMost, "columns"},
                     {"k", &k, 1, kMost, "terms of an element"}});
  const Device device = open_device(opt);
  const std::size_t bytes = (m * k + k * n + m * n) * sizeof(float);
  ResultTable table(opt, bytes, bytes);
  table.rate_in("GFLOP/s", "peak", device.peak_fp32_gflops());
  if (opt.list) m = n = k = 1;  // nothing runs, so nothing has to be multiplied on the host
  const ShapedProduct product({m, n, k, opt.seed}, device.multiProcessorCount);
  for (const auto& version : kVersions) table.add(version, product);
  return table.finish();
}
