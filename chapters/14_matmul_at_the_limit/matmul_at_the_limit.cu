// SPDX-License-Identifier: MIT
// Chapter 14: what does it take to reach cuBLAS?
// C = A * B in float, row-major: A is m x k, B is k x n.
// micro_tile, wide_copies  8 x 8 elements per thread, as in chapter 08; 16 bytes per load and store
// warp_tiles               a warp's 32 threads lie 8 x 4
// registers_ahead          the next values are loaded while the present ones are multiplied
// two_stages, async_copies two slices in shared memory, one barrier per step; three, B's copied
// large_tiles              128 x 256 elements of C per block, 8 x 16 per thread
// edges_guarded            tiles that need no guard ask once
// grouped_tiles            tiles in an order that the L2 likes
// serpentine, cublas       products ordered so that fewer registers are read; the library
// Run: make run CH=14

#include "../../common/common.cuh"
#include "cublas_product.cuh"
#include "tile.cuh"  // a tile of C: who brings, multiplies and stores what
#include "walk.cuh"  // the walk along k with copies in flight

// Loads the thread's pieces of B's slice into registers.
template <class T>
__device__ void fetch_b(float4 (&pieces)[T::kPiecesOfB], const Matrix& b, unsigned first,
                        unsigned first_column, Access access) {
#pragma unroll
  for (unsigned i = 0; i < T::kPiecesOfB; ++i) {
    const Place p = piece_of_b<T>(i);
    pieces[i] = four_of(b, first + p.row, first_column + p.column, access);
  }
}

template <class T>
__device__ void store_b(float* slice_of_b, const float4 (&pieces)[T::kPiecesOfB]) {
#pragma unroll
  for (unsigned i = 0; i < T::kPiecesOfB; ++i) {
    const Place p = piece_of_b<T>(i);
    *reinterpret_cast<float4*>(&slice_of_b[p.row * T::kColumns + p.column]) = pieces[i];
  }
}

// A block computes one tile of C: brings a slice of A and of B, multiplies them, and so on along k.
template <class T, bool kWideCopies, bool kAhead>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    multiply_in_turn(Matrix a, Matrix b, Matrix c) {
  __shared__ alignas(16) float slice_of_a[T::kSliceOfA], slice_of_b[T::kSliceOfB];
  const Place corner = {blockIdx.y * T::kRows, blockIdx.x * T::kColumns};
  const Place place = place_of_thread<T>();
  Access tile = access_for<T>(a, b, corner);
  tile.wide = tile.wide && kWideCopies;
  Sums<T> sums;
  for (unsigned k = 0; k < a.width; k += T::kDepth) {
    float4 of_a[T::kPiecesOfA], of_b[T::kPiecesOfB];
    fetch_a<T>(of_a, a, corner.row, k, access_at<T>(tile, a, k));
    fetch_b<T>(of_b, b, k, corner.column, access_at<T>(tile, a, k));
    store_a<T>(slice_of_a, of_a);
    store_b<T>(slice_of_b, of_b);
    __syncthreads();  // both slices are complete before anyone reads them
    if (kAhead) sums.add_step_ahead(slice_of_a, slice_of_b, place);
    if (!kAhead) sums.add_step(slice_of_a, slice_of_b, place);
    __syncthreads();  // everyone has read before anyone stores the next slices over these
  }
  sums.store(c, corner, place, kWideCopies);
}

// Two slices of either matrix in turn: one is multiplied while the next is loaded into registers.
// It is stored where no thread is still reading, so one barrier per step is enough.
template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    multiply_two_stages(Matrix a, Matrix b, Matrix c) {
  extern __shared__ __align__(128) float4 dynamic[];
  float* const slices = reinterpret_cast<float*>(dynamic);
  const Place corner = {blockIdx.y * T::kRows, blockIdx.x * T::kColumns};
  const Place place = place_of_thread<T>();
  const Access tile = access_for<T>(a, b, corner);
  float4 of_a[T::kPiecesOfA], of_b[T::kPiecesOfB];
  const auto fetch = [&](unsigned k) {
    fetch_a<T>(of_a, a, corner.row, k, access_at<T>(tile, a, k));
    fetch_b<T>(of_b, b, k, corner.column, access_at<T>(tile, a, k));
  };
  Sums<T> sums;
  fetch(0);
  for (unsigned k = 0; k < a.width; k += T::kDepth) {
    float* const slice = slices + k / T::kDepth % 2 * T::kSlice;
    store_a<T>(slice, of_a);
    store_b<T>(slice + T::kSliceOfA, of_b);
    __syncthreads();  // the slice is complete; and everyone has read the one before
    if (k + T::kDepth < a.width) fetch(k + T::kDepth);
    sums.add_step_ahead(slice, slice + T::kSliceOfA, place);
  }
  sums.store(c, corner, place, true);
}

// B is copied past the registers, kStages slices are in shared memory.
template <class T, bool kAsksOnce, bool kInGroups>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    multiply_async(Matrix a, Matrix b, Matrix c) {
  extern __shared__ __align__(128) float4 dynamic[];  // where copies land, in whole sectors
  float* const slices = reinterpret_cast<float*>(dynamic);
  const Place corner =
      kInGroups ? corner_in_groups<T>(blockIdx.y * gridDim.x + blockIdx.x, gridDim.y, gridDim.x)
                : Place{blockIdx.y * T::kRows, blockIdx.x * T::kColumns};
  const Place place = place_of_thread<T>();
  const unsigned steps = (a.width + T::kDepth - 1) / T::kDepth;
  Sums<T> sums;
  if (kAsksOnce) {
    walk_guarding_edges<T>(sums, slices, a, b, corner, place, 0, steps);
  } else {
    walk<T>(sums, slices, guarded_slices<T>(a, b, corner, 0), place, steps);
  }
  sums.store(c, corner, place, true);
}

// ---- the versions ------------------------------------------------------------------------------

// A product, with a column of its own in the table: the largest error of an element of C, as a part
// of what it may be.
struct BoundedProduct : MatrixProduct {
  using MatrixProduct::MatrixProduct;

  double error_of_bound() const {
    const std::vector<float> found = download();
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      worst = std::max(worst, std::abs(found[i] - expected[i]) / tolerance[i]);
    return worst;
  }
};

// One block per tile of C, with so many slices of A and B in dynamic shared memory.
template <auto kKernel, class T, unsigned kSlices = T::kStages>
void launch(const BoundedProduct& p) {
  constexpr unsigned kBytes = kSlices * T::kSliceBytes;
  if (kBytes > 48_Ki)  // more than a block gets without asking
    CUDA_CHECK(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const dim3 grid(blocks_for(p.c.width, T::kColumns), blocks_for(p.c.height, T::kRows));
  kKernel<<<grid, T::kThreads, kBytes>>>(p.a, p.b, p.c);
}

const Version<BoundedProduct> kVersions[] = {
    {"micro_tile", "8 x 8 elements of C per thread, as in chapter 08",
     launch<multiply_in_turn<Flat, false, false>, Flat, 0>},
    {"wide_copies", "16 bytes per load from global memory, and per store",
     launch<multiply_in_turn<Flat, true, false>, Flat, 0>},
    {"warp_tiles", "a warp's threads lie 8 x 4",
     launch<multiply_in_turn<Square, true, false>, Square, 0>},
    {"registers_ahead", "the next values loaded while the present ones are multiplied",
     launch<multiply_in_turn<Square, true, true>, Square, 0>},
    {"two_stages", "two slices in shared memory, one barrier per step",
     launch<multiply_two_stages<Square>, Square, 2>},
    {"async_copies", "three slices, B copied past the registers",
     launch<multiply_async<Square, false, false>, Square>},
    {"large_tiles", "128 x 256 elements of C per block, 8 x 16 per thread",
     launch<multiply_async<Large, false, false>, Large>},
    {"edges_guarded", "tiles that need no guard ask once",
     launch<multiply_async<Large, true, false>, Large>},
    {"grouped_tiles", "tiles in an order that the L2 likes",
     launch<multiply_async<Large, true, true>, Large>},
    {"serpentine", "a thread's products in an order that saves reads of registers",
     launch<multiply_async<Turning, true, true>, Turning>},
};

void add_row(ResultTable& table, const Version<BoundedProduct>& version, const BoundedProduct& p) {
  table.add(
      version.name, p, [&] { version.launch(p); },
      [&] {
        table.next_row_has(p.error_of_bound());
        return p.is_right(version.name);
      },
      version.summary);
}

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 4096 : 100, n = m, k = m;
  const Options opt(argc, argv, "14_matmul_at_the_limit", "what does it take to reach cuBLAS?",
                    {{"m", &m, 1, kMostSide, "rows of A and C"},
                     {"n", &n, 1, kMostSide, "columns of B and C"},
                     {"k", &k, 1, kMostSide, "columns of A, rows of B"}});
  ResultTable table(opt, (m * k + k * n + m * n) * sizeof(float), 0, {"of_bound"});
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));
  if (opt.list) m = n = k = 1;  // nothing runs, so nothing has to be multiplied on the host

  const BoundedProduct product(m, n, k, opt.seed);
  table.each_launch_does(product.amount());
  for (const auto& version : kVersions) add_row(table, version, product);
  add_row(table, kCublas<BoundedProduct>, product);
  return table.finish();
}
