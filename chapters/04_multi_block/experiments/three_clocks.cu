// SPDX-License-Identifier: MIT
// How long did one launch take, by events, by the clock of all SMs and by the counters of each?

#include "../../../common/common.cuh"
#include "block_records.cuh"

// Whether records can be true of a launch that took so long by events: each was written (the memory
// was poisoned before), none ends before it starts or counts more cycles than a clock of 10 GHz has
// in that time, and all of them lie within the launch. Two microseconds are for the clocks' ticks.
bool are_plausible(const std::vector<BlockRecord>& blocks, double event_ms) {
  constexpr double kTicksMs = 0.002, kMostPerMs = 1e7;
  const auto is_plausible = [](const BlockRecord& b) {
    return b.sm != ~0u && b.end_ns >= b.start_ns && b.cycles() > 0 &&
           b.cycles() <= kMostPerMs * (b.ms() + kTicksMs);
  };
  return std::all_of(blocks.begin(), blocks.end(), is_plausible) &&
         whole_launch(blocks).ms() <= event_ms + kTicksMs;
}

bool is_right(const Launch& launch) {
  return launch.sum == launch.expected && are_plausible(launch.blocks, launch.event_ms);
}

// By the SMs' own counters. One block tells how long a cycle is: on its own SM both clocks are
// right.
double counter_ms(const std::vector<BlockRecord>& blocks) {
  return whole_launch(blocks).cycles() * blocks[0].ms() / blocks[0].cycles();
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000, block = 256, grid = 0;
  const Options opt(argc, argv, "04_three_clocks", "how long did one launch take, by three clocks?",
                    {{"n", &n, 1, 16_Gi, "ints to sum"},
                     {"block", &block, 1, 1024, "threads per block"},
                     {"grid", &grid, 1, 1_Mi, "blocks [two and a half waves]"}});
  open_device(opt);
  const unsigned wave = blocks_held(sum_recorded, block);
  if (grid == 0) grid = wave * 5 / 2;
  ResultTable table(opt, n * sizeof(int), grid * (block * 8 + sizeof(BlockRecord)));
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const Launch launch(sum_recorded, random_ints(n, 0, 9, opt.seed), grid, block);  // for all rows
  const auto add = [&](const char* name, const char* summary, double ms) {
    if (table.wants(name, summary))
      table.row(name, {ms, ms, ms, 1}, n * 4e-6 / ms, is_right(launch));
  };
  add("by_events", "2.5 waves of blocks, by events", launch.event_ms);
  add("by_globaltimer", "the same launch by the clock that all SMs share",
      whole_launch(launch.blocks).ms());
  add("by_clock64", "the same launch by the SMs' own counters: wrong", counter_ms(launch.blocks));
  table.note("by_*: ", grid, " blocks, of which ", wave, " fit at once");
  return table.finish();
}
