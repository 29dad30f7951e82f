// SPDX-License-Identifier: MIT
// Chapter 10: how the experiments that do something wrong on purpose count what came of it.
#pragma once

#include "../../../common/common.cuh"

// What one row found.
struct Found {
  std::size_t wrong = 0, of = 0;
  bool plausible = true;  // within what can happen at all; of a cure: right
};

// Adds a row: how long `run` took as a whole, and what it Found. The check says `bug` if anything
// was wrong; `what` is the text between the two counts.
template <class Run>
void add_found(ResultTable& table, const std::string& name, const char* summary, const char* bug,
               const std::string& what, Run run) {
  if (!table.wants(name, summary)) return;
  const double begin = host_ms();
  const Found f = run();
  table.row(name, timing_of({host_ms() - begin}), 0, f.plausible, f.wrong > 0 ? bug : "ok");
  table.measured(name, f.wrong, "wrong");
  table.measured(name, f.of - f.wrong, "right");
  table.measured(name, f.of, "of", name, ": ", f.wrong, " ", what, " ", f.of);
}
