// SPDX-License-Identifier: MIT
// Where and when the blocks of a launch ran: a record per block, filled by the kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "result_table.cuh"

/// Filled by one thread of the block, from sm_id(), global_timer_ns() and clock64().
struct BlockRecord {
  unsigned sm;
  std::uint64_t start_ns, end_ns;      ///< by the clock that all SMs share
  long long start_cycles, end_cycles;  ///< by the counter of the block's own SM

  double ms() const { return static_cast<double>(end_ns - start_ns) / 1e6; }
  double cycles() const { return static_cast<double>(end_cycles - start_cycles); }
};

/// Writes block,sm,start_ns,end_ns; times count from the start of the first block.
inline void write_blocks(CsvFile& csv, const std::vector<BlockRecord>& blocks) {
  csv.row({"block", "sm", "start_ns", "end_ns"});
  std::uint64_t zero = blocks[0].start_ns;
  for (const BlockRecord& b : blocks) zero = std::min(zero, b.start_ns);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    csv.row({std::to_string(i), std::to_string(blocks[i].sm),
             std::to_string(blocks[i].start_ns - zero), std::to_string(blocks[i].end_ns - zero)});
  }
}
