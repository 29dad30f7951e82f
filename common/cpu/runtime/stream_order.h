// SPDX-License-Identifier: MIT
// Up to where the work of each stream has ended for sure: by the order of a stream, by events, by
// the default stream, or because the host waited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

struct CUstream_st;

namespace cuda_cpu {

/// Sequence numbers count the work of all streams together.
class StreamOrder {
 public:
  void learn(const CUstream_st* stream, std::uint64_t sequence) {
    if (sequence <= all_) return;
    std::uint64_t& known = ended_[stream];
    known = std::max(known, sequence);
  }
  /// The host has waited for everything up to `sequence`.
  void learn_all(std::uint64_t sequence) {
    all_ = std::max(all_, sequence);
    for (auto it = ended_.begin(); it != ended_.end();) {
      it = it->second <= all_ ? ended_.erase(it) : std::next(it);
    }
  }
  void learn(const StreamOrder& other) {
    if (other.all_ > all_) learn_all(other.all_);
    for (const auto& [stream, sequence] : other.ended_) learn(stream, sequence);
  }
  bool covers(const CUstream_st* stream, std::uint64_t sequence) const {
    if (sequence <= all_) return true;
    const auto found = ended_.find(stream);
    return found != ended_.end() && sequence <= found->second;
  }

 private:
  std::uint64_t all_ = 0;
  std::map<const CUstream_st*, std::uint64_t> ended_;
};

}  // namespace cuda_cpu
