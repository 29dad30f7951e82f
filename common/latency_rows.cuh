// SPDX-License-Identifier: MIT
// Latency in a chapter's table: rows of a sweep, and sentences about bytes in flight.
#pragma once

#include <cstddef>
#include <string>

#include "latency.cuh"
#include "result_table.cuh"

/// One row per memory: a ring of links that fits the L1, one that fits the L2, one that fits
/// neither.
inline void add_latency_rows(ResultTable& table, std::size_t samples) {
  for (const std::size_t ring : {64_Ki, 4_Mi, kRingInMemory}) {
    const Latency latency = measure_latency(ring, samples);
    table.add("ring=" + bytes_text(ring), latency.per_load, sizeof(unsigned), latency.ok);
  }
}

/// "one load alone takes 340 ns; 4500 GB/s for that long are 1.53 MB in flight"
inline void note_wanted_in_flight(ResultTable& table, double ns, double gbps, double bytes) {
  table.note("one load alone takes " + digits_text(ns) + " ns; " + digits_text(gbps) +
             " GB/s for that long are " + digits_text(bytes / 1e6) + " MB in flight");
}

/// "  one_block: 1 x 512 threads, 0.002 MB in flight, at most 6.0 GB/s"
inline void note_in_flight(ResultTable& table, const std::string& version, unsigned grid,
                           unsigned block, double bytes, double most_gbps) {
  table.note("  " + version + ": " + std::to_string(grid) + " x " + std::to_string(block) +
             " threads, " + digits_text(bytes / 1e6) + " MB in flight, at most " +
             digits_text(most_gbps) + " GB/s");
}
