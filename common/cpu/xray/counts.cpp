// SPDX-License-Identifier: MIT
#include "counts.h"

#include "../cuda/cuda_runtime_api.h"
#include "launches.h"

namespace xray {

Counts& Counts::operator+=(const Counts& o) {
  requests += o.requests;
  lanes += o.lanes;
  bytes += o.bytes;
  sectors += o.sectors;
  ideal_sectors += o.ideal_sectors;
  wavefronts += o.wavefronts;
  ideal_wavefronts += o.ideal_wavefronts;
  words += o.words;
  addresses += o.addresses;
  apart += o.apart;
  repeated += o.repeated;
  more_unrolled += o.more_unrolled;
  collisions += o.collisions;
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

std::uint64_t Launch::lanes_of_busiest_warp(Space space, Operation operation,
                                            unsigned bytes_per_lane) const {
  for (const BusiestWarp& b : busiest_warps) {
    if (b.space == space && b.operation == operation && b.bytes_per_lane == bytes_per_lane) {
      return b.lanes;
    }
  }
  return 0;
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
  const SetAside counted_so_far;
  count_all_blocks();
  watch(true);
  work();
  return take_launches();
}

}  // namespace xray
