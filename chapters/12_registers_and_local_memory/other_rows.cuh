// SPDX-License-Identifier: MIT
// Chapter 12, the options --sweep and --show: which table takes the place of the usual one.
// Included by registers_and_local_memory.cu.
#pragma once

#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "blocks_per_sm.cuh"
#include "latency_ladder.cuh"
#include "launch_bounds.cuh"
#include "parked_sums.cuh"

// The rows of the table that is asked for, "" for the usual one.
void name_rows(Options& opt, const std::string& what) {
  if (what.empty()) {
    for (const DigitVersion& v : kVersions) opt.version(v.name, v.summary);
  }
  if (what == "registers") launch_bounds::name_rows(opt);
  if (what == "shared") parked_sums::name_rows(opt);
  if (what == "carveout") parked_sums::name_carveout_rows(opt);
  if (what == "latency") latency_ladder::name_rows(opt);
}

// Prints the table `what`. Returns the exit status of the program.
int run_other_rows(const Options& opt, const Device& device, const std::string& what,
                   std::size_t n) {
  const bool has_ints = what != "latency";
  const std::size_t bytes = has_ints ? n * sizeof(int) : kRingInMemory;
  require_device_memory(opt, "--n " + std::to_string(n), bytes + bytes / 16 + 64_Mi);
  std::vector<std::string> columns;
  if (what == "registers") columns = {"registers", "local_bytes", "predicted", "by_api"};
  if (what == "shared" || what == "carveout") columns = {"shared_bytes", "predicted", "by_api"};
  ResultTable table(opt, device, has_ints ? what + " · n = " + std::to_string(n) : what, bytes,
                    columns);
  if (what == "registers") launch_bounds::add_rows(table, device, n);
  if (what == "shared") parked_sums::add_rows(table, device, n);
  if (what == "carveout") parked_sums::add_carveout_rows(table, device, n);
  if (what == "latency") latency_ladder::add_rows(table, device);
  return table.finish();
}
