// SPDX-License-Identifier: MIT
// Up to where the work of each stream has ended for sure: by the order of a stream, by events, by
// the default stream, or because the host waited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

struct CUstream_st;

namespace cuda_cpu {

class StreamOrder {
 public:
  void learn(const CUstream_st* stream, std::uint64_t sequence) {
    std::uint64_t& known = ended_[stream];
    known = std::max(known, sequence);
  }
  void learn(const StreamOrder& other) {
    for (const auto& [stream, sequence] : other.ended_) learn(stream, sequence);
  }
  bool covers(const CUstream_st* stream, std::uint64_t sequence) const {
    const auto found = ended_.find(stream);
    return found != ended_.end() && sequence <= found->second;
  }

 private:
  std::map<const CUstream_st*, std::uint64_t> ended_;
};

}  // namespace cuda_cpu
