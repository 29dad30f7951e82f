// SPDX-License-Identifier: MIT
// What the host did to memory that kernels and copies can use as well, while some of them may have
// been under way. Time is that of the streams (host_time in work_queues.h): work uses memory beside
// the host if the host used it after the work was put on a stream, and before it heard that the
// work had ended. Until then most work has not run, so it is enough to look when it does.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "access.h"
#include "order.h"

namespace races {

class HostUses {
 public:
  struct One {
    Place place;
    std::uint8_t use = 0;    ///< bits of Use
    std::uint8_t bytes = 0;  ///< 16 stands for more, too
    std::uint64_t time = 0;  ///< 0: there was none
  };

  /// Keeps the latest read and the latest write of each word, or byte. `caught_up`: what was used
  /// before that time is of no interest any more.
  void note(const char* at, std::size_t bytes, const One& use, std::uint64_t caught_up) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (since_ < caught_up || pages_.size() > kMostPages) pages_.clear();
    since_ = caught_up;
    latest_ = use.time;
    const bool is_of_words = offset_of(at) % 4 == 0 && bytes % 4 == 0;
    for (const char* const end = at + bytes; at < end;) {
      Page& page = pages_[at - offset_of(at)];
      if (page.empty()) page.resize(kBytes / 4);
      if (!is_of_words && page.size() < kBytes) {
        Page of_bytes;
        for (const Uses& word : page) of_bytes.insert(of_bytes.end(), 4, word);
        page = std::move(of_bytes);
      }
      Uses& uses = page[offset_of(at) / unit_of(page)];
      if ((use.use & kReads) != 0) uses.read = use;
      if ((use.use & kWrites) != 0) uses.write = use;
      at += unit_of(page);
    }
  }
  /// When the latest use was.
  std::uint64_t latest() const { return latest_.load(std::memory_order_relaxed); }
  /// Calls beside(use, address) for uses of these bytes from a time on, where one of the two
  /// writes.
  template <class F>
  void for_conflicts(const char* at, std::size_t bytes, bool writes, std::uint64_t from, F beside) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const char* const end = at + bytes; at < end;) {
      const auto found = pages_.find(at - offset_of(at));
      if (found == pages_.end()) {
        at += kBytes - offset_of(at);
        continue;
      }
      const std::size_t unit = unit_of(found->second);
      const Uses& uses = found->second[offset_of(at) / unit];
      if (uses.write.time >= from) beside(uses.write, at);
      if (writes && uses.read.time >= from) beside(uses.read, at);
      at += unit - offset_of(at) % unit;
    }
  }

 private:
  struct Uses {
    One read, write;
  };
  using Page = std::vector<Uses>;  // for each word or byte of it
  static constexpr std::size_t kBytes = 4096;
  static constexpr std::size_t kMostPages = 1 << 14;  // half a GiB of what is kept here

  static std::size_t unit_of(const Page& page) { return kBytes / page.size(); }
  static std::size_t offset_of(const char* at) {
    return reinterpret_cast<std::uintptr_t>(at) % kBytes;
  }

  std::mutex mutex_;  // kernels may run beside the host
  std::atomic<std::uint64_t> latest_{0};
  std::uint64_t since_ = 0;  // the host had not caught up between this and what is kept
  std::unordered_map<const void*, Page, Hash> pages_;
};

}  // namespace races
