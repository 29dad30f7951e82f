// SPDX-License-Identifier: MIT
// Chapter 14: which kernel for which shape? A model predicts the time of every way that there is,
// and the way with the least is launched.
#pragma once

#include "any_shape.cuh"

/// Where sums of parts lie.
struct Room {
  float* sums;
  unsigned* tickets;
};

/// A way to compute a product.
struct Plan {
  enum Way { kTiles, kTickets, kTwoPasses, kFewRows, kFewColumns, kFewTerms };
  Way way;
  unsigned tile;   ///< a row of kTileRows
  unsigned parts;  ///< blocks of even shares; or the terms of a block of a thin product
  bool copies;     ///< A or B is copied first, so that its rows are aligned
  double us;       ///< predicted
  std::size_t floats, tickets;  ///< of the room that it needs
};

/// In microseconds: what a step of a block takes from a multiprocessor that has enough of them,
/// what it takes at least, and what is before and after a tile's steps, once and for each block.
struct StepTimes {
  double full, alone, begin, each;
};

/// A tile of the model and its kernels.
struct TileRow {
  unsigned rows, columns, depth, per_sm;
  StepTimes wide, narrow;  ///< rows that are aligned, and others
  void (*launch)(const Plan&, const Shares&, const Matrix& a, const Matrix& b, const Matrix& c);

  const StepTimes& times(bool is_aligned) const { return is_aligned ? wide : narrow; }
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

template <class T>
constexpr TileRow tile_row(StepTimes wide, StepTimes narrow) {
  return {T::kRows, T::kColumns, T::kDepth, T::kBlocksPerSm, wide, narrow, launch_tile<T>};
}

// The times were fitted to measurements on an H200: all ways, 1,200 shapes.
const TileRow kTileRows[] = {
    tile_row<Tile<128, 256, 16, 64, 64, 8, 3, 1, true>>({1.87, 1.71, 6.78, 1.5},
                                                        {2.08, 1.67, 6.11, 2.68}),
    tile_row<Tile<64, 128, 16, 32, 64, 4, 3, 3, true>>({0.648, 0.447, 2.68, 0.42},
                                                       {0.703, 0.47, 3.14, 0.48}),
    tile_row<Tile<32, 128, 16, 32, 32, 4, 3, 5, true>>({0.369, 0.306, 1.95, 0.2},
                                                       {0.417, 0.313, 2.32, 0.15}),
    tile_row<Tile<32, 64, 16, 32, 32, 4, 3, 8, true>>({0.201, 0.376, 1.86, 0.17},
                                                      {0.222, 0.397, 2.5, 0.05}),
    tile_row<Tile<32, 32, 16, 16, 32, 4, 3, 12, true>>({0.147, 0.227, 1.65, 0.04},
                                                       {0.161, 0.234, 1.77, 0.03}),
    tile_row<Tile<16, 128, 32, 16, 32, 4, 3, 4, true>>({0.477, 0.354, 1.75, 0},
                                                       {0.624, 0.35, 1.96, 0}),
    tile_row<Tile<16, 64, 16, 16, 32, 4, 3, 12, true>>({0.131, 0.252, 1.56, 0.06},
                                                       {0.169, 0.234, 1.8, 0.02}),
    tile_row<Tile<64, 16, 16, 32, 16, 8, 3, 12, true>>({0.192, 0.278, 1.49, 0.13},
                                                       {0.225, 0.212, 1.79, 0.01}),
};

/// The shape of a product as the model sees it.
class ShapeModel {
 public:
  ShapeModel(unsigned rows, unsigned columns, unsigned terms, bool aligned, unsigned sms)
      : m_(rows), n_(columns), k_(terms), aligned_(aligned), sms_(sms) {}

  /// How the work is divided into even shares for `blocks` blocks; 0: a block for each tile.
  Shares shares(const TileRow& t, unsigned blocks) const {
    Shares s{};
    s.down = static_cast<unsigned>(div_up(m_, t.rows));
    s.across = static_cast<unsigned>(div_up(n_, t.columns));
    s.steps = static_cast<unsigned>(div_up(k_, t.depth));
    s.tiles = s.down * s.across;
    s.blocks = blocks > 0 ? blocks : s.tiles;
    const unsigned rounds = s.tiles / s.blocks;
    s.dealt = s.tiles % s.blocks == 0 ? s.tiles : (rounds > 0 ? rounds - 1 : 0) * s.blocks;
    return s;
  }

  /// All ways, with their predicted times.
  std::vector<Plan> plans() const {
    std::vector<Plan> all;
    for (unsigned t = 0; t < std::size(kTileRows); ++t) {
      add_tile(t, aligned_, all);
      if (!aligned_ && amount() > kWorthCopies) add_tile(t, true, all);
    }
    if (m_ <= kFew) add_thin(Plan::kFewRows, m_ > 4 ? 64 : 32, n_, all);
    if (n_ <= kFew) add_thin(Plan::kFewColumns, n_ > 8 ? 2 * kThinWarps : kThinWarps, m_, all);
    if (k_ <= kFewTerms) {
      const double blocks = static_cast<double>(div_up(m_, 32)) * div_up(n_, 128);
      const double terms = k_ * 0.126 * (1 + 0.0032 * blocks);
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
  static constexpr unsigned kFew = 16, kFewTerms = 64;
  static constexpr double kWorthCopies = 2e8;  // multiply-adds

  double amount() const { return static_cast<double>(m_) * n_ * k_; }
  double bytes() const { return 4.0 * (double(m_) * k_ + double(k_) * n_ + double(m_) * n_); }

  /// Rounds of blocks, each of `steps` steps: the fullest multiprocessor counts.
  double rounds(const TileRow& t, const StepTimes& times, unsigned blocks, double steps,
                double begin) const {
    const unsigned most = static_cast<unsigned>(div_up(blocks, sms_));
    const unsigned full = most / t.per_sm, rest = most % t.per_sm;
    const auto round = [&](unsigned held) {
      return held == 0
                 ? 0
                 : begin + held * times.each + steps * std::hypot(times.alone, held * times.full);
    };
    return full * round(t.per_sm) + round(rest);
  }

  void add_tile(unsigned row, bool aligned, std::vector<Plan>& all) const {
    const TileRow& t = kTileRows[row];
    const unsigned held = sms_ * t.per_sm;
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
    const StepTimes& times = t.times(aligned);
    const Shares s = shares(t, blocks);
    const unsigned left = s.tiles - s.dealt;
    const double elements = t.rows * t.columns, to_l2 = 4.0 * (t.rows + t.columns) * t.depth;
    Plan plan{Plan::kTiles, row, s.blocks, aligned != aligned_, 0, 0, 0};
    // In the kernel of shares every step takes longer: it needs more registers.
    const double more = left == 0 ? 1 : elements > 16384 ? 1.106 : 1.049;
    double us = rounds(t, times, s.dealt, more * s.steps, times.begin);
    if (left > 0) {
      const double begin = times.begin * (s.blocks % left == 0 ? 1 : 2.36);
      us += rounds(t, times, s.blocks, more * left * s.steps / s.blocks, begin);
      plan.floats = std::size_t{2} * s.blocks * t.rows * t.columns, plan.tickets = left;
    }
    const double of_a = 4.0 * m_ * k_, of_b = 4.0 * k_ * n_;
    const double memory = aligned ? bytes() / 2.6e6 : of_a / 1.2e6 + of_b / 2.26e6;
    us = std::max({us, s.tiles * s.steps * to_l2 / 5.5e6, memory});
    const double copy = 6.8 + 2 * (of_a + of_b) / 3.02e6;
    plan.us = 3.2 + us + (plan.copies ? copy : 0);
    if (left == 0) return all.push_back(plan);
    const double parts = std::max(2.0, double(s.blocks) / left), before = plan.us;
    plan.way = Plan::kTickets;
    plan.us = before + 2.6 + 0.196 * parts * std::sqrt(elements / 2048);
    all.push_back(plan);
    plan.way = Plan::kTwoPasses;
    plan.us = before + 2.9 + 0.205 * parts + 8 * s.blocks * elements / 8.2e6;
    all.push_back(plan);
  }

  /// `side` is divided into groups of `piece`, k into parts of several sizes.
  void add_thin(Plan::Way way, unsigned piece, unsigned side, std::vector<Plan>& all) const {
    const bool rows = way == Plan::kFewRows;
    const auto groups = static_cast<unsigned>(div_up(side, piece));
    const unsigned thin = rows ? m_ : n_, most = most_of_k(thin);
    double held = 1;  // a power of 2, as the kernels' arguments are
    while (held < thin) held *= 2;
    const unsigned least = held > 8 && !rows ? 512 : 256;  // B's part is slow to load
    for (unsigned depth = least; depth <= most && (depth == least || depth / 2 < k_); depth *= 2) {
      const auto parts = static_cast<double>(div_up(k_, depth));
      const double blocks = groups * parts, terms = std::min(depth, k_);
      const double each = rows ? 0.00218 + held * (0.001 + 5.2e-6 * blocks)
                               : 0.00111 + held * (4.7e-5 + 2e-6 * blocks);
      double us = (rows ? 4.3 + 0.05 * held : 4.2 + 0.09 * held) +
                  std::hypot(terms * each, bytes() / (rows ? 3.6e6 : 3.8e6));
      if (parts > 1) us += rows ? 1.23 + 0.035 * parts : 1.17 + 0.058 * parts;
      const double floats = parts > 1 ? parts * m_ * n_ : 0;
      all.push_back({way, 0, depth, false, us, static_cast<std::size_t>(floats), groups});
    }
  }

  unsigned m_, n_, k_;
  bool aligned_;
  unsigned sms_;
};

/// Launches a way on matrices that are aligned if it needs them to be.
inline void launch_plan(const Plan& plan, const ShapeModel& shape, const Matrix& a, const Matrix& b,
                        const Matrix& c, Room room) {
  const auto split = [&](unsigned side, unsigned piece) {
    return dim3(blocks_for(side, piece), blocks_for(a.width, plan.parts));
  };
  const Parts parts{room.sums, room.tickets, plan.parts};
  const unsigned thin = plan.way == Plan::kFewRows ? c.height : c.width;
  switch (plan.way) {
    case Plan::kFewRows: {
      const dim3 grid = split(c.width, thin > 4 ? 64 : 32);
      if (thin == 1)
        multiply_few_rows<1, 1><<<grid, kThinThreads>>>(a, b, c, parts);
      else if (thin == 2)
        multiply_few_rows<2, 1><<<grid, kThinThreads>>>(a, b, c, parts);
      else if (thin <= 4)
        multiply_few_rows<4, 1><<<grid, kThinThreads>>>(a, b, c, parts);
      else if (thin <= 8)
        multiply_few_rows<8, 2><<<grid, kThinThreads>>>(a, b, c, parts);
      else
        multiply_few_rows<16, 2><<<grid, kThinThreads>>>(a, b, c, parts);
      return;
    }
    case Plan::kFewColumns: {
      const dim3 grid = split(c.height, thin > 8 ? 2 * kThinWarps : kThinWarps);
      if (thin == 1)
        multiply_few_columns<1, 1><<<grid, kThinThreads>>>(a, b, c, parts);
      else if (thin == 2)
        multiply_few_columns<2, 1><<<grid, kThinThreads>>>(a, b, c, parts);
      else if (thin <= 4)
        multiply_few_columns<4, 1><<<grid, kThinThreads>>>(a, b, c, parts);
      else if (thin <= 8)
        multiply_few_columns<8, 1><<<grid, kThinThreads>>>(a, b, c, parts);
      else
        multiply_few_columns<16, 2><<<grid, kThinThreads>>>(a, b, c, parts);
      return;
    }
    case Plan::kFewTerms: {
      const dim3 grid(blocks_for(c.width, 128), blocks_for(c.height, 32));
      multiply_few_terms<<<grid, kThinThreads>>>(a, b, c);
      return;
    }
    default: {
      const TileRow& t = kTileRows[plan.tile];
      Shares s = shape.shares(t, plan.way == Plan::kTiles ? 0 : plan.parts);
      s.partial_sums = room.sums, s.tickets = room.tickets;
      t.launch(plan, s, a, b, c);
    }
  }
}
