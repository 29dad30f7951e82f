// SPDX-License-Identifier: MIT
// What do the orders of loads and multiply-adds, and the places of lanes, do one at a time?
// Each version is lanes_in_rows, the last one of the program, but for what its name says.

#include <cuda_pipeline.h>

#include "../../../common/common.cuh"

constexpr unsigned kRows = 128, kColumns = 256, kDepth = 16, kThreads = 256, kWide = 4;
constexpr unsigned kDown = 8, kAcross = 16;  // elements of C per thread

struct Slice {
  float a[kDepth][kRows + kWide];
  float b[kDepth][kColumns];
};

__device__ void load_four(const float* from, float* to) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}

__device__ void store_four(const float* from, float* to) {
  *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}

// In what order a thread multiplies its elements of A with those of B.
enum class Order { kColumnsToAndFro, kColumnsOneWay, kRowsToAndFro, kRowsOneWay };

template <Order kOrder>
__device__ void add_products(float (&sum)[kDown][kAcross], const float (&from_a)[kDown],
                             const float (&from_b)[kAcross]) {
  constexpr bool kByColumns = kOrder == Order::kColumnsToAndFro || kOrder == Order::kColumnsOneWay;
  constexpr bool kTurns = kOrder == Order::kColumnsToAndFro || kOrder == Order::kRowsToAndFro;
  constexpr unsigned kInner = kByColumns ? kDown : kAcross;
#pragma unroll
  for (unsigned i = 0; i < kDown * kAcross / kInner; ++i) {
#pragma unroll
    for (unsigned j = 0; j < kInner; ++j) {
      const unsigned turned = kTurns && i % 2 == 1 ? kInner - 1 - j : j;
      const unsigned r = kByColumns ? turned : i, q = kByColumns ? i : turned;
      sum[r][q] += from_a[r] * from_b[q];
    }
  }
}

// Where the lanes of a warp lie: in plain rows, or in pairs, one lane above its neighbour. A warp's
// pieces of C are far apart, or side by side in a square of 64 x 64 elements. The last one has the
// places of kSquareRows, computed by another formula.
enum class Lanes { kRows, kPairs, kSquareRows, kSquarePairs, kSquareRowsInOtherWords };

template <Order kOrder, bool kBFirst, Lanes kLanes>
__global__ void __launch_bounds__(kThreads, 1) multiply_arranged(Matrix a, Matrix b, Matrix c) {
  extern __shared__ __align__(16) float4 dynamic[];
  auto* const slices = reinterpret_cast<Slice*>(dynamic);
  constexpr bool kOtherWords = kLanes == Lanes::kSquareRowsInOtherWords;
  constexpr bool kPairs = kLanes == Lanes::kPairs || kLanes == Lanes::kSquarePairs;
  constexpr bool kSquare = kLanes != Lanes::kRows && kLanes != Lanes::kPairs;
  constexpr unsigned kStepDown = kSquare ? 8 : 16, kStepAcross = kSquare ? 4 : 16;
  const unsigned t = threadIdx.x;
  unsigned x = 0, y = 0;  // the place of the thread's first group of four, in groups
  if (kSquare) {
    x = t / 32 % 4 * 16 + (kPairs ? t / 2 % 4 : t % 4);
    y = t / 128 * 16 + (kPairs ? t % 32 / 8 * 2 + t % 2 : t % 32 / 4);
  } else {
    x = t / 32 % 2 * 8 + (kPairs ? t / 2 % 8 : t % 8);
    y = t / 64 * 4 + (kPairs ? t / 16 % 2 * 2 + t % 2 : t % 32 / 8);
  }
  const unsigned first_row = t / 128 * 64 + t % 32 / 4 * kWide;  // in other words
  const unsigned first_column = t / 32 % 4 * 64 + t % 4 * kWide;
  const auto row_of = [&](unsigned g) {
    return kOtherWords ? first_row + g * 32 : (g * kStepDown + y) * kWide;
  };
  const auto column_of = [&](unsigned g) {
    return kOtherWords ? first_column + g * 16 : (g * kStepAcross + x) * kWide;
  };
  const unsigned row_a = t / 2, column_a = t % 2 * kWide;
  const unsigned row_b = t / 64, column_b = t % 64 * kWide;
  const float* next_a = &a.at(blockIdx.y * kRows + row_a, column_a);
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
  float sum[kDown][kAcross] = {};
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
      float from_a[kDown], from_b[kAcross];
      const auto load_a = [&] {
#pragma unroll
        for (unsigned g = 0; g < kDown / kWide; ++g)
          load_four(&slice.a[i][row_of(g)], &from_a[g * kWide]);
      };
      if (!kBFirst) load_a();
#pragma unroll
      for (unsigned g = 0; g < kAcross / kWide; ++g)
        load_four(&slice.b[i][column_of(g)], &from_b[g * kWide]);
      if (kBFirst) load_a();
      add_products<kOrder>(sum, from_a, from_b);
    }
  }
#pragma unroll
  for (unsigned r = 0; r < kDown; ++r) {
#pragma unroll
    for (unsigned q = 0; q < kAcross; q += kWide) {
      const unsigned row = blockIdx.y * kRows + row_of(r / kWide) + r % kWide;
      const unsigned column = blockIdx.x * kColumns + column_of(q / kWide);
      store_four(&sum[r][q], &c.at(row, column));
    }
  }
}

template <Order kOrder, bool kBFirst, Lanes kLanes>
void launch_arranged(const MatrixProduct& p) {
  constexpr auto kKernel = multiply_arranged<kOrder, kBFirst, kLanes>;
  constexpr unsigned kBytes = 2 * sizeof(Slice);
  CUDA_CHECK(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kKernel<<<dim3(p.c.width / kColumns, p.c.height / kRows), kThreads, kBytes>>>(p.a, p.b, p.c);
}

constexpr Order kBest = Order::kColumnsToAndFro;
const Version<MatrixProduct> kArrangements[] = {
    {"lanes_in_rows", "as in the program", launch_arranged<kBest, true, Lanes::kRows>},
    {"lanes_in_pairs", "pairs of lanes, one above the other",
     launch_arranged<kBest, true, Lanes::kPairs>},
    {"square_rows", "a warp computes 64 x 64 elements",
     launch_arranged<kBest, true, Lanes::kSquareRows>},
    {"square_pairs", "64 x 64 elements, lanes in pairs",
     launch_arranged<kBest, true, Lanes::kSquarePairs>},
    {"other_words", "square_rows, its places in other words",
     launch_arranged<kBest, true, Lanes::kSquareRowsInOtherWords>},
    {"a_first", "A's elements are read before B's", launch_arranged<kBest, false, Lanes::kRows>},
    {"columns_one_way", "down each column",
     launch_arranged<Order::kColumnsOneWay, true, Lanes::kRows>},
    {"rows_to_and_fro", "along a row and back along the next",
     launch_arranged<Order::kRowsToAndFro, true, Lanes::kRows>},
    {"rows_one_way", "along each row", launch_arranged<Order::kRowsOneWay, true, Lanes::kRows>},
};

int main(int argc, char** argv) {
  std::size_t rows = kOnGpu ? 32 : 1, columns = kOnGpu ? 16 : 1, steps = kOnGpu ? 256 : 4;
  const Options opt(
      argc, argv, "14_arrangements", "what do orders and places do, one at a time?",
      {{"rows", &rows, 1, 512, "rows of tiles of C, 128 elements each"},
       {"columns", &columns, 1, 256, "columns of tiles, 256 elements each"},
       {"steps", &steps, 1, 4096, "steps of a tile, 16 products of an element each"}});
  std::size_t m = rows * kRows, n = columns * kColumns, k = steps * kDepth;
  ResultTable table(opt, (m * k + k * n + m * n) * sizeof(float));
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));
  if (opt.list) m = n = k = 1;  // nothing runs, so nothing has to be multiplied on the host
  const MatrixProduct product(m, n, k, opt.seed);
  table.each_launch_does(product.amount());
  for (const auto& version : kArrangements) table.add(version, product);
  return table.finish();
}
