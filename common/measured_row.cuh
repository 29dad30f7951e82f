// SPDX-License-Identifier: MIT
// What a row of a chapter's table goes through: run, check, time, check again.
#pragma once

#include <string>

#include "check.cuh"
#include "options.cuh"
#include "result_table.cuh"
#include "timer.cuh"

/// Adds the row `name`: `launch` puts one launch on the default stream, `is_right` says whether the
/// last one left the right result, `amount` is what one moves or computes (see ResultTable::add).
template <class Launch, class IsRight>
void add_measured_row(ResultTable& table, const Options& opt, const std::string& name,
                      double amount, Launch&& launch, IsRight&& is_right) {
  const auto run = [&] {
    launch();
    CUDA_CHECK_LAUNCH();
  };
  run();
  bool ok = is_right();
  const Timing t = time_launches(opt.samples, run);
  ok = is_right() && ok;  // and still right after the timed runs
  table.add(name, t, amount, ok);
}
