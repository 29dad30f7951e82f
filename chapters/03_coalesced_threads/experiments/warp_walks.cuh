// SPDX-License-Identifier: MIT
// What a warp touches with one load or store, and where the walks of the experiments begin.
#pragma once

#include <set>

#include "../../../common/common.cuh"

constexpr std::size_t kWarp = 32;         // lanes: threads that execute one load together
constexpr std::size_t kSectorBytes = 32;  // what a cache fetches; four sectors make a line
constexpr std::size_t kLineBytes = 128;   // what a cache has a tag for

/// How many aligned pieces of `bytes` the 32 lanes of a warp touch with one access between them, if
/// lane k wants the int at `offset` + k * `stride`.
inline std::size_t pieces_touched(std::size_t offset, std::size_t stride, std::size_t bytes) {
  std::set<std::size_t> pieces;
  for (std::size_t lane = 0; lane < kWarp; ++lane)
    pieces.insert((offset + lane * stride) * sizeof(int) / bytes);
  return pieces.size();
}

/// "32 sectors (lines: 8), 12.50 % of the bytes used": what moves is whole sectors.
inline std::string moved_text(std::size_t offset, std::size_t stride) {
  const std::size_t sectors = pieces_touched(offset, stride, kSectorBytes);
  const double percent = 100.0 * kWarp * sizeof(int) / (sectors * kSectorBytes);
  return text(sectors, " sectors (lines: ", pieces_touched(offset, stride, kLineBytes), "), ",
              percent, " % of the bytes used");
}

/// A launch walks over one window of the array, which begins at a line. Small strides take turns
/// between several windows, 4 n elements in all: if every launch met the same n, the L2 would still
/// hold a part of them.
inline std::size_t window_of(std::size_t n, std::size_t stride) {
  constexpr std::size_t kPerLine = kLineBytes / sizeof(int);
  return div_up(n * stride, kPerLine) * kPerLine;
}
inline std::size_t windows_of(std::size_t stride) { return div_up(4, stride); }
inline std::size_t elements_of(std::size_t n, std::size_t stride) {
  return windows_of(stride) * window_of(n, stride);
}

/// The strides of loads and of stores.
constexpr std::size_t kStrides[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1000, 1024};

/// Elements of the longest walk for which the device has room. The first of them counts in any
/// case: it is the table that refuses it.
inline std::size_t most_elements(std::size_t n) {
  std::size_t free_bytes = 0, all_bytes = 0, most = elements_of(n, kStrides[0]);
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  for (const std::size_t stride : kStrides)
    if (elements_of(n, stride) * sizeof(int) <= free_bytes / 8 * 7)
      most = std::max(most, elements_of(n, stride));
  return most;
}

/// n loads or stores by all threads of a grid, `stride` elements apart, from `offset` on: what a
/// row measures.
struct Walk {
  std::size_t n, offset, stride;
  mutable std::size_t launches = 0, first = 0;  ///< so far; where the last one began

  /// Where the next launch begins: in the next window.
  std::size_t next_first() const {
    return first = offset + launches++ % windows_of(stride) * window_of(n, stride);
  }
};

/// The row of a walk, and below the table what one load or store of a warp moves. Returns false if
/// the walk is left out: it needs more than `elements`.
template <class AnyWalk, class Launch>
bool add_walk(ResultTable& table, const std::string& name, const AnyWalk& walk,
              std::size_t elements, const char* access, Launch launch) {
  if (walk.offset + elements_of(walk.n, walk.stride) > elements) {
    table.note(name, " is left out: there is no room for it");
    return false;
  }
  const std::string moved = moved_text(walk.offset, walk.stride);
  table.each_launch_does(walk.n * sizeof(int));
  table.add(
      name, walk, launch, [&] { return walk.is_right(name); }, moved);
  table.note("one ", access, " of a warp, ", name, ": ", moved);
  return true;
}
