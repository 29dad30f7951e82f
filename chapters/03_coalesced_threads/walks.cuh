// SPDX-License-Identifier: MIT
// Chapter 03, the sweeps: one kernel, sum_walk, on many walks through x. Included by
// coalesced_threads.cu.
//
// --sweep stride  lanes 1, 2, 3, ... 1024 elements apart
// --sweep offset  all lanes moved by 0, 1, ... 32 elements
#pragma once

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "partial_sums.cuh"

constexpr std::size_t kWarp = 32;         // lanes: threads that execute one load together
constexpr std::size_t kSectorBytes = 32;  // what a cache fetches; four sectors make a line
constexpr std::size_t kLineBytes = 128;   // what a cache has a tag for

// One row of a sweep: thread i reads x[offset + i * stride].
struct Walk {
  std::string name;
  std::size_t offset, stride;
};

std::vector<Walk> walks_of(const std::string& sweep) {
  std::vector<Walk> walks;
  if (sweep == "stride") {
    for (const std::size_t s : {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1000, 1024}) {
      walks.push_back({"stride=" + std::to_string(s), 0, s});
    }
  } else if (sweep == "offset") {
    for (std::size_t o = 0; o <= 32; ++o) walks.push_back({"offset=" + std::to_string(o), o, 1});
  }
  return walks;
}

// How many aligned pieces of `bytes` the 32 lanes of a warp touch with one load between them.
std::size_t pieces_touched(const Walk& walk, std::size_t bytes) {
  std::set<std::size_t> pieces;
  for (std::size_t lane = 0; lane < kWarp; ++lane) {
    pieces.insert((walk.offset + lane * walk.stride) * sizeof(int) / bytes);
  }
  return pieces.size();
}

// "32 sectors (lines: 8), 12.5 % of the bytes used": what moves is whole sectors.
std::string moved_text(const Walk& walk) {
  const std::size_t sectors = pieces_touched(walk, kSectorBytes);
  char text[96];
  std::snprintf(text, sizeof text, "%2zu sectors (lines: %2zu), %5.1f %% of the bytes used",
                sectors, pieces_touched(walk, kLineBytes),
                100.0 * kWarp * sizeof(int) / static_cast<double>(sectors * kSectorBytes));
  return text;
}

// Makes a sweep's walks known to --only and --list.
void name_walks(Options& opt, const std::string& sweep) {
  for (const Walk& walk : walks_of(sweep)) opt.version(walk.name, moved_text(walk));
}

// A launch walks over one window of x, which begins at a line. Small strides take turns between
// several windows, 4 n elements in all: if every launch read the same n, the L2 would still hold a
// part of them.
std::size_t window(const Walk& walk, std::size_t n) {
  constexpr std::size_t kPerLine = kLineBytes / sizeof(int);
  return div_up(n * walk.stride, kPerLine) * kPerLine;
}
std::size_t windows(const Walk& walk) { return div_up(4, walk.stride); }
std::size_t elements_under(const Walk& walk, std::size_t n) {
  return walk.offset + windows(walk) * window(walk, n);
}

// The walks that the command line asks for and the device has room for. Without a sweep there are
// none, and x has the n elements that the versions read.
struct SweepThatFits {
  std::vector<Walk> walks;
  std::size_t elements;  // of x
  std::size_t left_out;  // walks for which x would be too large
};

// Leaves out what does not fit. The first walk stays in any case: when not even that one fits, the
// program refuses it.
SweepThatFits walks_that_fit(const Options& opt, const std::string& sweep, std::size_t n) {
  SweepThatFits fit = {{}, n, 0};
  const std::size_t room = free_device_bytes() / 8 * 7;
  for (const Walk& walk : walks_of(sweep)) {
    if (!opt.wants(walk.name)) continue;
    const std::size_t needed = elements_under(walk, n);
    if (needed * sizeof(int) <= room || fit.walks.empty()) {
      fit.walks.push_back(walk);
      fit.elements = std::max(fit.elements, needed);
    } else {
      ++fit.left_out;
    }
  }
  return fit;
}

// A row for each walk; below the table, what one load of a warp touches in each.
void add_walk_rows(ResultTable& table, const ThreadSums& s, const SweepThatFits& fit) {
  std::map<std::string, std::string> alike;  // the walks that move the same
  for (const Walk& walk : fit.walks) {
    std::size_t launches = 0, first = 0;
    const auto launch = [&] {
      first = walk.offset + launches++ % windows(walk) * window(walk, s.n);
      sum_walk<<<s.grid, s.block>>>(s.x, s.n, first, walk.stride, s.partial);
    };
    add_measured_row(
        table, walk.name, static_cast<double>(s.n) * sizeof(int), [&] { poison(s); }, launch,
        [&] {
          return check(walk.name, s, reference(table.options().seed, s.n, first, walk.stride));
        });
    alike[moved_text(walk)] += " " + walk.name;
  }
  table.note("One load of a warp (32 lanes x 4 bytes) touches:");
  for (const auto& [moved, names] : alike) table.note("  " + moved + ":" + names);
  if (fit.left_out > 0) {
    table.note("The last " + std::to_string(fit.left_out) + " rows are left out: x would not fit");
  }
}
