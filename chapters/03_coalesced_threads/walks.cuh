// SPDX-License-Identifier: MIT
// Chapter 03, the sweeps: one kernel, sum_walk or store_walk, on many walks through x. Included by
// coalesced_threads.cu.
//
// --sweep stride  loads by lanes 1, 2, 3, ... 1024 elements apart
// --sweep store   stores by lanes as far apart
// --sweep offset  loads, all lanes moved by 0, 1, ... 32 elements
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

// One row of a sweep: thread i reads x[offset + i * stride], or stores there.
struct Walk {
  std::string name;
  std::size_t offset, stride;
  bool stores = false;
};

std::vector<Walk> walks_of(const std::string& sweep) {
  std::vector<Walk> walks;
  if (sweep == "stride" || sweep == "store") {
    for (const std::size_t s : {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1000, 1024}) {
      walks.push_back({sweep + "=" + std::to_string(s), 0, s, sweep == "store"});
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

// How many bytes the L2 asks DRAM for at a time, at most: "32", "64" or "128". A hint that a device
// may ignore. Empty: as the device likes it.
void limit_fetch(const std::string& bytes) {
  if (bytes.empty()) return;
  CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, std::stoul(bytes)));
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

// Compares every element below `count`, between the steps of the walk too: there it must be as
// poison_elements() left it. The walk has filled the first `filled` of its windows.
__global__ void count_wrong(const int* y, std::size_t count, std::size_t n, std::size_t stride,
                            std::size_t window, std::size_t filled, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::size_t j = this_thread(); j < count; j += all_threads()) {
    const std::size_t place = j % window, i = place / stride;
    const bool stepped_on = j / window < filled && place % stride == 0 && i < n;
    mine += y[j] != (stepped_on ? stored(i) : -1);
  }
  if (mine > 0) atomicAdd(wrong, mine);
}

void poison_elements(const ThreadSums& s, std::size_t count) {
  CUDA_CHECK(cudaMemset(s.x, 0xff, count * sizeof(int)));
}

// Whether `launches` launches of store_walk, each on the next of the walk's windows, left every
// element as it must be.
bool check_stores(const Walk& walk, const ThreadSums& s, std::size_t launches) {
  DeviceArray<unsigned long long> wrong(std::vector<unsigned long long>{0});
  count_wrong<<<1024, 256>>>(s.x, elements_under(walk, s.n), s.n, walk.stride, window(walk, s.n),
                             std::min(launches, windows(walk)), wrong.get());
  CUDA_CHECK_LAUNCH();
  return equals(walk.name + ", wrong elements", wrong.download()[0], 0ULL);
}

void add_walk_row(ResultTable& table, const ThreadSums& s, const Walk& walk) {
  const double bytes = static_cast<double>(s.n) * sizeof(int);
  std::size_t launches = 0, first = 0;
  const auto next = [&] {
    return first = walk.offset + launches++ % windows(walk) * window(walk, s.n);
  };
  if (walk.stores) {
    const auto launch = [&] {
      store_walk<<<s.grid, s.block>>>(s.x, s.n, next(), walk.stride);
      CUDA_CHECK_LAUNCH();
    };
    add_measured_row(
        table, walk.name, bytes, [&] { poison_elements(s, elements_under(walk, s.n)); }, launch,
        [&] { return check_stores(walk, s, launches); });
    launch();  // make profile looks at the last kernel of all, which was the check. The first of
    launch();  // these two finds what the check has left in the L2, the second what a store leaves.
    return;
  }
  add_measured_row(
      table, walk.name, bytes, [&] { poison(s); },
      [&] { sum_walk<<<s.grid, s.block>>>(s.x, s.n, next(), walk.stride, s.partial); },
      [&] {
        return check(walk.name, s, reference(table.options().seed, s.n, first, walk.stride));
      });
}

// A row for each walk; below the table, what one load or store of a warp touches in each.
void add_walk_rows(ResultTable& table, const ThreadSums& s, const SweepThatFits& fit) {
  std::map<std::string, std::string> alike;  // the walks that move the same
  for (const Walk& walk : fit.walks) {
    add_walk_row(table, s, walk);
    alike[moved_text(walk)] += " " + walk.name;
  }
  table.note("One load or store of a warp (32 lanes x 4 bytes) touches:");
  for (const auto& [moved, names] : alike) table.note("  " + moved + ":" + names);
  if (fit.left_out > 0) {
    table.note("The last " + std::to_string(fit.left_out) + " rows are left out: x would not fit");
  }
}
