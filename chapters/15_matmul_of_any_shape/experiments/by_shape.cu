// SPDX-License-Identifier: MIT
// How good is a choice among many kernels?
//
// whole_tiles  large tiles, a block for each
// by_shape     the way whose predicted time is the least: eight tiles, each whole, split or in even
//              shares, and kernels for few rows, columns or terms (choice.cuh, fitted.cuh)
// cublas       the library, which chooses as well

#include "../../../common/common.cuh"
#include "../choice.cuh"
#include "../cublas_product.cuh"

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

// ---- kernels for the rows of fitted.cuh --------------------------------------------------------

// The kernels of a tile.
struct TileKernels {
  void (*allow)();  // before the first launch
  void (*launch)(const Plan&, const Shares&, const Matrix& a, const Matrix& b, const Matrix& c);
};

template <class T>
void allow_tile() {  // more shared memory than a block gets without asking
  constexpr auto kAttribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  CUDA_CHECK(cudaFuncSetAttribute(multiply_tiles<T>, kAttribute, T::kBytes));
  CUDA_CHECK(cudaFuncSetAttribute(multiply_shares<T>, kAttribute, T::kBytes));
}

template <class T>
void launch_tile(const Plan& plan, const Shares& s, const Matrix& a, const Matrix& b,
                 const Matrix& c) {
  if (plan.way == Plan::kTiles) {
    multiply_tiles<T><<<s.tiles, T::kThreads, T::kBytes>>>(a, b, c, s.down, s.across);
    return;
  }
  const bool with_tickets = plan.way == Plan::kTickets;
  multiply_shares<T><<<s.blocks, T::kThreads, T::kBytes>>>(a, b, c, s, with_tickets);
  if (with_tickets || s.dealt == s.tiles) return;
  const dim3 grid(s.tiles - s.dealt, T::kElements / kWide);
  put_together<T><<<grid, T::kThreads>>>(c, s);
}

template <unsigned kRow>
constexpr TileKernels tile() {
  constexpr FittedTile t = kTiles[kRow];
  using T = Tile<t.rows, t.columns, t.depth, t.warp_rows, t.warp_columns, t.lanes_down, t.per_sm>;
  return {allow_tile<T>, launch_tile<T>};
}

using ThinKernel = void (*)(Matrix a, Matrix b, Matrix c, Parts parts);

template <unsigned kRow>
constexpr ThinKernel few_rows() {
  return multiply_few_rows<kFewRows[kRow].holds, kFewRows[kRow].columns>;
}
template <unsigned kRow>
constexpr ThinKernel few_columns() {
  constexpr FittedColumns t = kFewColumns[kRow];
  return multiply_few_columns<t.holds, t.sharers, t.rows>;
}

const TileKernels kTileKernels[] = {tile<0>(), tile<1>(), tile<2>(), tile<3>(),
                                    tile<4>(), tile<5>(), tile<6>(), tile<7>()};
const ThinKernel kRowKernels[] = {few_rows<0>(), few_rows<1>(), few_rows<2>(),
                                  few_rows<3>(), few_rows<4>(), few_rows<5>()};
const ThinKernel kColumnKernels[] = {few_columns<0>(), few_columns<1>(), few_columns<2>(),
                                     few_columns<3>(), few_columns<4>(), few_columns<5>(),
                                     few_columns<6>(), few_columns<7>(), few_columns<8>(),
                                     few_columns<9>(), few_columns<10>()};
static_assert(std::size(kTileKernels) == std::size(kTiles), "a kernel for each row");
static_assert(std::size(kRowKernels) == std::size(kFewRows), "a kernel for each row");
static_assert(std::size(kColumnKernels) == std::size(kFewColumns), "a kernel for each row");

// ---- the product -------------------------------------------------------------------------------

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
  bool allowed = allow();

  // Asked here and not by each launch: a launch is to be nothing but a launch.
  bool allow() const {
    allow_tile<Large>();
    if (plan.way < Plan::kFewRows) kTileKernels[plan.row].allow();
    return true;
  }
};

void launch_whole_tiles(const ShapedProduct& p) {
  const unsigned down = blocks_for(p.c.height, Large::kRows);
  const unsigned across = blocks_for(p.c.width, Large::kColumns);
  multiply_tiles<Large>
      <<<down * across, Large::kThreads, Large::kBytes>>>(p.a, p.b, p.c, down, across);
}

void launch_plan(const ShapedProduct& p, const Matrix& a, const Matrix& b) {
  const Plan& plan = p.plan;
  const Parts parts = {p.sums, p.tickets, plan.parts};
  if (plan.way == Plan::kFewRows) {
    const dim3 grid(blocks_for(p.c.width, kFewRows[plan.row].columns),
                    blocks_for(a.width, plan.parts));
    kRowKernels[plan.row]<<<grid, kThinThreads>>>(a, b, p.c, parts);
  } else if (plan.way == Plan::kFewColumns) {
    const dim3 grid(blocks_for(p.c.height, rows_of_block(kFewColumns[plan.row])),
                    blocks_for(a.width, plan.parts));
    kColumnKernels[plan.row]<<<grid, kThinThreads>>>(a, b, p.c, parts);
  } else if (plan.way == Plan::kFewTerms) {
    const dim3 grid(blocks_for(p.c.width, 128), blocks_for(p.c.height, 32));
    multiply_few_terms<<<grid, kThinThreads>>>(a, b, p.c);
  } else {
    Shares s = p.shape.shares(kTiles[plan.row], plan.way == Plan::kTiles ? 0 : plan.parts);
    s.partial_sums = p.sums;
    s.tickets = p.tickets;
    kTileKernels[plan.row].launch(plan, s, a, b, p.c);
  }
}

void launch_by_shape(const ShapedProduct& p) {
  if (!p.plan.copies) return launch_plan(p, p.a, p.b);
  constexpr unsigned kBlock = 256;
  const dim3 grid(blocks_for(std::max(p.padded_a.width, p.padded_b.width), kBlock),
                  blocks_for(std::max(p.padded_a.height, p.padded_b.height), kRowsOfCopy), 2);
  copy_padded<<<grid, kBlock>>>(p.a, p.padded_a, p.b, p.padded_b);
  launch_plan(p, p.padded_a, p.padded_b);
}

const Version<ShapedProduct> kVersions[] = {
    {"whole_tiles", "large tiles, a block for each", launch_whole_tiles},
    {"by_shape", "the way whose predicted time is the least", launch_by_shape},
    kCublas<ShapedProduct>,
};

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 4096 : 100, n = m, k = m;
  const Options opt(argc, argv, "15_by_shape", "how good is a choice among many kernels?",
                    {{"m", &m, 1, kMostSide, "rows of A and C"},
                     {"n", &n, 1, kMostSide, "columns of B and C"},
                     {"k", &k, 1, kMostSide, "columns of A, rows of B"}});
  const std::size_t bytes = (m * k + k * n + m * n) * sizeof(float);
  ResultTable table(opt, bytes, bytes);
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));
  if (opt.list) m = n = k = 1;  // nothing runs, so nothing has to be multiplied on the host
  const unsigned sms = multiprocessors(table.device);
  const ShapedProduct product{{m, n, k, opt.seed}, sms};
  table.each_launch_does(product.amount());
  for (const auto& version : kVersions) table.add(version, product);
  return table.finish();
}
