// SPDX-License-Identifier: MIT
#include "counts.h"

#include <algorithm>
#include <iterator>

#include "../cuda/cuda_runtime_api.h"
#include "launches.h"

namespace xray {
namespace {

constexpr std::uint64_t Counts::*kCounts[] = {
    &Counts::requests,         &Counts::lanes,         &Counts::bytes, &Counts::sectors,
    &Counts::wavefronts,       &Counts::ideal_sectors, &Counts::words, &Counts::addresses,
    &Counts::ideal_wavefronts, &Counts::collisions,    &Counts::apart, &Counts::repeated};
static_assert(sizeof(Counts) == sizeof(std::uint64_t) * (sizeof(kCounts) / sizeof(*kCounts)));

}  // namespace

Counts& Counts::operator+=(const Counts& o) {
  for (const auto count : kCounts) this->*count += o.*count;
  return *this;
}

Counts& Counts::operator-=(const Counts& o) {
  for (const auto count : kCounts) this->*count -= o.*count;
  return *this;
}

bool Counts::is_nothing() const {
  return std::all_of(std::begin(kCounts), std::end(kCounts),
                     [this](const auto count) { return this->*count == 0; });
}

std::uint64_t Counts::waste() const {
  std::uint64_t waste = sectors - ideal_sectors + (wavefronts - ideal_wavefronts);
  if (words > requests) waste += words - requests;
  if (collisions > requests) waste += collisions - requests;
  return waste;
}

Counts Counts::scaled(std::uint64_t by, std::uint64_t of) const {
  Counts c;
  for (const auto count : kCounts) c.*count = (this->*count * by + of / 2) / of;
  return c;
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

std::vector<Launch> count(const std::function<void()>& work) {
  // Work that waits in a stream is not to be counted.
  cudaDeviceSynchronize();
  return launches_of(work);
}

}  // namespace xray
