// SPDX-License-Identifier: MIT
#include "repetitions.h"

#include "../engine/settings.h"

namespace races {

double seconds_for_all = 10;

bool Repetitions::begins(const cuda_cpu::GridLaunch& launch, double now) {
  ++launches_;
  began_ = now;
  const bool is_new = looked_at_.insert(launch.identity()).second;
  passes_over_ = !is_new && !cuda_cpu::all_launches_are_wanted() &&
                 seconds_looking_ >= seconds_for_all + seconds_without_ / 4;
  if (passes_over_) ++passed_over_;
  return passes_over_;
}

void Repetitions::ends(double now) {
  (passes_over_ ? seconds_without_ : seconds_looking_) += now - began_;
}

}  // namespace races
