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

/// What a step takes on a multiprocessor that has enough blocks, what it takes a block alone, and
/// what a tile takes before and after its steps; in microseconds.
struct StepTimes {
  double full, alone, begin;
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

// The times were fitted to measurements on an H200: all ways, 400 shapes.
const TileRow kTileRows[] = {
    tile_row<Tile<128, 256, 16, 64, 64, 8, 3, 1, true>>({2.60, 2.00, 6.0}, {2.95, 2.00, 10.0}),
    tile_row<Tile<64, 128, 16, 32, 64, 4, 3, 3, true>>({0.716, 0.858, 2.66}, {0.946, 1.097, 1.83}),
    tile_row<Tile<128, 64, 16, 64, 32, 8, 3, 3, true>>({0.777, 0.886, 2.66}, {1.01, 0.752, 1.77}),
    tile_row<Tile<64, 64, 16, 32, 32, 4, 3, 5, true>>({0.429, 0.479, 1.45}, {0.540, 0.734, 0.78}),
    tile_row<Tile<32, 128, 16, 32, 32, 4, 3, 5, true>>({0.402, 0.449, 1.60}, {0.576, 0.771, 0.74}),
    tile_row<Tile<32, 64, 16, 32, 32, 4, 3, 8, true>>({0.225, 0.387, 1.95}, {0.318, 0.699, 0.69}),
    tile_row<Tile<32, 32, 16, 16, 32, 4, 3, 12, true>>({0.167, 0.270, 0.78}, {0.217, 0.298, 0.54}),
    tile_row<Tile<16, 128, 32, 16, 32, 4, 3, 4, true>>({0.522, 0.574, 1.00}, {0.942, 1.106, 0.33}),
    tile_row<Tile<16, 64, 16, 16, 32, 4, 3, 12, true>>({0.149, 0.261, 1.06}, {0.243, 0.369, 0.63}),
    tile_row<Tile<64, 16, 16, 32, 16, 8, 3, 12, true>>({0.221, 0.323, 0.83}, {0.278, 0.313, 0.48}),
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
    if (m_ <= kFew) add_thin(Plan::kFewRows, m_ > kFew / 2 ? 64 : 32, n_, 1056, all);
    if (n_ <= kFew) add_thin(Plan::kFewColumns, kThinWarps, m_, 132, all);
    if (k_ <= kFewTerms) {
      const double blocks = static_cast<double>(div_up(m_, 32)) * div_up(n_, 128);
      const double terms = k_ * 0.123 * (1 + 0.0032 * blocks);
      all.push_back({Plan::kFewTerms, 0, 0, false, 3.45 + std::max(terms, bytes() / 3.26e6), 0, 0});
    }
    return all;
  }

  Plan best() const {
    const std::vector<Plan> all = plans();
    return *std::min_element(all.begin(), all.end(),
                             [](const Plan& x, const Plan& y) { return x.us < y.us; });
  }

 private:
  static constexpr unsigned kFew = 8, kFewTerms = 64;
  static constexpr double kWorthCopies = 2e8;  // multiply-adds

  double amount() const { return static_cast<double>(m_) * n_ * k_; }
  double bytes() const { return 4.0 * (double(m_) * k_ + double(k_) * n_ + double(m_) * n_); }

  /// Rounds of blocks, each of `steps` steps: the fullest multiprocessor counts.
  double rounds(const TileRow& t, const StepTimes& times, unsigned blocks, double steps,
                double begin) const {
    const unsigned most = static_cast<unsigned>(div_up(blocks, sms_));
    const unsigned full = most / t.per_sm, rest = most % t.per_sm;
    const auto round = [&](unsigned held) {
      return held == 0 ? 0 : begin + steps * std::max(times.alone, held * times.full);
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
    double us = rounds(t, times, s.dealt, s.steps, times.begin), together = 0;
    if (left > 0) {
      const double more = elements > 16384 ? 1.12 : 1.04;  // registers are short in a longer kernel
      const double each = more * left * s.steps / s.blocks;
      us += rounds(t, times, s.blocks, each, times.begin * (s.blocks % left == 0 ? 1 : 2));
      const double parts = std::max(2.0, double(s.blocks) / left);
      plan.way = parts <= (elements <= 2048 ? 16 : 6) ? Plan::kTickets : Plan::kTwoPasses;
      together = 3.0 + (plan.way == Plan::kTickets ? 0.2 * parts * std::sqrt(elements / 2048)
                                                   : 0.175 * parts + 8 * s.blocks * elements / 7e6);
      plan.floats = std::size_t{2} * s.blocks * t.rows * t.columns, plan.tickets = left;
    }
    us = std::max({us, s.tiles * s.steps * to_l2 / 5.5e6, bytes() / 2.6e6});
    const double copy = 2.9 + 8.0 * (double(m_) * k_ + double(k_) * n_) / 3.5e6;
    plan.us = 3.2 + us + together + (plan.copies ? copy : 0);
    all.push_back(plan);
  }

  /// `side` is divided into groups of `piece`, k into as many parts as make enough blocks.
  void add_thin(Plan::Way way, unsigned piece, unsigned side, unsigned enough,
                std::vector<Plan>& all) const {
    const bool rows = way == Plan::kFewRows;
    const auto groups = static_cast<unsigned>(div_up(side, piece));
    unsigned depth = 256;
    for (const unsigned deeper : {384u, 512u, 768u, 1024u})
      if (groups * div_up(k_, deeper) >= enough) depth = deeper;
    depth = std::min(depth, k_);
    const auto parts = static_cast<double>(div_up(k_, depth));
    const unsigned thin = rows ? m_ : n_;
    const double blocks = groups * parts;
    const double walk = rows ? depth * (0.0037 + 0.00136 * thin) * (1 + 0.0031 * blocks)
                             : depth * (0.00022 + 0.00015 * thin) * (1 + 0.01 * blocks);
    const double us = (rows ? 3.8 : 4.0) + std::max(walk, bytes() / (rows ? 2.84e6 : 4.4e6)) +
                      (parts > 1 ? (rows ? 0.95 : 1.5) : 0);
    all.push_back({way, 0, depth, false, us,
                   parts > 1 ? static_cast<std::size_t>(parts) * m_ * n_ : 0, groups});
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
      else
        multiply_few_rows<8, 2><<<grid, kThinThreads>>>(a, b, c, parts);
      return;
    }
    case Plan::kFewColumns: {
      const dim3 grid = split(c.height, kThinWarps);
      if (thin == 1)
        multiply_few_columns<1><<<grid, kThinThreads>>>(a, b, c, parts);
      else if (thin == 2)
        multiply_few_columns<2><<<grid, kThinThreads>>>(a, b, c, parts);
      else if (thin <= 4)
        multiply_few_columns<4><<<grid, kThinThreads>>>(a, b, c, parts);
      else
        multiply_few_columns<8><<<grid, kThinThreads>>>(a, b, c, parts);
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
