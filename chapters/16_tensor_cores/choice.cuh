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

/// Fitted to the times of plans of 180 shapes, and of five squares with a weight of 20
/// (common/tools/measure/fit_tensor_tiles.py). At 1.7 GHz a step of 128 x 256 elements takes the
/// tensor cores 0.602 us.
constexpr TileTimes kTileTimes[] = {
    {128, 128, 2, 2, false, 1.49, 0.342}, {128, 256, 2, 1, false, 2.38, 0.648},
    {128, 256, 1, 1, false, 1.77, 0.757}, {192, 192, 1, 1, false, 2.19, 0.830},
    {192, 128, 1, 2, false, 1.83, 0.541}, {192, 128, 1, 1, false, 1.48, 0.605},
    {128, 192, 1, 1, false, 1.41, 0.616}, {128, 128, 1, 1, false, 1.17, 0.426},
    {64, 128, 1, 1, false, 0.71, 0.286},  {64, 64, 1, 1, false, 0.56, 0.184},
    {96, 128, 2, 4, true, 1.49, 0.284},   {224, 128, 2, 2, true, 2.11, 0.590},
    {96, 128, 2, 2, true, 1.44, 0.279},   {256, 128, 1, 2, true, 2.19, 0.677},
    {224, 128, 1, 2, true, 2.14, 0.610},  {176, 128, 1, 2, true, 1.73, 0.494},
    {160, 128, 1, 2, true, 1.87, 0.454},  {144, 128, 1, 2, true, 1.69, 0.426},
    {112, 128, 1, 2, true, 1.47, 0.368},  {144, 128, 2, 1, true, 1.74, 0.431},
    {112, 128, 2, 1, true, 1.54, 0.351},  {160, 192, 1, 1, true, 1.72, 0.707},
    {160, 128, 1, 1, true, 1.47, 0.516},  {96, 128, 1, 1, true, 1.09, 0.325},
    {96, 64, 1, 1, true, 0.79, 0.241},    {48, 64, 1, 1, true, 0.47, 0.173},
    {16, 64, 1, 1, true, 0.33, 0.200},
};
constexpr double kLaunchUs = 4.90,
                 kSecondLaunchUs = 2.34;  // of the kernel; of the one that adds parts
constexpr double kBytesPerUs = 3.66e6;    // from memory
constexpr double kBytesOfParts = 3.17e6;  // sums of parts, per microsecond
constexpr double kMostPerUs = 7.9e8;      // additions and multiplications; given, not fitted
constexpr unsigned kFoursOf132 = 30, kEightsOf132 = 15;  // clusters of so many blocks at once
constexpr unsigned kLeastSteps = 2;                      // of a part

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
  const std::size_t at_once = blocks == 4   ? sms * kFoursOf132 / 132
                              : blocks == 8 ? sms * kEightsOf132 / 132
                                            : sms / blocks;
  const std::size_t tiles = div_up(m, t.rows * t.down) * div_up(n, t.columns * t.across);
  const auto rounds = static_cast<double>(div_up(tiles * parts, std::max<std::size_t>(1, at_once)));
  const double steps = static_cast<double>(div_up(k, 64));
  const double amount = 2.0 * static_cast<double>(tiles * blocks) * t.rows * t.columns * steps * 64;
  const double bytes = 2.0 * (1.0 * m * k + 1.0 * k * n + 1.0 * m * n);
  double us = kLaunchUs + std::max({rounds * (t.ends + steps / parts * t.step), amount / kMostPerUs,
                                    bytes / kBytesPerUs});
  if (parts > 1) us += kSecondLaunchUs + 8.0 * parts * m * n / kBytesOfParts;
  return {tile, parts, us};
}

/// The `count` plans of the least predicted times for so many multiprocessors, the best first.
/// Without clusters (the CPU backend has none) only tiles of single blocks.
inline std::vector<Plan> best_plans(unsigned m, unsigned n, unsigned k, unsigned sms,
                                    bool with_clusters, std::size_t count) {
  std::vector<Plan> plans;
  for (unsigned tile = 0; tile < std::size(kTileTimes); ++tile) {
    const TileTimes& t = kTileTimes[tile];
    const unsigned blocks = t.down * t.across;
    // Whole, a turned tile leaves by bulk stores alone, which end at multiples of 16 bytes.
    if (blocks > (with_clusters ? sms : 1) || (t.turned && n % 8 != 0)) continue;
    const std::size_t tiles = div_up(m, t.rows) * div_up(n, t.columns);
    const std::size_t most =
        std::max<std::size_t>(1, std::min(2 * sms / tiles, div_up(k, 64) / kLeastSteps));
    for (unsigned parts = 1; parts <= most; ++parts)
      plans.push_back(plan_of(m, n, k, sms, tile, parts));
  }
  count = std::min(count, plans.size());
  std::partial_sort(plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(count), plans.end(),
                    [](const Plan& a, const Plan& b) { return a.us < b.us; });
  plans.resize(count);
  return plans;
}
inline Plan best_plan(unsigned m, unsigned n, unsigned k, unsigned sms, bool with_clusters) {
  return best_plans(m, n, k, sms, with_clusters, 1).front();
}

inline std::string text_of(const Plan& plan) {
  const TileTimes& t = kTileTimes[plan.tile];
  const unsigned blocks = t.down * t.across;
  return text("tiles of ", t.rows, " x ", t.columns, t.turned ? ", turned" : "",
              blocks > 1 ? text(", in clusters of ", blocks) : "", ", in ", plan.parts,
              plan.parts > 1 ? " parts" : " part", ", predicted ", plan.us / 1e3, " ms on an H200");
}
