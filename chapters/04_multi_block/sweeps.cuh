// SPDX-License-Identifier: MIT
// Chapter 04, the option --sweep: which table takes the place of the usual one. Included by
// multi_block.cu.
#pragma once

#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "bytes_in_flight.cuh"
#include "shapes.cuh"
#include "waiting_blocks.cuh"
#include "warp_issue.cuh"
#include "wide_loads.cuh"

const std::vector<std::string> kSweeps = {"grid", "block", "latency", "loads", "warps", "waiting"};

// A sweep has rows of its own: neither versions nor the blocks of the by_* rows can be asked for.
void refuse_other_rows(const Options& opt, const std::string& sweep,
                       const std::string& blocks_csv) {
  if (sweep.empty() || (opt.only.empty() && blocks_csv.empty())) return;
  opt.usage_error("--sweep " + sweep + ": not together with --only or --blocks-csv");
}

// Runs one sweep. Returns the program's exit status.
int run_sweep(ResultTable& table, const std::string& sweep, const ThreadSums& d, Setting s) {
  if (sweep == "grid" || sweep == "block") bytes_in_flight::add_rows(table, sweep, d, s);
  if (sweep == "latency") add_latency_rows(table, table.options().samples);
  if (sweep == "loads") wide_loads::add_rows(table, d, s);
  if (sweep == "warps") warp_issue::add_rows(table);
  if (sweep == "waiting") waiting_blocks::add_rows(table, s);
  return table.finish();
}
