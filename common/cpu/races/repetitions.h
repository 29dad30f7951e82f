// SPDX-License-Identifier: MIT
// A launch that does again what an earlier one did is passed over where looking would take long:
// programs that measure times launch one kernel hundreds of times.
#pragma once

#include <cstdint>
#include <set>

#include "../engine/grid.h"

namespace races {

/// For so long all launches are looked at, whether they repeat others or not. Tests set it.
extern double seconds_for_all;

class Repetitions {
 public:
  /// Before a launch: whether it is passed over. A new one never is. One that repeats another is if
  /// looking has taken seconds_for_all by now, and a quarter of the time that was spent in launches
  /// that were passed over. `now`: by a clock, in seconds.
  bool begins(const cuda_cpu::GridLaunch& launch, double now);
  /// After the launch, whether it was passed over or not.
  void ends(double now);

  std::uint64_t launches() const { return launches_; }
  std::uint64_t passed_over() const { return passed_over_; }

 private:
  std::set<cuda_cpu::LaunchIdentity> looked_at_;
  std::uint64_t launches_ = 0, passed_over_ = 0;
  double seconds_looking_ = 0, seconds_without_ = 0;
  bool passes_over_ = false;
  double began_ = 0;
};

}  // namespace races
