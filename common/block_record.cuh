// SPDX-License-Identifier: MIT
// Where and when the blocks of a launch ran: a record per block, filled by the kernel.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device_array.cuh"
#include "device_clock.cuh"
#include "result_table.cuh"
#include "timer.cuh"

/// Filled by one thread of the block, from sm_id(), global_timer_ns() and clock64().
struct BlockRecord {
  unsigned sm;
  std::uint64_t start_ns, end_ns;      ///< by the clock that all SMs share
  long long start_cycles, end_cycles;  ///< by the counter of the block's own SM

  double ms() const { return static_cast<double>(end_ns - start_ns) / 1e6; }
  double cycles() const { return static_cast<double>(end_cycles - start_cycles); }
  double ms_per_cycle() const { return ms() / std::max(1.0, cycles()); }
};

/// Calls `launch(records)` twice, the first time to warm up, with device memory for `grid` records.
/// Returns the records of the second launch, and its time by events in *event_ms.
template <class Launch>
std::vector<BlockRecord> records_of_launch(unsigned grid, double* event_ms, Launch&& launch) {
  const DeviceArray<BlockRecord> records(grid);
  EventTimer timer;
  for (int repeat = 0; repeat < 2; ++repeat) {
    timer.start();
    launch(records.get());
    *event_ms = timer.stop_ms();
  }
  return records.download();
}

/// Whether records can be true of a launch that took `event_ms` by events: each was written (the
/// memory was poisoned before), none ends before it starts or counts cycles that its time does not
/// hold, and all of them lie within the launch. Two microseconds are for the clocks' ticks.
inline bool records_are_plausible(const std::vector<BlockRecord>& blocks, double event_ms) {
  constexpr double kTicksMs = 0.002;
  BlockRecord all = blocks[0];
  for (const BlockRecord& b : blocks) {
    const bool written = b.sm != ~0u && b.start_ns != ~std::uint64_t{0};
    if (!written || b.end_ns < b.start_ns || !cycles_fit(b.cycles(), b.ms() + kTicksMs)) {
      return false;
    }
    all.start_ns = std::min(all.start_ns, b.start_ns);
    all.end_ns = std::max(all.end_ns, b.end_ns);
  }
  return all.ms() <= event_ms + kTicksMs;
}

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
