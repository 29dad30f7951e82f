// SPDX-License-Identifier: MIT
// Chapter 16: which tile, and into how many parts its steps are split. All numbers are an H200's.
#pragma once

#include <string>

#include "../../common/common.cuh"

/// A tile of the persistent kernel: its sides, the blocks of a cluster that compute tiles below
/// each other, and what it takes of a multiprocessor in microseconds, before and after its steps
/// and for each step of 64 terms.
struct TileTimes {
  unsigned rows, columns, blocks;
  bool turned;
  double ends, step;
};

/// Not measured yet. A step is what the tensor cores need at 2,048 multiply-adds per clock and 1.7
/// GHz, a third more where one group of warps has to keep them busy alone.
constexpr TileTimes kTileTimes[] = {
    {128, 256, 2, false, 1.5, 0.602}, {128, 256, 1, false, 1.5, 0.602},
    {128, 192, 1, false, 1.5, 0.452}, {128, 128, 2, false, 1.5, 0.301},
    {128, 128, 1, false, 1.5, 0.301}, {64, 256, 1, false, 1.5, 0.339},
    {64, 128, 2, false, 1.5, 0.203},  {64, 128, 1, false, 1.5, 0.203},
    {64, 64, 1, false, 1.5, 0.136},   {32, 128, 1, true, 1.5, 0.169},
    {64, 128, 1, true, 1.5, 0.203},   {96, 128, 1, true, 1.5, 0.237},
    {128, 128, 1, true, 1.5, 0.301},  {160, 128, 1, true, 1.5, 0.376},
    {192, 128, 1, true, 1.5, 0.452},  {224, 128, 1, true, 1.5, 0.527},
    {256, 128, 1, true, 1.5, 0.602},  {96, 128, 2, true, 1.5, 0.237},
    {128, 128, 2, true, 1.5, 0.301},  {160, 128, 2, true, 1.5, 0.376},
    {192, 128, 2, true, 1.5, 0.452},  {224, 128, 2, true, 1.5, 0.527},
    {256, 128, 2, true, 1.5, 0.602},  {16, 64, 1, true, 1.5, 0.085},
    {32, 64, 1, true, 1.5, 0.102},    {64, 64, 1, true, 1.5, 0.136},
    {96, 64, 1, true, 1.5, 0.169},    {128, 64, 1, true, 1.5, 0.203},
    {192, 64, 1, true, 1.5, 0.271},   {64, 64, 2, true, 1.5, 0.136},
    {128, 64, 2, true, 1.5, 0.203},
};
constexpr double kLaunchUs = 3.0;      // of a kernel
constexpr double kBytesPerUs = 4.2e6;  // from memory
constexpr double kBytesOfParts = 6e6;  // per microsecond: sums of parts, through the L2
constexpr unsigned kLeastSteps = 4;    // of a part

/// A way to compute a product.
struct Plan {
  unsigned tile;   ///< a row of kTileTimes
  unsigned parts;  ///< of the steps of each tile
  double us;       ///< how long it takes, by the model
};

/// Waves or bytes, whichever take longer; and the sums of parts, which are written, read and added.
inline Plan plan_of(unsigned m, unsigned n, unsigned k, unsigned sms, unsigned tile,
                    unsigned parts) {
  const TileTimes& t = kTileTimes[tile];
  const std::size_t steps = div_up(k, 64);
  const std::size_t items = div_up(m, t.rows * (t.turned ? 1 : t.blocks)) *
                            div_up(n, t.columns * (t.turned ? t.blocks : 1)) * parts;
  const auto rounds = static_cast<double>(div_up(items, std::max(1u, sms / t.blocks)));
  const auto depth = static_cast<double>(div_up(steps, parts));
  const double bytes = 2.0 * (1.0 * m * k + 1.0 * k * n + 1.0 * m * n);
  double us = kLaunchUs + std::max(rounds * (t.ends + depth * t.step), bytes / kBytesPerUs);
  if (parts > 1) us += kLaunchUs + 8.0 * parts * m * n / kBytesOfParts;
  return {tile, parts, us};
}

/// The plan of the least predicted time for so many multiprocessors. Without clusters (the CPU
/// backend has none) only tiles of single blocks.
inline Plan best_plan(unsigned m, unsigned n, unsigned k, unsigned sms, bool with_clusters) {
  Plan best = {0, 1, 0};
  for (unsigned tile = 0; tile < std::size(kTileTimes); ++tile) {
    const TileTimes& t = kTileTimes[tile];
    if (t.blocks > (with_clusters ? sms : 1) || (t.turned && n % 8 != 0)) continue;
    const std::size_t tiles = div_up(m, t.rows) * div_up(n, t.columns);
    const std::size_t most =
        std::max<std::size_t>(1, std::min(sms / tiles, div_up(k, 64) / kLeastSteps));
    for (unsigned parts = 1; parts <= most; ++parts) {
      const Plan plan = plan_of(m, n, k, sms, tile, parts);
      if (best.us == 0 || plan.us < best.us) best = plan;
    }
  }
  return best;
}

inline std::string text_of(const Plan& plan) {
  const TileTimes& t = kTileTimes[plan.tile];
  return text("tiles of ", t.rows, " x ", t.columns, t.blocks > 1 ? " in clusters" : "", ", in ",
              plan.parts, plan.parts > 1 ? " parts" : " part", ", predicted ", plan.us / 1e3,
              " ms");
}
