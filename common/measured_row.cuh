// SPDX-License-Identifier: MIT
// Every row of a chapter's table is made alike: poison, run, check, time, check again.
#pragma once

#include <cstddef>
#include <string>

#include "check.cuh"
#include "options.cuh"
#include "result_table.cuh"
#include "timer.cuh"

/// A version's times, and whether its result was right before and after they were taken.
struct Measured {
  Timing time;
  bool ok = false;
};

/// Measures one version. `poison()` overwrites the result, so that a kernel that writes nothing
/// cannot pass with an earlier one; `launch()` puts one launch on the default stream; `is_right()`
/// waits for it and says whether it left the right result.
template <class Poison, class Launch, class IsRight>
Measured measure_checked(Samples samples, Poison&& poison, Launch&& launch, IsRight&& is_right) {
  const auto run = [&] {
    launch();
    CUDA_CHECK_LAUNCH();
  };
  poison();
  run();
  const bool right_at_first = is_right();
  const Timing time = time_launches(samples, run);
  return {time, is_right() && right_at_first};
}

/// Adds the row `name`, measured as above. `amount` is what one launch moves or computes (see
/// ResultTable::add).
template <class Poison, class Launch, class IsRight>
void add_measured_row(ResultTable& table, const std::string& name, double amount, Poison&& poison,
                      Launch&& launch, IsRight&& is_right) {
  const Measured m = measure_checked(table.options().sampling(), poison, launch, is_right);
  table.add(name, m.time, amount, m.ok);
}

/// Adds a row for each version that the command line asks for, launched on `data`.
/// `is_right(version)` gets the version's name.
template <class Data, std::size_t kCount, class Poison, class IsRight>
void add_version_rows(ResultTable& table, const Version<Data> (&versions)[kCount], const Data& data,
                      double amount, Poison&& poison, IsRight&& is_right) {
  for (const auto& version : versions) {
    if (!table.options().wants(version.name)) continue;
    add_measured_row(
        table, version.name, amount, poison, [&] { version.launch(data); },
        [&] { return is_right(version.name); });
  }
}
