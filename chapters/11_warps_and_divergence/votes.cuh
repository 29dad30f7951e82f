// SPDX-License-Identifier: MIT
// Chapter 11, --show votes: what a warp can ask its lanes, and what that is good for. Included by
// warps_and_divergence.cu. Each warp has kSegment ints of its own.
//
// votes         any, all and ballot of every 32 ints
// equal_lanes   how many of the 32 hold the same value, by match_any
// search_all    where a value first stands, all of the segment read
// search_exit   the same, ended by a vote as soon as one lane has found it
// compact       the odd values side by side, in their order, by ballot
// scan          sums of all values up to each, by shuffles
// active_mask   what __activemask says where lanes have parted: no vote at all
#pragma once

namespace votes {

constexpr unsigned kSegment = 1024;  // ints that a warp goes through, 32 at a time
constexpr int kLow = 3, kWanted = 777, kValues = 1000;

// What the rows read and write. Places that a row does not write keep their poison.
struct Segments {
  const int* x;
  std::size_t n;
  unsigned grid, block;
  int* per_int;       // a place for each element
  unsigned* per_row;  // three places for each 32 elements
  int* per_warp;      // one place for each segment
};

// The warp's segment, as far as there is one: element `first` to `last`.
struct Range {
  std::size_t first, last;
  __device__ explicit Range(const Segments& s)
      : first(min(warp_number() * kSegment, s.n)), last(min(first + kSegment, s.n)) {}
};

// Every lane stays to the end of the segment: a vote needs all 32. `inside` says who has an
// element.
__global__ void take_votes(Segments s) {
  const Range r(s);
  for (std::size_t row = r.first; row < r.last; row += kWarp) {
    const bool inside = row + lane_number() < r.last;
    const int value = inside ? s.x[row + lane_number()] : 0;
    const int any = __any_sync(kAllLanes, inside && value < kLow);
    const int all = __all_sync(kAllLanes, !inside || value < kValues - kLow);
    const unsigned odd = __ballot_sync(kAllLanes, inside && value % 2 != 0);
    if (lane_number() < 3) {
      const unsigned votes = lane_number() == 0 ? any != 0 : lane_number() == 1 ? all != 0 : odd;
      s.per_row[row / kWarp * 3 + lane_number()] = votes;
    }
  }
}

// match_any tells each lane which lanes hold the same value as it does.
__global__ void count_equal_lanes(Segments s) {
  const Range r(s);
  for (std::size_t row = r.first; row < r.last; row += kWarp) {
    const bool inside = row + lane_number() < r.last;
    const int value = inside ? s.x[row + lane_number()] / 100 : -1;
    const unsigned same = __match_any_sync(kAllLanes, value);
    if (inside) s.per_int[row + lane_number()] = __popc(same);
  }
}

// Where kWanted first stands in the segment, counted from its beginning; kSegment: nowhere.
template <bool kExit>
__device__ void search(const Segments& s) {
  const Range r(s);
  unsigned place = kSegment;
  for (std::size_t row = r.first; row < r.last; row += kWarp) {
    const bool hit = row + lane_number() < r.last && s.x[row + lane_number()] == kWanted;
    if (hit) place = min(place, static_cast<unsigned>(row - r.first) + lane_number());
    if (kExit && __any_sync(kAllLanes, hit)) break;  // all lanes leave together
  }
  for (int bit = kWarp / 2; bit > 0; bit /= 2) {
    place = min(place, __shfl_xor_sync(kAllLanes, place, bit));
  }
  if (lane_number() == 0 && r.first < r.last) s.per_warp[warp_number()] = static_cast<int>(place);
}
__global__ void search_all(Segments s) { search<false>(s); }
__global__ void search_exit(Segments s) { search<true>(s); }

// A lane's place is the number of votes below its own.
__global__ void compact_odd(Segments s) {
  const Range r(s);
  std::size_t next = r.first;
  for (std::size_t row = r.first; row < r.last; row += kWarp) {
    const bool inside = row + lane_number() < r.last;
    const int value = inside ? s.x[row + lane_number()] : 0;
    const unsigned odd = __ballot_sync(kAllLanes, value % 2 != 0);
    const unsigned below_me = odd & ((1u << lane_number()) - 1);
    if (value % 2 != 0) s.per_int[next + static_cast<unsigned>(__popc(below_me))] = value;
    next += static_cast<unsigned>(__popc(odd));  // the same in all lanes
  }
  if (lane_number() == 0 && r.first < r.last) {
    s.per_warp[warp_number()] = static_cast<int>(next - r.first);
  }
}

// The sum of the values of this lane and of all lanes below it: after the first step of two lanes,
// then of four, eight, ... A lane that has nobody so far below gets its own value: not to be added.
__device__ int scan_of_warp(int value) {
  for (unsigned distance = 1; distance < kWarp; distance *= 2) {
    const int below = __shfl_up_sync(kAllLanes, value, distance);
    if (lane_number() >= distance) value += below;
  }
  return value;
}

__global__ void scan_segments(Segments s) {
  const Range r(s);
  int before = 0;  // the sum of all rows so far
  for (std::size_t row = r.first; row < r.last; row += kWarp) {
    const bool inside = row + lane_number() < r.last;
    const int sum = before + scan_of_warp(inside ? s.x[row + lane_number()] : 0);
    if (inside) s.per_int[row + lane_number()] = sum;
    before = __shfl_sync(kAllLanes, sum, kWarp - 1);
  }
}

// Wrong: __activemask says which lanes happen to be together here. Three looks, of which the
// source suggests: the lanes with an odd value; those that left the loop in this turn; all.
__global__ void ask_active_mask(Segments s) {
  const Range r(s);
  for (std::size_t row = r.first; row < r.last; row += kWarp) {
    const bool inside = row + lane_number() < r.last;
    const int value = inside ? s.x[row + lane_number()] : 0;
    unsigned in_branch = 0, in_loop = 0;
    if (value % 2 != 0) in_branch = __activemask();
    for (int turn = 0; turn < 4; ++turn) {
      if (value % 4 == turn) {
        in_loop = __activemask();
        break;
      }
    }
    const unsigned behind = __activemask();
    __syncwarp();
    const unsigned odd = __ballot_sync(kAllLanes, value % 2 != 0);
    const unsigned same_turn = __match_any_sync(kAllLanes, value % 4);
    const unsigned wrong[3] = {__ballot_sync(kAllLanes, value % 2 != 0 && in_branch != odd),
                               __ballot_sync(kAllLanes, in_loop != same_turn),
                               __ballot_sync(kAllLanes, behind != kAllLanes)};
    if (lane_number() == 0) {
      for (unsigned k = 0; k < 3; ++k) s.per_row[row / kWarp * 3 + k] = wrong[k];
    }
  }
}

}  // namespace votes

#include "vote_rows.cuh"
