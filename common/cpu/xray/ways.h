// SPDX-License-Identifier: MIT
// How nvcc may change a warp's requests from what the source says: it unrolls the loop that they
// stand in, or joins neighbours to one wider request.
#pragma once

#include <cstddef>
#include <vector>

#include "lanes.h"
#include "model.h"

namespace xray {

/// These groups as they come where nvcc unrolls the loop that they stand in, in that way: lanes are
/// together in each of the parts that the loop is split into. None where all lanes make the same
/// number of turns, for that changes nothing.
std::vector<Group> unrolled(const std::vector<Group>& groups, Way way);

/// Finds requests of a warp that lie side by side in every lane, so that nvcc may join them to one
/// of 8 or 16 bytes a lane, and notes beside their counts what that would change.
class Joins {
 public:
  void see(const Request& request, Requests* counted);
  /// Nothing more comes that the requests seen could be joined with.
  void end();

 private:
  struct Row {
    Request first;
    unsigned bytes, most;            // so far; as the first request is aligned
    std::vector<Requests*> counted;  // one for each request
  };
  static void note(const Row& row);
  static constexpr std::size_t kMostRows = 64;

  std::vector<Row> rows_;
};

}  // namespace xray
