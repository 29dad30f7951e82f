// SPDX-License-Identifier: MIT
// Shared by the tests of X-ray: a warp's request as a list of addresses, and its cost, counted byte
// by byte and word by word.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../kernel_testing.cuh"
#include "xray/counts.h"
#include "xray/listing.h"

constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

/// Bytes that the lanes of one request touch, from the start of the array: lane by lane.
struct Touched {
  unsigned bytes = 4;  // of each lane
  std::vector<std::uint64_t> at;

  /// Distinct pieces of `unit` bytes: sectors, words, bytes.
  std::uint64_t pieces(unsigned unit) const {
    std::set<std::uint64_t> found;
    for (const std::uint64_t first : at) {
      for (unsigned i = 0; i < bytes; ++i) found.insert((first + i) / unit);
    }
    return found.size();
  }
  std::uint64_t ideal_sectors() const { return (pieces(1) + 31) / 32; }

  /// Most distinct words in one bank, for lanes of up to 4 bytes.
  std::uint64_t conflict() const {
    std::map<std::uint64_t, std::set<std::uint64_t>> words_of_bank;
    std::uint64_t most = 0;
    for (const std::uint64_t first : at) {
      auto& words = words_of_bank[first / 4 % 32];
      words.insert(first / 4);
      most = std::max<std::uint64_t>(most, words.size());
    }
    return most;
  }
};

/// Lane k of `mask` touches `bytes` bytes from where(k) on.
template <class Where>
Touched touched(unsigned mask, unsigned bytes, Where where) {
  Touched t;
  t.bytes = bytes;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((mask >> lane & 1) != 0) t.at.push_back(where(lane));
  }
  return t;
}

/// Sum over requests to global or host memory.
inline xray::Counts sum_of(const std::vector<Touched>& requests) {
  xray::Counts c;
  for (const Touched& t : requests) {
    if (t.at.empty()) continue;
    ++c.requests;
    c.lanes += t.at.size();
    c.bytes += t.pieces(1);
    c.sectors += t.pieces(32);
    c.ideal_sectors += t.ideal_sectors();
  }
  return c;
}

/// The request of a block's first threads when each has one element, side by side.
inline xray::Counts neighbours(unsigned threads, unsigned bytes = 4) {
  std::vector<Touched> requests;
  for (unsigned t = 0; t < threads; ++t) {
    if (t % kWarp == 0) requests.push_back({bytes, {}});
    requests.back().at.push_back(std::uint64_t{bytes} * t);
  }
  return sum_of(requests);
}

inline void check_sectors(const xray::Counts& counted, const xray::Counts& expected) {
  CHECK(counted.requests == expected.requests);
  CHECK(counted.lanes == expected.lanes);
  CHECK(counted.bytes == expected.bytes);
  CHECK(counted.sectors == expected.sectors);
  CHECK(counted.ideal_sectors == expected.ideal_sectors);
}

/// Launches of `work`, which need not wait for them.
inline std::vector<xray::Launch> launches_of(const std::function<void()>& work) {
  return xray::count([&] {
    work();
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  });
}

/// The one launch of `work`.
inline xray::Launch launch_of(const std::function<void()>& work) {
  std::vector<xray::Launch> launches = launches_of(work);
  REQUIRE(launches.size() == 1);
  return launches.front();
}

/// The listing of `work`, without colours.
inline std::string listing_of(const std::function<void()>& work) {
  return xray::listing_of(launches_of(work), false);
}

/// The line of a test's source that ends with the comment `// line: NAME`.
inline int line_of(const char* file, const std::string& name) {
  std::ifstream source(file);
  std::string text;
  const std::string wanted = "// line: " + name;
  for (int line = 1; std::getline(source, text); ++line) {
    if (ends_with(text, wanted)) return line;
  }
  FAIL("no line of " << file << " ends with " << wanted);
  return 0;
}

/// Masks that a warp may run with: single lanes, the first lanes, patterns, random ones.
inline std::vector<unsigned> masks_of_every_kind() {
  std::vector<unsigned> masks{kAllLanes,   0x55555555u, 0xaaaaaaaau, 0x0000ffffu, 0xffff0000u,
                              0xff00ff00u, 0x0f0f0f0fu, 0x80000001u, 0x7ffffffeu};
  for (unsigned lane = 0; lane < kWarp; ++lane) masks.push_back(1u << lane);
  for (unsigned lanes = 2; lanes < kWarp; ++lanes) masks.push_back((1u << lanes) - 1);
  unsigned state = 12345;
  for (int i = 0; i < 40; ++i) {
    state = state * 1664525u + 1013904223u;
    if (state != 0) masks.push_back(state);
  }
  std::sort(masks.begin(), masks.end());
  masks.erase(std::unique(masks.begin(), masks.end()), masks.end());
  return masks;
}
