// SPDX-License-Identifier: MIT
#include "ways.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace xray {
namespace {

/// The turns in each part of an unrolled loop that a lane goes round so often. What nvcc makes of a
/// loop whose number of turns is known when it begins has been seen in the machine code: first the
/// turns that are no multiple of four, then 16 at a time while more than 12 are left, then 8,
/// then 4. Or 4 at a time only, before or after the others.
using Parts = std::array<std::uint32_t, 4>;
Parts parts_of_loop(std::uint32_t turns, Way way) {
  const std::uint32_t rest = turns % 4, whole = turns - rest;
  if (way == Way::kUnrolledBy4) return {rest, whole};
  if (way == Way::kBy4AndTheRest) return {whole, rest};
  const std::uint32_t sixteens = whole > 12 ? (whole + 3) / 16 * 16 : 0;
  const std::uint32_t eight = whole - sixteens > 4 ? 8 : 0;
  return {rest, sixteens, eight, whole - sixteens - eight};
}

}  // namespace

std::vector<Group> unrolled(const std::vector<Group>& groups, Way way) {
  const std::size_t turns = groups.size();
  if (turns < 4 || groups[0].mask == groups[turns - 1].mask) return {};
  std::uint32_t of_lane[kLanes] = {};
  Parts most{};
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (const Group& group : groups) of_lane[lane] += group.mask >> lane & 1;
    if (of_lane[lane] == 0) continue;
    // Lanes that return to its beginning have not left the loop.
    if ((groups[of_lane[lane] - 1].mask >> lane & 1) == 0) return {};
    const Parts parts = parts_of_loop(of_lane[lane], way);
    for (unsigned part = 0; part < 4; ++part) most[part] = std::max(most[part], parts[part]);
  }
  std::vector<Group> found(most[0] + most[1] + most[2] + most[3]);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const Parts parts = parts_of_loop(of_lane[lane], way);
    std::uint32_t turn = 0, begin = 0;
    for (unsigned part = 0; part < 4; begin += most[part++]) {
      for (std::uint32_t i = 0; i < parts[part]; ++i, ++turn) {
        Group& group = found[begin + i];
        group.mask |= 1u << lane;
        group.address[lane] = groups[turn].address[lane];
      }
    }
  }
  return found;
}

void Joins::see(const Request& request, Requests* counted) {
  const unsigned leader = first_lane(request.mask);
  unsigned most = 16;
  for (const unsigned lane : LanesOf(request.mask)) {
    while (request.address[lane] % most != 0) most /= 2;
  }
  for (std::size_t i = rows_.size(); i-- > 0;) {
    Row& row = rows_[i];
    const Request& first = row.first;
    if (first.address[leader] + row.bytes != request.address[leader]) continue;
    bool follows = first.mask == request.mask && first.bytes == request.bytes &&
                   first.operation == request.operation && first.space == request.space;
    for (const unsigned lane : LanesOf(request.mask)) {
      follows = follows && first.address[lane] + row.bytes == request.address[lane];
    }
    if (!follows) continue;
    row.bytes += request.bytes;
    row.counted.push_back(counted);
    if (row.bytes < row.most) return;
    note(row);
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
  if (most <= request.bytes) return;
  if (rows_.size() == kMostRows) {
    note(rows_.front());
    rows_.erase(rows_.begin());
  }
  rows_.push_back(Row{request, request.bytes, most, {counted}});
}

void Joins::end() {
  for (const Row& row : rows_) note(row);
  rows_.clear();
}

void Joins::note(const Row& row) {
  const unsigned single = row.first.bytes;
  for (const unsigned most : {8u, 16u}) {
    const Way way = most == 8 ? Way::kJoinedTo8 : Way::kJoinedTo16;
    for (unsigned at = 0, bytes = 0; at < row.bytes; at += bytes) {
      bytes = std::max(most, single);
      while (bytes > row.bytes - at || at % bytes != 0) bytes /= 2;
      if (bytes == single) continue;
      Request request = row.first;
      for (std::uint64_t& address : request.address) address += at;
      request.bytes = bytes;
      row.counted[at / single]->change(way) += counts_of(request);
      request.bytes = single;
      for (unsigned i = at; i < at + bytes; i += single) {
        row.counted[i / single]->change(way) -= counts_of(request);
        for (std::uint64_t& address : request.address) address += single;
      }
    }
  }
}

}  // namespace xray
