// SPDX-License-Identifier: MIT
// What the host did to memory that kernels and copies can use as well, while some of them may have
// been under way. Time is that of the streams (host_time in work_queues.h): work uses memory beside
// the host if the host used it after the work was put on a stream, and before the host heard that
// the work had ended; so it is enough to look when the work runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

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
  void note(const char* address, std::size_t bytes, const One& use, std::uint64_t caught_up);
  /// When the latest use was.
  std::uint64_t latest() const { return latest_.load(std::memory_order_relaxed); }
  /// Calls beside(use, address) for uses of these bytes after `from` of which one of the two
  /// writes.
  template <class F>
  void for_conflicts(const char* begin, std::size_t bytes, bool writes, std::uint64_t from,
                     F beside) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const char *at = begin, *const end = begin + bytes; at < end;) {
      const Page* const page = page_of(at);
      if (page == nullptr) {
        at += kBytes - offset_of(at);
        continue;
      }
      const std::size_t unit = page->unit;
      const Uses& uses = page->uses[offset_of(at) / unit];
      for (const One* one : {&uses.write, &uses.read}) {
        if (one->time >= from && (writes || one == &uses.write)) beside(*one, at);
      }
      at += unit - offset_of(at) % unit;
    }
  }

 private:
  static constexpr std::size_t kBytes = 4096;
  static constexpr std::size_t kMostPages = 1 << 14;  // half a GiB of what is kept here
  struct Uses {
    One read, write;
  };
  struct Page {
    std::size_t unit = 4;  // bytes that have one Uses
    std::unique_ptr<Uses[]> uses{new Uses[kBytes / 4]};
  };

  static std::size_t offset_of(const char* at) {
    return reinterpret_cast<std::uintptr_t>(at) % kBytes;
  }
  Page* page_of(const char* at) {
    const auto found = pages_.find(at - offset_of(at));
    return found == pages_.end() ? nullptr : &found->second;
  }
  static void split(Page* page);

  std::mutex mutex_;  // kernels may run beside the host
  std::atomic<std::uint64_t> latest_{0};
  std::uint64_t since_ = 0;  // the host had not caught up with this and what is kept
  std::unordered_map<const void*, Page, Hash> pages_;
};

}  // namespace races
