// SPDX-License-Identifier: MIT
// Chapter 11, the rows of --show votes: what they read and write, and what they are to leave.
// Included by votes.cuh.
#pragma once

namespace votes {

const Version<Segments> kRows[] = {
    {"votes", "any, all and ballot of every 32 ints",
     [](const Segments& s) { take_votes<<<s.grid, s.block>>>(s); }},
    {"equal_lanes", "how many of the 32 hold the same hundred, by match_any",
     [](const Segments& s) { count_equal_lanes<<<s.grid, s.block>>>(s); }},
    {"search_all", "where 777 first stands, all of the segment read",
     [](const Segments& s) { search_all<<<s.grid, s.block>>>(s); }},
    {"search_exit", "the same, ended by a vote",
     [](const Segments& s) { search_exit<<<s.grid, s.block>>>(s); }},
    {"compact", "the odd values side by side, in their order",
     [](const Segments& s) { compact_odd<<<s.grid, s.block>>>(s); }},
    {"scan", "sums up to each value of the segment",
     [](const Segments& s) { scan_segments<<<s.grid, s.block>>>(s); }},
    {"active_mask", "what __activemask says: nothing that can be relied on",
     [](const Segments& s) { ask_active_mask<<<s.grid, s.block>>>(s); }},
};

inline void name_rows(Options& opt) { opt.versions(kRows); }

// Owns what the rows read and write.
struct SegmentMemory {
  SegmentMemory(const std::vector<int>& values, unsigned block)
      : x(values),
        per_int(values.size()),
        per_row(div_up(values.size(), kWarp) * 3),
        per_warp(div_up(values.size(), kSegment)) {
    const std::size_t warps = std::max<std::size_t>(1, per_warp.size());
    segments = {x.get(),       values.size(), static_cast<unsigned>(div_up(warps * kWarp, block)),
                block,         per_int.get(), per_row.get(),
                per_warp.get()};
  }
  void poison() const { per_int.poison(), per_row.poison(), per_warp.poison(); }

  DeviceArray<int> x, per_int;
  DeviceArray<unsigned> per_row;
  DeviceArray<int> per_warp;
  Segments segments;
};

// What a row leaves, by the host. Poison (-1) where it writes nothing.
struct Expected {
  std::vector<int> per_int, per_warp;
  std::vector<unsigned> per_row;
};

inline Expected expect(const std::string& row, const std::vector<int>& x) {
  const std::size_t n = x.size();
  Expected e{std::vector<int>(n, -1), std::vector<int>(div_up(n, kSegment), -1),
             std::vector<unsigned>(div_up(n, kWarp) * 3, ~0u)};
  if (row.rfind("search", 0) == 0) std::fill(e.per_warp.begin(), e.per_warp.end(), kSegment);
  if (row == "compact") std::fill(e.per_warp.begin(), e.per_warp.end(), 0);
  std::vector<int> hundreds;  // of a row of 32: how many there are of each
  int sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t segment = i / kSegment;
    if (i % kSegment == 0) sum = 0;
    sum += x[i];
    if (row == "scan") e.per_int[i] = sum;
    if (row == "compact" && x[i] % 2 != 0) {
      e.per_int[segment * kSegment + static_cast<unsigned>(e.per_warp[segment]++)] = x[i];
    }
    if (row.rfind("search", 0) == 0 && x[i] == kWanted) {
      e.per_warp[segment] = std::min(e.per_warp[segment], static_cast<int>(i % kSegment));
    }
    if (row != "votes" && row != "equal_lanes") continue;
    const std::size_t first = i / kWarp * kWarp, last = std::min(first + kWarp, n);
    if (row == "equal_lanes") {
      if (i == first) {
        hundreds.assign(kValues / 100, 0);
        for (std::size_t k = first; k < last; ++k) ++hundreds[static_cast<unsigned>(x[k] / 100)];
      }
      e.per_int[i] = hundreds[static_cast<unsigned>(x[i] / 100)];
    } else {
      unsigned* const votes = &e.per_row[first / kWarp * 3];
      if (i == first) votes[0] = 0, votes[1] = 1, votes[2] = 0;
      votes[0] |= x[i] < kLow;
      votes[1] &= x[i] < kValues - kLow;
      votes[2] |= (x[i] % 2 != 0 ? 1u : 0u) << (i - first);
    }
  }
  return e;
}

inline bool check(const std::string& row, const SegmentMemory& m, const Expected& e) {
  if (row == "active_mask") return true;  // nothing is promised
  return all_equal(row, m.per_int.download().data(), e.per_int.data(), e.per_int.size()) &&
         all_equal(row, m.per_row.download().data(), e.per_row.data(), e.per_row.size()) &&
         all_equal(row, m.per_warp.download().data(), e.per_warp.data(), e.per_warp.size());
}

// How many of the warps' looks were not what the source suggests: in a branch, in a loop, behind.
inline std::vector<std::size_t> surprises(const SegmentMemory& m) {
  std::vector<std::size_t> count(3);
  const std::vector<unsigned> rows = m.per_row.download();
  for (std::size_t k = 0; k < rows.size(); ++k) count[k % 3] += rows[k] != 0;
  return count;
}

inline void note_surprises(ResultTable& table, const SegmentMemory& m) {
  const std::vector<std::size_t> count = surprises(m);
  const char* const where[] = {"in a branch", "in a loop", "behind both"};
  for (unsigned k = 0; k < 3; ++k) {
    table.measured(std::string("active_mask ") + where[k], static_cast<double>(count[k]), "rows",
                   std::string("active_mask: ") + where[k] +
                       ", not the lanes that the source "
                       "suggests in " +
                       std::to_string(count[k]) + " of " + std::to_string(m.per_row.size() / 3) +
                       " rows of 32");
  }
}

inline int run(ResultTable& table, const Device& device, std::size_t n, unsigned block) {
  const std::vector<int> x = random_ints(n, 0, kValues - 1, table.options().seed);
  const SegmentMemory m(x, block);
  if (kOnGpu) table.rate_in_gbps("read", measure_yardstick(device, m.x.bytes()).read_gbps);
  for (const auto& row : kRows) {
    if (!table.options().wants(row.name)) continue;
    const Expected expected = expect(row.name, x);
    add_measured_row(
        table, row.name, static_cast<double>(m.x.bytes()), [&] { m.poison(); },
        [&] { row.launch(m.segments); }, [&] { return check(row.name, m, expected); });
    if (row.name == std::string("active_mask")) note_surprises(table, m);
  }
  return table.finish();
}

}  // namespace votes
