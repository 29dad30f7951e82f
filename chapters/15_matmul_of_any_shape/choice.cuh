// SPDX-License-Identifier: MIT
// Chapter 15: which way for which shape? A model predicts the time of every way that there is from
// its waves and its bytes, and the way with the least is taken. The numbers are fitted.cuh's.
#pragma once

#include "fitted.cuh"
#include "shares.cuh"
#include "thin.cuh"

/// A way to compute a product.
struct Plan {
  enum Way { kTiles, kTickets, kTwoPasses, kFewRows, kFewColumns, kFewTerms };
  Way way;
  unsigned row;    ///< of kTiles, kFewRows or kFewColumns
  unsigned parts;  ///< blocks of even shares; or the terms of a block of a thin product
  bool copies;     ///< A or B is copied first, so that its rows are aligned
  double us;       ///< predicted
  std::size_t floats, tickets;  ///< that it needs for the sums of parts
};

/// The rows of C that a block of multiply_few_columns has.
inline unsigned rows_of_block(const FittedColumns& t) { return kThinThreads / t.sharers * t.rows; }

/// The shape of a product as the model sees it.
struct ShapeModel {
  unsigned m, n, k;   ///< rows and columns of C, terms of an element
  bool rows_aligned;  ///< those of A and B
  unsigned sms;       ///< multiprocessors

  /// How the work is divided into even shares for `blocks` blocks; 0: a block for each tile.
  Shares shares(const FittedTile& t, unsigned blocks) const {
    const unsigned down = blocks_for(m, t.rows), across = blocks_for(n, t.columns);
    return divide_work(down, across, blocks_for(k, t.depth), blocks > 0 ? blocks : down * across);
  }

  /// All ways, with their predicted times.
  std::vector<Plan> plans() const {
    std::vector<Plan> all;
    for (unsigned t = 0; t < std::size(kTiles); ++t) {
      add_tile(t, rows_aligned, all);
      if (!rows_aligned && 1.0 * m * n * k > kWorthCopies) add_tile(t, true, all);
    }
    for (unsigned r = 0; r < std::size(kFewRows); ++r)
      if (m <= kFewRows[r].holds) add_thin(Plan::kFewRows, r, all);
    for (unsigned r = 0; r < std::size(kFewColumns); ++r)
      if (n <= kFewColumns[r].holds) add_thin(Plan::kFewColumns, r, all);
    if (k <= kFewTerms) {
      const double blocks = static_cast<double>(div_up(m, 32)) * div_up(n, 128);
      const double terms = k * kTerm * (1 + kTermOfBlock * blocks);
      const double us = kTermsBegin + std::hypot(terms, bytes() / kTermsMemory);
      all.push_back({Plan::kFewTerms, 0, 0, false, us, 0, 0});
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
  static constexpr double kStays = 5e7;        // bytes that stay in the L2 between launches

  double bytes() const { return 4.0 * (double(m) * k + double(k) * n + double(m) * n); }

  /// Rounds of blocks, each of `steps` steps: the fullest multiprocessor counts.
  double rounds(const FittedTile& t, const StepTimes& times, unsigned blocks, double steps,
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
    const FittedTile& t = kTiles[row];
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
    const FittedTile& t = kTiles[row];
    // Steps read A and B, and what begins and ends a tile's walk stores C.
    const StepTimes& reads = aligned ? t.wide : t.narrow;
    const StepTimes& stores = n % kWide == 0 ? t.wide : t.narrow;
    const StepTimes times = {reads.full, reads.alone, stores.begin, stores.each};
    const Shares s = shares(t, blocks);
    const unsigned left = s.tiles - s.dealt;
    const double elements = t.rows * t.columns, to_l2 = 4.0 * (t.rows + t.columns) * t.depth;
    Plan plan{Plan::kTiles, row, s.blocks, aligned != rows_aligned, 0, 0, 0};
    // In the kernel of shares every step takes longer.
    const double more = left == 0 ? 1 : elements > 16384 ? kSharedLarge : kShared;
    const bool spans = left > 0 && s.blocks % left != 0;  // a block has parts of two tiles
    const double dealt = rounds(t, times, s.dealt, more * s.steps, times.begin);
    const double of_a = 4.0 * m * k, of_b = 4.0 * k * n;
    const double memory = aligned ? bytes() / kMemory : of_a / kMemoryOfA + of_b / kMemoryOfB;
    const double copies = plan.copies ? kSecondKernel + 2 * (of_a + of_b) / kMemoryOfCopies : 0;
    const double l2 = s.tiles * s.steps * to_l2 / kL2;
    // A block that has parts of two tiles begins twice; what that costs depends on the way.
    const auto us = [&](double begins) {
      const double steps = more * left * s.steps / s.blocks;
      const double begin = times.begin * (spans ? begins : 1);
      const double shared = left == 0 ? 0 : rounds(t, times, s.blocks, steps, begin);
      return kLaunch + std::max({dealt + shared, l2, memory}) + copies;
    };
    plan.us = us(1);
    if (left == 0) return all.push_back(plan);
    plan.floats = std::size_t{2} * s.blocks * t.rows * t.columns, plan.tickets = left;
    const double parts = std::max(2.0, double(s.blocks) / left);
    const double per_thread =
        elements / ((t.rows / t.warp_rows) * (t.columns / t.warp_columns) * 32);
    const double stored = 8 * s.blocks * elements / kL2OfSums;
    plan.way = Plan::kTickets;
    plan.us = us(kTicketBegins) + kTicket + kTicketOfPart * parts * per_thread / 32 + stored;
    all.push_back(plan);
    plan.way = Plan::kTwoPasses;
    plan.us = us(kPassBegins) + kPass + kPassOfPart * parts + stored;
    all.push_back(plan);
  }

  /// k is divided into parts of several sizes.
  void add_thin(Plan::Way way, unsigned row, std::vector<Plan>& all) const {
    const bool rows = way == Plan::kFewRows;
    const StepTimes& times = rows ? kFewRows[row].times : kFewColumns[row].times;
    const unsigned most = most_of_k(rows ? kFewRows[row].holds : kFewColumns[row].holds);
    const unsigned groups = rows ? blocks_for(n, kFewRows[row].columns)
                                 : blocks_for(m, rows_of_block(kFewColumns[row]));
    for (unsigned depth = 128; depth <= most && (depth == 128 || depth / 2 < k); depth *= 2) {
      const auto parts = static_cast<double>(div_up(k, depth));
      const double held = std::ceil(groups * parts / sms), terms = std::min(depth, k);
      const double l2 = rows ? kThinL2OfRows : kThinL2OfColumns;
      const double rate = bytes() > kStays ? kThinMemory : l2;
      double us = kLaunch + times.begin + held * times.each +
                  std::hypot(terms * std::hypot(times.alone, held * times.full), bytes() / rate);
      if (parts > 1)
        us += rows ? kThinRowParts + kThinRowPart * parts
                   : kThinColumnParts + kThinColumnPart * parts;
      const double floats = parts > 1 ? parts * m * n : 0;
      all.push_back({way, row, depth, false, us, static_cast<std::size_t>(floats), groups});
    }
  }
};
