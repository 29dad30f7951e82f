// SPDX-License-Identifier: MIT
// One use of memory by one thread.
#pragma once

#include <cstdint>

#include "order.h"

namespace races {

/// The detector's own accesses are not the program's, even where they share code.
extern __thread bool inside;
class Inside {
 public:
  Inside() { inside = true; }
  ~Inside() { inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// What an access does, as bits.
enum Use : std::uint8_t {
  kReads = 1,
  kWrites = 2,
  kStrong = 4,      ///< an atomic or a volatile access: two of them are no race
  kVolatile = 8,    ///< strong, and not an atomic
  kBlockOnly = 16,  ///< an atomic with the scope of a block
  kConstant = 32,   ///< __ldg: reads what was there before the launch
  kSwap = 64,       ///< a compare-and-swap
  kGuess = 128,     ///< a plain read that a compare-and-swap of the same thread has checked since
  kTexel = kConstant | kBlockOnly,  ///< by a texture fetch: as kConstant
};

/// An address in the program's code, in half the room.
class Place {
 public:
  Place() = default;
  explicit Place(const void* address)
      : distance_(static_cast<std::int32_t>(static_cast<const char*>(address) - &kOrigin)) {}
  static Place of_bits(std::uint32_t bits) {
    Place place;
    place.distance_ = static_cast<std::int32_t>(bits);
    return place;
  }
  std::uint32_t bits() const { return static_cast<std::uint32_t>(distance_); }
  const void* address() const { return &kOrigin + distance_; }
  bool operator==(Place o) const { return distance_ == o.distance_; }

 private:
  static inline const char kOrigin = 0;
  std::int32_t distance_ = 0;
};

/// One access by one thread. There are several for each word of memory, so they are small; and one
/// is made for every access of the program, in registers: hence two words and no fields.
class Access {
 public:
  Access() = default;
  Access(Place place, ThreadName thread, Time time, unsigned use)
      : where_(std::uint64_t{thread.block} << 32 | place.bits()),
        when_(std::uint64_t{thread.thread} << 48 | std::uint64_t{use} << 32 | time.ticks) {}

  Place place() const {
    return Place::of_bits(static_cast<std::uint32_t>(where_));
  }  ///< the code after it
  std::uint32_t block() const { return static_cast<std::uint32_t>(where_ >> 32); }
  Time time() const { return Time{static_cast<std::uint32_t>(when_)}; }
  std::uint32_t thread() const { return static_cast<std::uint32_t>(when_ >> 48); }
  unsigned use() const { return static_cast<unsigned>(when_ >> 32) & 0xffff; }
  void add_use(Use more) { when_ |= std::uint64_t{more} << 32; }

  explicit operator bool() const { return static_cast<std::uint32_t>(where_) != 0; }
  ThreadName name() const { return {block(), thread()}; }
  bool same_warp(const Access& o) const {
    return block() == o.block() && thread() / 32 == o.thread() / 32;
  }
  /// Whether a thread of the same block did the same, with nothing in between that orders anything.
  bool same_time(const Access& o) const {
    return (where_ ^ o.where_) >> 32 == 0 && (when_ ^ o.when_) << 16 == 0;
  }
  /// The same, by another thread (modulo 2^16).
  Access by(std::uint32_t thread) const {
    Access a = *this;
    a.when_ = (a.when_ << 16 >> 16) | std::uint64_t{thread} << 48;
    return a;
  }
  bool operator==(const Access& o) const { return where_ == o.where_ && when_ == o.when_; }
  /// Whether the same thread did the same with nothing in between that orders anything.
  bool repeats(const Access& o) const {
    constexpr std::uint64_t kAllButReads = ~(std::uint64_t{kReads} << 32);
    return ((when_ ^ o.when_) & kAllButReads) == 0 && block() == o.block();
  }

 private:
  std::uint64_t where_ = 0;  // block, place
  std::uint64_t when_ = 0;   // thread, use, ticks
};

}  // namespace races
