// SPDX-License-Identifier: MIT
// Chapter 04, one launch and three clocks: where and when each block ran, and how long the launch
// took by events, by %globaltimer and by clock64. Included by multi_block.cu, whose kernel
// sum_recorded it launches.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "shapes.cuh"

// Where and when the blocks ran. The time by events goes to *event_ms.
std::vector<BlockRecord> record_blocks(const ThreadSums& d, Shape shape, double* event_ms) {
  return records_of_launch(shape.grid, event_ms, [&](BlockRecord* records) {
    sum_recorded<<<shape.grid, shape.block>>>(d.x.get(), d.x.size(), d.partial.get(), records);
    CUDA_CHECK_LAUNCH();
  });
}

// From the start of the first block to the end of the last, by either clock.
BlockRecord whole_launch(const std::vector<BlockRecord>& blocks) {
  BlockRecord all = blocks[0];
  for (const BlockRecord& b : blocks) {
    all.start_ns = std::min(all.start_ns, b.start_ns);
    all.end_ns = std::max(all.end_ns, b.end_ns);
    all.start_cycles = std::min(all.start_cycles, b.start_cycles);  // wrong: the counters of
    all.end_cycles = std::max(all.end_cycles, b.end_cycles);        // two SMs share no zero
  }
  return all;
}

// The rows by_events, by_globaltimer and by_clock64, with the options that only they have.
class ClockRows {
 public:
  explicit ClockRows(Options& opt) {
    opt.version("by_events", "2.5 waves of blocks, timed by events");
    opt.version("by_globaltimer", "the same launch by the clock that all SMs share");
    opt.version("by_clock64", "the same launch by the SMs' own counters: wrong");
    opt.add("grid", &grid_, 1, 1_Mi, "blocks of the by_* rows [two and a half waves]");
    opt.add_file("blocks-csv", &blocks_csv, "where and when each block of the by_* rows ran");
  }

  std::string blocks_csv;  // where to write the records; empty: nowhere

  Shape shape(Setting s) const {
    const unsigned waves = one_wave<sum_recorded>(s).grid * 5 / 2;
    return {grid_ > 0 ? static_cast<unsigned>(grid_) : waves, s.block};
  }

  // Device memory for the records.
  std::size_t bytes(Setting s) const { return shape(s).grid * sizeof(BlockRecord); }

  void open_csv(const Options& opt) { file_.open(opt, "--blocks-csv", blocks_csv); }

  void add_rows(ResultTable& table, const ThreadSums& d, Setting s) {
    const std::string& only = table.options().only;
    if (!only.empty() && only.find("by_") == std::string::npos && !file_.is_open()) return;
    d.partial.poison();
    double event_ms = 0;
    const std::vector<BlockRecord> blocks = record_blocks(d, shape(s), &event_ms);
    const bool ok =
        check("recorded blocks", d, shape(s)) && records_are_plausible(blocks, event_ms);
    const BlockRecord all = whole_launch(blocks);
    const auto bytes_read = static_cast<double>(d.x.bytes());
    table.add_once("by_events", event_ms, bytes_read, ok);
    table.add_once("by_globaltimer", all.ms(), bytes_read, ok);
    // One block tells how long a cycle is: on its own SM both clocks are right.
    table.add_once("by_clock64", all.cycles() * blocks[0].ms_per_cycle(), bytes_read, ok);
    table.note("by_*: " + std::to_string(blocks.size()) + " blocks, of which " +
               std::to_string(one_wave<sum_recorded>(s).grid) + " fit at once");
    write_blocks(file_, blocks);
  }

  // Ends the table and puts the file of records in place. Returns the program's exit status.
  int finish(ResultTable& table) {
    const int status = table.finish();
    return file_.finish() ? status : kExitWrong;
  }

 private:
  std::size_t grid_ = 0;  // 0: two waves and a half
  CsvFile file_;
};
