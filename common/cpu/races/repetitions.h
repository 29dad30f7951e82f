// SPDX-License-Identifier: MIT
// A launch that does again what an earlier one did is passed over where looking would take long:
// programs that measure times launch one kernel hundreds of times.
#pragma once

#include <cstdint>
#include <set>

#include "../engine/state/grid.h"
#include "../engine/state/settings.h"

namespace races {

/// For so long all launches are looked at, whether they repeat others or not. Tests set it.
inline double seconds_for_all = 10;

class Repetitions {
 public:
  /// Before a launch: whether it is passed over. A new one never is. One that repeats another is if
  /// looking has taken seconds_for_all by now, and a quarter of the time that was spent in launches
  /// that were passed over. `now`: by a clock, in seconds.
  bool begins(const cuda_cpu::GridLaunch& launch, double now) {
    ++launches_;
    began_ = now;
    const bool is_new = looked_at_.insert(launch.identity()).second;
    passes_over_ = !is_new && !cuda_cpu::all_launches_are_wanted() &&
                   seconds_looking_ >= seconds_for_all + seconds_without_ / 4;
    if (passes_over_) ++passed_over_;
    return passes_over_;
  }
  /// After the launch, whether it was passed over or not.
  void ends(double now) { (passes_over_ ? seconds_without_ : seconds_looking_) += now - began_; }

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
