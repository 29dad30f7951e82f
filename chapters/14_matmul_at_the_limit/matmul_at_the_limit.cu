// SPDX-License-Identifier: MIT
// Chapter 14: what does it take to reach cuBLAS?
//
// micro_tile       8 x 8 elements of C per thread, as in chapter 08
// wide_copies      16 bytes per load from global memory, and per store to C
// warp_tiles       a warp's 32 threads lie 8 x 4
// registers_ahead  the next values are loaded while the present ones are multiplied
// two_stages       two slices of A and B in shared memory: one barrier per step
// async_copies     three, those of B copied past the registers
// large_tiles      128 x 256 elements of C per block, 8 x 16 per thread
// edges_guarded    tiles that need no guard ask once
// grouped_tiles    tiles in an order that the L2 likes
// serpentine       products ordered so that fewer registers are read
// even_shares      every block gets as many steps as every other
// by_shape         serpentine, or small tiles in even shares; what is not aligned is copied first
// multiply_adds    as many multiply-adds, and nothing else
// cublas           the library
// C = A * B in float, row-major: A is m x k, B is k x n.
// Run: make run CH=14

#include "../../common/common.cuh"
#include "../../common/cublas_row.cuh"
#include "../../common/matrix_product.cuh"
#include "../../common/multiply_adds.cuh"
#include "tile.cuh"  // a tile of C: who brings, multiplies and stores what

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
// It is stored where nobody reads any more, so one barrier per step is enough.
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

#include "walk.cuh"  // the walk along k with copies under way

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
    walk<T>(sums, slices, GuardedSlices<T>(a, b, corner, 0), place, steps);
  }
  sums.store(c, corner, place, true);
}

#include "even_shares.cuh"  // the work divided by steps, not by tiles

// ---- the versions ------------------------------------------------------------------------------

// One block per tile of C.
template <class T>
dim3 grid_for(const Matrix& c) {
  return dim3(static_cast<unsigned>(div_up(c.width, T::kColumns)),
              static_cast<unsigned>(div_up(c.height, T::kRows)));
}

constexpr unsigned kLargeBytes = Large::kStages * Large::kSliceBytes;

void launch_serpentine(const Matrix& a, const Matrix& b, const Matrix& c) {
  const dim3 grid = grid_for<Turning>(c);
  allow_dynamic_shared(multiply_async<Turning, true, true>, kLargeBytes);
  multiply_async<Turning, true, true><<<grid, Turning::kThreads, kLargeBytes>>>(a, b, c);
}

#include "by_shape.cuh"  // which of them for which shape

const Version<Product> kVersions[] = {
    {"micro_tile", "8 x 8 elements of C per thread, as in chapter 08",
     [](const Product& p) {
       multiply_in_turn<Flat, false, false><<<grid_for<Flat>(p.c), Flat::kThreads>>>(p.a, p.b, p.c);
     }},
    {"wide_copies", "16 bytes per load from global memory, and per store",
     [](const Product& p) {
       multiply_in_turn<Flat, true, false><<<grid_for<Flat>(p.c), Flat::kThreads>>>(p.a, p.b, p.c);
     }},
    {"warp_tiles", "a warp's threads lie 8 x 4",
     [](const Product& p) {
       const dim3 grid = grid_for<Square>(p.c);
       multiply_in_turn<Square, true, false><<<grid, Square::kThreads>>>(p.a, p.b, p.c);
     }},
    {"registers_ahead", "the next values loaded while the present ones are multiplied",
     [](const Product& p) {
       const dim3 grid = grid_for<Square>(p.c);
       multiply_in_turn<Square, true, true><<<grid, Square::kThreads>>>(p.a, p.b, p.c);
     }},
    {"two_stages", "two slices in shared memory, one barrier per step",
     [](const Product& p) {
       const dim3 grid = grid_for<Square>(p.c);
       multiply_two_stages<Square>
           <<<grid, Square::kThreads, 2 * Square::kSliceBytes>>>(p.a, p.b, p.c);
     }},
    {"async_copies", "three slices, B copied past the registers",
     [](const Product& p) {
       constexpr unsigned kBytes = Square::kStages * Square::kSliceBytes;
       const dim3 grid = grid_for<Square>(p.c);
       allow_dynamic_shared(multiply_async<Square, false, false>, kBytes);
       multiply_async<Square, false, false><<<grid, Square::kThreads, kBytes>>>(p.a, p.b, p.c);
     }},
    {"large_tiles", "128 x 256 elements of C per block, 8 x 16 per thread",
     [](const Product& p) {
       const dim3 grid = grid_for<Large>(p.c);
       allow_dynamic_shared(multiply_async<Large, false, false>, kLargeBytes);
       multiply_async<Large, false, false><<<grid, Large::kThreads, kLargeBytes>>>(p.a, p.b, p.c);
     }},
    {"edges_guarded", "tiles that need no guard ask once",
     [](const Product& p) {
       const dim3 grid = grid_for<Large>(p.c);
       allow_dynamic_shared(multiply_async<Large, true, false>, kLargeBytes);
       multiply_async<Large, true, false><<<grid, Large::kThreads, kLargeBytes>>>(p.a, p.b, p.c);
     }},
    {"grouped_tiles", "tiles in an order that the L2 likes",
     [](const Product& p) {
       const dim3 grid = grid_for<Large>(p.c);
       allow_dynamic_shared(multiply_async<Large, true, true>, kLargeBytes);
       multiply_async<Large, true, true><<<grid, Large::kThreads, kLargeBytes>>>(p.a, p.b, p.c);
     }},
    {"serpentine", "a thread's products in an order that saves reads of registers",
     [](const Product& p) { launch_serpentine(p.a, p.b, p.c); }},
    {"even_shares", "every block gets as many steps as every other",
     [](const Product& p) { launch_shares<Turning>(p, p.a, p.b); }},
    {"by_shape", "serpentine, or small tiles in even shares; what is not aligned is copied first",
     launch_by_shape},
};

int main(int argc, char** argv) {
  Options opt("14_matmul_at_the_limit", "what does it take to reach cuBLAS?");
  opt.versions(kVersions);
  opt.version(kMultiplyAddsRow, "as many multiply-adds, and nothing else");
  name_cublas_row(opt);
  ProductShape shape = ProductShape::square(kOnGpu ? 4096 : 100);
  shape.add_options(opt);
  opt.parse(argc, argv);
  const Device device = open_device(opt);
  require_device_memory(opt, "--m, --n, --k", shape.bytes() + Product::workspace_bytes(shape));

  const Product product(shape, opt.seed);
  ResultTable table(opt, device, shape.text(), shape.bytes(), {kErrorColumn});
  table.rate_in_gflops("peak", device.peak_fp32_gflops());
  add_product_rows(table, kVersions, product);
  add_multiply_adds_row(table, device, shape.flop());
  add_cublas_row(table, product);
  return table.finish();
}
