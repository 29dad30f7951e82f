// SPDX-License-Identifier: MIT
// Remembers who last used each word of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "order.h"

namespace races {

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
  const void* address() const { return &kOrigin + distance_; }
  bool is_none() const { return distance_ == 0; }
  bool operator==(Place o) const { return distance_ == o.distance_; }

 private:
  static const char kOrigin;
  std::int32_t distance_ = 0;
};

/// One access by one thread. There are several for each word of memory, so they are small.
struct Access {
  Place place;  ///< the code after it
  std::uint32_t block = 0;
  Time time;
  std::uint16_t thread = 0;
  std::uint8_t use = 0;

  explicit operator bool() const { return !place.is_none(); }
  ThreadName name() const { return {block, thread}; }
  bool same_warp(const Access& o) const {
    return (block == o.block) & (thread / 32 == o.thread / 32);
  }
};

/// The latest access of a kind, and the latest before it by another thread of its warp, by another
/// warp of its block and by another block: what one of them does not race with, another may.
struct Latest {
  Access access;
  Access before[3];

  /// Where among those before `now` the access `then` belongs.
  static std::size_t place_of(const Access& then, const Access& now) {
    return then.same_warp(now) ? 0 : then.block == now.block ? 1 : 2;
  }
  void keep(const Access& a) {
    if (access && !(access.name() == a.name())) {
      before[place_of(access, a)] = access;
    }
    access = a;
  }
};

/// What few cells need.
struct Crowd {
  Latest strong;          ///< strong accesses that write
  Access read_before[3];  ///< see Latest
};

/// The last accesses of one word that later ones may race with.
struct Cell {
  std::uint32_t work = 0;   ///< during which all of these were made; 0: none were
  std::uint32_t crowd = 0;  ///< number of its Crowd; 0: none
  Access write;             ///< the last plain one
  Access read;
};

enum class Kind : std::uint8_t { kIgnored, kGlobal, kShared };

/// The cells of 4 KiB of memory: one for each word of 4 bytes, or one for each byte as soon as an
/// access is smaller than a word.
class Page {
 public:
  static constexpr std::size_t kBytes = 4096;

  explicit Page(Kind kind) : kind_(kind) {}
  Kind kind() const { return kind_; }

  /// Calls use(cell, offset) for every cell of [offset, offset + bytes).
  template <class F>
  void for_each(std::size_t offset, std::size_t bytes, F use) {
    if (unit_ != 1 && (offset % 4 != 0 || bytes % 4 != 0)) split();
    for (std::size_t at = offset / unit_ * unit_; at < offset + bytes; at += unit_) {
      std::unique_ptr<Cell[]>& part = parts_[at / kPartBytes];
      if (part == nullptr) part = std::make_unique<Cell[]>(kPartBytes / unit_);
      use(part[at % kPartBytes / unit_], at);
    }
  }

 private:
  // Who strides through memory uses few words of each page.
  static constexpr std::size_t kPartBytes = 128;

  void split();

  Kind kind_;
  std::size_t unit_ = 4;
  std::unique_ptr<Cell[]> parts_[kBytes / kPartBytes];
};

/// All pages that were used.
class Shadow {
 public:
  /// The page that holds `address`.
  Page& page_of(const void* address) {
    const PageNumber number{reinterpret_cast<std::uintptr_t>(address) / Page::kBytes};
    Recent& recent = recent_[number.value % kRecent];
    if (recent.page == nullptr || !(recent.number == number)) {
      recent = Recent{number, &find(number)};
    }
    return *recent.page;
  }
  /// The page, if it was ever used; else null.
  Page* known_page_of(const void* address);

  /// Before a launch: what was of no interest may have been registered since.
  void look_again();

  /// A cell's crowd; null when it has none.
  Crowd* crowd_of(const Cell& cell) { return cell.crowd == 0 ? nullptr : &crowds_[cell.crowd]; }
  Crowd& make_crowd(Cell* cell);
  void forget(Cell* cell);

 private:
  struct PageNumber {
    std::uintptr_t value = 0;
    bool operator==(PageNumber o) const { return value == o.value; }
  };
  struct HashPage {
    std::size_t operator()(PageNumber n) const { return n.value * 0x9e3779b97f4a7c15u >> 7; }
  };
  struct Recent {
    PageNumber number;
    Page* page = nullptr;
  };
  static constexpr std::size_t kRecent = 256;

  Page& find(PageNumber number);

  struct Free {
    std::uint32_t number;
  };

  std::unordered_map<PageNumber, Page, HashPage> pages_;
  std::deque<Crowd> crowds_{1};
  std::vector<Free> free_crowds_;
  Recent recent_[kRecent];
};

}  // namespace races
