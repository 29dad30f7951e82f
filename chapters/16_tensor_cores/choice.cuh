// SPDX-License-Identifier: MIT
// Chapter 16: which tile, and into how many parts its steps are split. All numbers are an H200's.
#pragma once

#include <string>

#include "../../common/common.cuh"

/// A tile of the persistent kernel: its sides, how the blocks of a cluster lie, whether it is
/// turned (C^T is computed), and what it takes of a multiprocessor in microseconds, before and
/// after its steps and for each step of 64 terms.
struct TileTimes {
  unsigned rows, columns, down, across;
  bool turned;
  double ends, step;
};

/// Fitted to the times of plans of 200 shapes, and of five squares with a weight of 20
/// (common/tools/measure/fit_tensor_tiles.py). At 1.7 GHz a step of 128 x 256 elements takes the
/// tensor cores 0.602 us.
constexpr TileTimes kTileTimes[] = {
    {128, 128, 2, 2, false, 2.20, 0.321}, {128, 256, 2, 1, false, 3.36, 0.624},
    {128, 256, 1, 1, false, 2.60, 0.703}, {128, 192, 1, 1, false, 1.99, 0.573},
    {128, 128, 1, 1, false, 1.46, 0.436}, {64, 128, 1, 1, false, 0.90, 0.301},
    {64, 64, 1, 1, false, 0.56, 0.196},   {224, 128, 2, 2, true, 2.91, 0.530},
    {160, 128, 2, 2, true, 2.26, 0.399},  {96, 128, 2, 2, true, 1.61, 0.266},
    {224, 128, 1, 2, true, 2.72, 0.545},  {192, 128, 1, 2, true, 2.46, 0.478},
    {160, 128, 1, 2, true, 2.21, 0.426},  {224, 128, 1, 1, true, 2.07, 0.615},
    {160, 128, 1, 1, true, 1.66, 0.481},  {128, 128, 1, 1, true, 1.28, 0.416},
    {96, 128, 1, 1, true, 1.01, 0.351},   {96, 64, 1, 1, true, 0.98, 0.248},
    {32, 64, 1, 1, true, 0.54, 0.194},    {16, 64, 1, 1, true, 0.50, 0.146},
};
constexpr double kLaunchUs = 4.84,
                 kSecondLaunchUs = 2.09;  // of the kernel; of the one that adds parts
constexpr double kBytesPerUs = 3.35e6;    // from memory
constexpr double kBytesOfParts = 2.94e6;  // sums of parts, per microsecond
constexpr double kUnevenRows =
    0.04;  // of a step, where rows of B do not begin at lines of 128 bytes
constexpr double kMostPerUs = 7.9e8;  // additions and multiplications, by the chip's power; given
constexpr unsigned kFoursOf132 = 30;  // clusters of four blocks that run at once
constexpr unsigned kLeastSteps = 2;   // of a part

/// A way to compute a product.
struct Plan {
  unsigned tile;   ///< a row of kTileTimes
  unsigned parts;  ///< of the steps of each tile
  double us;       ///< how long it takes, by the model
};

/// Waves, power or bytes, whichever take longest; and the sums of parts, which are written, read
/// and added.
inline Plan plan_of(unsigned m, unsigned n, unsigned k, unsigned sms, unsigned tile,
                    unsigned parts) {
  const TileTimes& t = kTileTimes[tile];
  const unsigned blocks = t.down * t.across;
  const std::size_t at_once = blocks == 4 ? sms * kFoursOf132 / 132 : sms / blocks;
  const std::size_t tiles = div_up(m, t.rows * t.down) * div_up(n, t.columns * t.across);
  const auto rounds = static_cast<double>(div_up(tiles * parts, std::max<std::size_t>(1, at_once)));
  const double steps = static_cast<double>(div_up(k, 64));
  const double step = t.step * (n % 64 != 0 ? 1 + kUnevenRows : 1);
  const double amount = 2.0 * static_cast<double>(tiles * blocks) * t.rows * t.columns * steps * 64;
  const double bytes = 2.0 * (1.0 * m * k + 1.0 * k * n + 1.0 * m * n);
  double us = kLaunchUs + std::max({rounds * (t.ends + steps / parts * step), amount / kMostPerUs,
                                    bytes / kBytesPerUs});
  if (parts > 1) us += kSecondLaunchUs + 8.0 * parts * m * n / kBytesOfParts;
  return {tile, parts, us};
}

/// The plan of the least predicted time for so many multiprocessors. Without clusters (the CPU
/// backend has none) only tiles of single blocks.
inline Plan best_plan(unsigned m, unsigned n, unsigned k, unsigned sms, bool with_clusters) {
  Plan best = {0, 1, 0};
  for (unsigned tile = 0; tile < std::size(kTileTimes); ++tile) {
    const TileTimes& t = kTileTimes[tile];
    const unsigned blocks = t.down * t.across;
    // A tile that is turned leaves by bulk stores alone, which end at multiples of 16 bytes.
    if (blocks > (with_clusters ? sms : 1) || (t.turned && n % 8 != 0)) continue;
    const std::size_t tiles = div_up(m, t.rows) * div_up(n, t.columns);
    const std::size_t most =
        std::max<std::size_t>(1, std::min(2 * sms / tiles, div_up(k, 64) / kLeastSteps));
    for (unsigned parts = 1; parts <= most; ++parts) {
      const Plan plan = plan_of(m, n, k, sms, tile, parts);
      if (best.us == 0 || plan.us < best.us) best = plan;
    }
  }
  return best;
}

inline std::string text_of(const Plan& plan) {
  const TileTimes& t = kTileTimes[plan.tile];
  const unsigned blocks = t.down * t.across;
  return text("tiles of ", t.rows, " x ", t.columns, t.turned ? ", turned" : "",
              blocks > 1 ? text(", in clusters of ", blocks) : "", ", in ", plan.parts,
              plan.parts > 1 ? " parts" : " part", ", predicted ", plan.us / 1e3, " ms");
}
