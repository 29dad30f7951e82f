// SPDX-License-Identifier: MIT
#include "counted.h"

#include <algorithm>

namespace xray {

Request request_of(const Access& access, const Offsets& offsets) {
  Request request;
  request.space = access.space;
  request.operation = access.operation;
  request.bytes = access.bytes_per_lane;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (offsets[lane] < 0) continue;
    request.mask |= 1u << lane;
    request.address[lane] = static_cast<std::uint64_t>(offsets[lane]);
  }
  return request;
}

Passage& Passage::operator+=(const Passage& o) {
  visits += o.visits;
  lanes += o.lanes;
  lanes_of_warps += o.lanes_of_warps;
  return *this;
}

Counts Launch::total(Space space, Operation operation, const std::string& name) const {
  Counts sum;
  for (const Access& a : accesses) {
    if (a.space == space && a.operation == operation && (name.empty() || a.name == name)) {
      sum += a.counts;
    }
  }
  return sum;
}

Counts Launch::change(Space space, Operation operation, Way way) const {
  Counts sum;
  for (const Access& a : accesses) {
    if (a.space == space && a.operation == operation) sum += a.change(way);
  }
  return sum;
}

std::uint64_t Launch::lanes_of_busiest_warp(Space space, Operation operation,
                                            unsigned bytes_per_lane) const {
  const auto found = busiest_warps.find({space, operation, bytes_per_lane});
  return found == busiest_warps.end() ? 0 : found->second;
}

void OfThread::join(const OfThread& other) {
  accesses = std::max(accesses, other.accesses);
  bytes = std::max(bytes, other.bytes);
}

OfThread Launch::of_busiest_thread(Space space, Operation operation) const {
  const auto found = busiest_threads.find({space, operation});
  return found == busiest_threads.end() ? OfThread{} : found->second;
}

Counts Launch::total() const {
  Counts sum;
  for (const Access& a : accesses) sum += a.counts;
  return sum;
}

Counts Launch::total_of_line(int wanted) const {
  Counts sum;
  for (const Access& a : accesses) {
    if (a.line == wanted) sum += a.counts;
  }
  return sum;
}

Passage Launch::passage_of_line(int wanted, const std::string& in) const {
  const Passage* found = nullptr;
  for (const Passage& p : passages) {
    if (p.line != wanted || (!in.empty() && p.file != in)) continue;
    if (found == nullptr || p.file == file) found = &p;
  }
  return found == nullptr ? Passage{} : *found;
}

}  // namespace xray
