// SPDX-License-Identifier: MIT
// Chapter 09, what overlapping gains: its share of the ideal, and when each piece of work ran.
// Included by pinned_mapped_memory.cu, whose overlapped versions it runs.
#pragma once

#include <algorithm>
#include <string>

#include "../../common/common.cuh"
#include "../../common/timeline.cuh"
#include "default_stream.cuh"

// Nothing is faster than its slowest part: that is the ideal of overlapping. How close to it, in %?
double percent_of_ideal(double copy_ms, double kernel_ms, double both_ms) {
  return 100 * std::max(copy_ms, kernel_ms) / both_ms;
}

void note_ideal(ResultTable& table, const Transfer& t) {
  const auto ms = [&](Run run) {
    return time_launches(table.options().samples, [&] { run(t); }).median_ms;
  };
  const double copy = ms(h2d), kernel = ms(kernel_alone), both = ms(overlapped);
  table.measured("of_ideal", percent_of_ideal(copy, kernel, both), "%",
                 "overlapped " + digits_text(both) + " ms; the ideal is the slower of copy (" +
                     digits_text(copy) + ") and kernel (" + digits_text(kernel) + ")");
}

// Every event of the overlapped versions, of the same work in a single chunk, and of the three
// kernels beside and between which the default stream works.
bool write_timeline(CsvFile& csv, Transfer t) {
  bool ok = true;
  Timeline::write_header(csv);
  const auto write = [&](const std::string& name, Run run) {
    for (const bool warm : {false, true}) {
      Timeline timeline;
      t.timeline = &timeline;
      ok = run_and_check(name, t, run, At::kDevice) && ok;
      if (warm) timeline.write(csv, name);
    }
  };
  write("overlapped", overlapped);
  write("overlapped_pageable", overlapped_pageable);
  t.chunks = 1;
  write("one_chunk", overlapped);
  t.n = std::min(t.n, kThirdsWords);
  t.rounds = kThirdsRounds;
  write("default_between", default_between);
  write("default_beside", default_beside);
  return ok;
}
