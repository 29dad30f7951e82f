// SPDX-License-Identifier: MIT
// Chapter 14: which kernel for which shape? A model predicts the time of every way that there is,
// and the way with the least is launched.
#pragma once

#include "any_shape.cuh"

/// A way to compute a product.
struct Plan {
  enum Way { kTiles, kTickets, kTwoPasses, kFewRows, kFewColumns, kFewTerms };
  Way way;
  unsigned row;    ///< of kTileRows, or of kThinRows
  unsigned parts;  ///< blocks of even shares; or the terms of a block of a thin product
  bool copies;     ///< A or B is copied first, so that its rows are aligned
  double us;       ///< predicted
  std::size_t floats, tickets;  ///< that it needs for the sums of parts
};

/// In microseconds: what a step of a block takes from a multiprocessor that has enough of them,
/// what it takes at least, and what is before and after a tile's steps, once and for each block.
struct StepTimes {
  double full, alone, begin, each;
};

/// A tile of the model and its kernels.
struct TileRow {
  unsigned rows, columns, depth, per_sm;
  unsigned elements;       ///< per thread
  StepTimes wide, narrow;  ///< rows that are aligned, and others
  void (*launch)(const Plan&, const Shares&, const Matrix& a, const Matrix& b, const Matrix& c);
};

template <class T>
void launch_tile(const Plan& plan, const Shares& s, const Matrix& a, const Matrix& b,
                 const Matrix& c) {
  constexpr unsigned kBytes = T::kStages * T::kSliceBytes;
  const auto allow = [](auto* kernel) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  };
  static const bool allowed = (allow(multiply_any<T>), allow(multiply_any_shares<T>), true);
  static_cast<void>(allowed);
  if (plan.way == Plan::kTiles) {
    multiply_any<T><<<s.tiles, T::kThreads, kBytes>>>(a, b, c, s.down, s.across);
    return;
  }
  const bool with_tickets = plan.way == Plan::kTickets;
  multiply_any_shares<T><<<s.blocks, T::kThreads, kBytes>>>(a, b, c, s, with_tickets);
  if (with_tickets || s.dealt == s.tiles) return;
  const dim3 grid(s.tiles - s.dealt, T::kElements / kWide);
  put_together<T><<<grid, T::kThreads>>>(c, s);
}

// All of them keep three slices, and turn where a row of a thread's elements ends.
template <unsigned kRows, unsigned kColumns, unsigned kDepth, unsigned kRowsOfWarp,
          unsigned kColumnsOfWarp, unsigned kLanesBelow, unsigned kBlocks>
constexpr TileRow tile_row(StepTimes wide, StepTimes narrow) {
  using T =
      Tile<kRows, kColumns, kDepth, kRowsOfWarp, kColumnsOfWarp, kLanesBelow, 3, kBlocks, true>;
  return {kRows, kColumns, kDepth, kBlocks, T::kElements, wide, narrow, launch_tile<T>};
}

// The times were fitted on an H200 to all ways to compute some 700 shapes: the kernel that the
// model then chooses should take the least time.
const TileRow kTileRows[] = {
    tile_row<128, 256, 16, 64, 64, 8, 1>({1.84, 1.74, 6.35, 0.714}, {2.13, 1.72, 5.1, 5.32}),
    tile_row<64, 128, 16, 32, 64, 4, 3>({0.646, 0.537, 2.94, 0.035}, {0.66, 0.408, 3.22, 0.75}),
    tile_row<32, 128, 16, 32, 32, 4, 5>({0.393, 0.293, 1.58, 0}, {0.413, 0.439, 2.27, 0.125}),
    tile_row<32, 64, 16, 32, 32, 4, 8>({0.218, 0.461, 1.73, 0.046}, {0.219, 0.487, 2.55, 0.055}),
    tile_row<32, 32, 16, 16, 32, 4, 12>({0.156, 0.282, 1.5, 0.01}, {0.159, 0.251, 1.58, 0.028}),
    tile_row<32, 32, 32, 16, 32, 4, 8>({0.313, 0.357, 1.84, 0}, {0.382, 0.267, 2.11, 0.027}),
    tile_row<16, 128, 32, 16, 32, 4, 4>({0.546, 0.198, 1.45, 0}, {0.659, 0.417, 2.2, 0.046}),
    tile_row<16, 64, 16, 16, 32, 4, 12>({0.142, 0.263, 1.15, 0.022}, {0.164, 0.26, 1.93, 0.035}),
};

/// A kernel for thin products: C has `holds` rows or columns at most, and a block has `piece` of
/// the other side. Its steps are terms.
struct ThinRow {
  Plan::Way way;
  unsigned holds, piece;
  StepTimes times;
  void (*kernel)(Matrix a, Matrix b, Matrix c, Parts parts);
};

template <unsigned M, unsigned kColumns>
constexpr ThinRow rows_row(StepTimes times) {
  return {Plan::kFewRows, M, kColumns, times, multiply_few_rows<M, kColumns>};
}
template <unsigned N, unsigned kSharers, unsigned kRows>
constexpr ThinRow columns_row(StepTimes times) {
  return {Plan::kFewColumns, N, kThinThreads / kSharers * kRows, times,
          multiply_few_columns<N, kSharers, kRows>};
}

// Fitted as well: some 450 shapes with at most 16 rows or columns.
const ThinRow kThinRows[] = {
    rows_row<1, 32>({0.00076, 0.00391, 1.15, 0.198}),
    rows_row<2, 8>({0.00112, 0, 1.15, 0.581}),
    rows_row<4, 32>({0.00181, 0.00297, 1.15, 0.348}),
    rows_row<8, 64>({0.00921, 0.00735, 1.15, 0.136}),
    rows_row<12, 8>({0.0018, 0.0013, 1.15, 0.728}),
    rows_row<12, 64>({0.00666, 0.0085, 1.15, 0.646}),
    columns_row<1, 32, 2>({0, 0.00243, 0.98, 0.221}),
    columns_row<2, 32, 1>({0, 0.00116, 0.98, 0.59}),
    columns_row<2, 32, 2>({0.00057, 0.00168, 0.98, 0.359}),
    columns_row<2, 256, 1>({0, 0.00033, 0.98, 0.772}),
    columns_row<4, 32, 1>({0.00075, 0.00146, 0.98, 0.246}),
    columns_row<8, 8, 1>({0.00684, 0.00411, 0.98, 0.248}),
    columns_row<8, 32, 2>({0.0015, 0.00318, 0.98, 0.679}),
    columns_row<8, 256, 1>({0.00015, 0.0001, 0.98, 0.689}),
    columns_row<12, 32, 2>({0.0017, 0.00337, 0.98, 0.94}),
    columns_row<16, 8, 2>({0.01218, 0.01577, 0.98, 1.213}),
    columns_row<16, 32, 2>({0.00309, 0.00433, 0.98, 1.148}),
};

/// The shape of a product as the model sees it.
struct ShapeModel {
  unsigned m, n, k;   ///< rows and columns of C, terms of an element
  bool rows_aligned;  ///< those of A and B
  unsigned sms;       ///< multiprocessors

  /// How the work is divided into even shares for `blocks` blocks; 0: a block for each tile.
  Shares shares(const TileRow& t, unsigned blocks) const {
    const unsigned down = blocks_for(m, t.rows), across = blocks_for(n, t.columns);
    return divide_work(down, across, blocks_for(k, t.depth), blocks > 0 ? blocks : down * across);
  }

  /// All ways, with their predicted times.
  std::vector<Plan> plans() const {
    std::vector<Plan> all;
    for (unsigned t = 0; t < std::size(kTileRows); ++t) {
      add_tile(t, rows_aligned, all);
      if (!rows_aligned && 1.0 * m * n * k > kWorthCopies) add_tile(t, true, all);
    }
    for (unsigned row = 0; row < std::size(kThinRows); ++row) add_thin(row, all);
    if (k <= kFewTerms) {
      const double blocks = static_cast<double>(div_up(m, 32)) * div_up(n, 128);
      const double terms = k * 0.126 * (1 + 0.0032 * blocks);
      all.push_back({Plan::kFewTerms, 0, 0, false, 4.2 + std::hypot(terms, bytes() / 3.2e6), 0, 0});
    }
    return all;
  }

  Plan best() const {
    const std::vector<Plan> all = plans();
    return *std::min_element(all.begin(), all.end(),
                             [](const Plan& x, const Plan& y) { return x.us < y.us; });
  }

 private:
  static constexpr unsigned kFewTerms = 64;
  static constexpr double kWorthCopies = 2e8;  // multiply-adds
  static constexpr double kL2 = 5e7;           // bytes that stay in it between launches

  double bytes() const { return 4.0 * (double(m) * k + double(k) * n + double(m) * n); }

  /// Rounds of blocks, each of `steps` steps: the fullest multiprocessor counts.
  double rounds(const TileRow& t, const StepTimes& times, unsigned blocks, double steps,
                double begin) const {
    const unsigned most = static_cast<unsigned>(div_up(blocks, sms));
    const unsigned full = most / t.per_sm, rest = most % t.per_sm;
    const auto round = [&](unsigned held) {
      if (held == 0) return 0.0;
      return begin + held * times.each + steps * std::hypot(times.alone, held * times.full);
    };
    return full * round(t.per_sm) + round(rest);
  }

  void add_tile(unsigned row, bool aligned, std::vector<Plan>& all) const {
    const TileRow& t = kTileRows[row];
    const unsigned held = sms * t.per_sm;
    const Shares whole = shares(t, 0);
    add_shares(row, aligned, 0, all);
    if (whole.tiles >= held) {
      if (whole.tiles % held != 0 && whole.tiles / held < 12) add_shares(row, aligned, held, all);
      return;
    }
    for (const unsigned parts :
         {2u, 3u, 4u, 5u, 6u, 8u, 10u, 12u, 16u, 20u, 24u, 32u, 48u, 64u, 96u, 128u})
      if (whole.tiles * parts <= held && whole.steps >= 2 * parts)
        add_shares(row, aligned, whole.tiles * parts, all);
    if (whole.tiles * whole.steps / held >= 4) add_shares(row, aligned, held, all);
  }

  void add_shares(unsigned row, bool aligned, unsigned blocks, std::vector<Plan>& all) const {
    const TileRow& t = kTileRows[row];
    // Steps read A and B, and what begins and ends a tile's walk stores C.
    const StepTimes& reads = aligned ? t.wide : t.narrow;
    const StepTimes& stores = n % kWide == 0 ? t.wide : t.narrow;
    const StepTimes times = {reads.full, reads.alone, stores.begin, stores.each};
    const Shares s = shares(t, blocks);
    const unsigned left = s.tiles - s.dealt;
    const double elements = t.rows * t.columns, to_l2 = 4.0 * (t.rows + t.columns) * t.depth;
    Plan plan{Plan::kTiles, row, s.blocks, aligned != rows_aligned, 0, 0, 0};
    // In the kernel of shares every step takes longer: it needs more registers.
    const double more = left == 0 ? 1 : elements > 16384 ? 1.17 : 1.04;
    const bool spans = left > 0 && s.blocks % left != 0;  // a block has parts of two tiles
    const double dealt = rounds(t, times, s.dealt, more * s.steps, times.begin);
    const double of_a = 4.0 * m * k, of_b = 4.0 * k * n;
    const double memory = aligned ? bytes() / 2.49e6 : of_a / 1.59e6 + of_b / 2.37e6;
    const double copies = plan.copies ? 7.96 + 2 * (of_a + of_b) / 2.93e6 : 0;
    // A block that has parts of two tiles begins twice; what that costs depends on the way.
    const auto us = [&](double begins) {
      const double steps = more * left * s.steps / s.blocks;
      const double begin = times.begin * (spans ? begins : 1);
      const double shared = left == 0 ? 0 : rounds(t, times, s.blocks, steps, begin);
      return 3.35 + std::max({dealt + shared, s.tiles * s.steps * to_l2 / 5.26e6, memory}) + copies;
    };
    plan.us = us(1);
    if (left == 0) return all.push_back(plan);
    plan.floats = std::size_t{2} * s.blocks * t.rows * t.columns, plan.tickets = left;
    const double parts = std::max(2.0, double(s.blocks) / left);
    const double stored = 8 * s.blocks * elements / 6.31e6;
    plan.way = Plan::kTickets;
    plan.us = us(1.3) + 2.26 + 0.268 * parts * t.elements / 32 + stored;
    all.push_back(plan);
    plan.way = Plan::kTwoPasses;
    plan.us = us(3.17) + 3.61 + 0.171 * parts + stored;
    all.push_back(plan);
  }

  /// k is divided into parts of several sizes.
  void add_thin(unsigned row, std::vector<Plan>& all) const {
    const ThinRow& t = kThinRows[row];
    const bool rows = t.way == Plan::kFewRows;
    if ((rows ? m : n) > t.holds) return;
    const auto groups = static_cast<unsigned>(div_up(rows ? n : m, t.piece));
    const unsigned most = most_of_k(t.holds);
    for (unsigned depth = 128; depth <= most && (depth == 128 || depth / 2 < k); depth *= 2) {
      const auto parts = static_cast<double>(div_up(k, depth));
      const double held = std::ceil(groups * parts / sms), terms = std::min(depth, k);
      const double rate = bytes() > kL2 ? 4.7e6 : rows ? 6.7e6 : 7.1e6;
      double us =
          3.35 + t.times.begin + held * t.times.each +
          std::hypot(terms * std::hypot(t.times.alone, held * t.times.full), bytes() / rate);
      if (parts > 1) us += rows ? 1.3 + 0.041 * parts : 1.35 + 0.043 * parts;
      const double floats = parts > 1 ? parts * m * n : 0;
      all.push_back({t.way, row, depth, false, us, static_cast<std::size_t>(floats), groups});
    }
  }
};

/// Launches a way on matrices that are aligned if it needs them to be. `sums` and `tickets` have as
/// many elements as the plan says.
inline void launch_plan(const Plan& plan, const ShapeModel& shape, const Matrix& a, const Matrix& b,
                        const Matrix& c, float* sums, unsigned* tickets) {
  if (plan.way == Plan::kFewRows || plan.way == Plan::kFewColumns) {
    const ThinRow& t = kThinRows[plan.row];
    const unsigned side = plan.way == Plan::kFewRows ? c.width : c.height;
    const dim3 grid(blocks_for(side, t.piece), blocks_for(a.width, plan.parts));
    t.kernel<<<grid, kThinThreads>>>(a, b, c, {sums, tickets, plan.parts});
  } else if (plan.way == Plan::kFewTerms) {
    const dim3 grid(blocks_for(c.width, 128), blocks_for(c.height, 32));
    multiply_few_terms<<<grid, kThinThreads>>>(a, b, c);
  } else {
    const TileRow& t = kTileRows[plan.row];
    Shares s = shape.shares(t, plan.way == Plan::kTiles ? 0 : plan.parts);
    s.partial_sums = sums, s.tickets = tickets;
    t.launch(plan, s, a, b, c);
  }
}
