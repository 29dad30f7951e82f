// SPDX-License-Identifier: MIT
// Remembers who last used each word of memory.
#pragma once

#include <cstddef>
#include <cstdint>
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
  static Place of_bits(std::uint32_t bits) {
    Place place;
    place.distance_ = static_cast<std::int32_t>(bits);
    return place;
  }
  std::uint32_t bits() const { return static_cast<std::uint32_t>(distance_); }
  const void* address() const { return &kOrigin + distance_; }
  bool is_none() const { return distance_ == 0; }
  bool operator==(Place o) const { return distance_ == o.distance_; }

 private:
  static const char kOrigin;
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
  bool same_thread(const Access& o) const {
    return (block() == o.block()) & (thread() == o.thread());
  }
  bool same_warp(const Access& o) const {
    return (block() == o.block()) & (thread() / 32 == o.thread() / 32);
  }
  /// Whether a thread of the same block did the same in the same place of the code, with nothing in
  /// between that orders anything.
  bool same_step(const Access& o) const {
    return where_ == o.where_ && (when_ ^ o.when_) << 16 == 0;
  }
  /// Whether the same thread did the same with nothing in between that orders anything.
  bool repeats(const Access& o) const {
    constexpr std::uint64_t kAllButReads = ~(std::uint64_t{kReads} << 32);
    return ((when_ ^ o.when_) & kAllButReads) == 0 && block() == o.block();
  }

 private:
  std::uint64_t where_ = 0;  // block, place
  std::uint64_t when_ = 0;   // thread, use, ticks
};

/// The latest access of a kind, and the latest before it by another thread of its warp, by another
/// warp of its block and by another block: what one of them does not race with, another may.
struct Latest {
  Access access;
  Access before[3];

  /// Where among those before `now` the access `then` belongs.
  static std::size_t place_of(const Access& then, const Access& now) {
    return then.same_warp(now) ? 0 : then.block() == now.block() ? 1 : 2;
  }
  void keep(const Access& a) {
    if (access && !access.same_thread(a)) {
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
  Cell() : crowd(0), any_strong(0), two_lanes(0), two_warps(0), is_settled(0) {}
  std::uint32_t work = 0;        ///< during which all of these were made; 0: none were
  std::uint32_t crowd : 28;      ///< number of its Crowd; 0: none
  std::uint32_t any_strong : 1;  ///< the crowd holds a strong access
  std::uint32_t two_lanes : 1;   ///< the crowd holds a read of the same step by another lane,
  std::uint32_t two_warps : 1;   ///< or by another warp of the block
  std::uint32_t is_settled : 1;  ///< see settles
  Access write;                  ///< the last plain one
  Access read;

  /// Whether nothing is left to do for this access, since others did the same in this step: another
  /// lane of its warp, or two warps of its block.
  bool settles(const Access& a) const {
    return is_settled && read.same_step(a) && (two_warps || read.same_warp(a));
  }
};

enum class Kind : std::uint8_t { kIgnored, kGlobal, kShared };

/// The cells of 4 KiB of memory: one for each word of 4 bytes, or one for each byte as soon as an
/// access is smaller than a word.
class Page {
 public:
  static constexpr std::size_t kBytes = 4096;

  explicit Page(Kind kind) : kind_(kind) {}
  Kind kind() const { return kind_; }
  std::size_t unit() const { return unit_; }  ///< bytes that a cell stands for

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

  /// The cell of a whole aligned word, if it is there and the page has a cell for each word.
  Cell* cell_of_word(std::size_t offset) {
    if (unit_ != 4) return nullptr;
    Cell* const part = parts_[offset / kPartBytes].get();
    return part == nullptr ? nullptr : part + offset % kPartBytes / 4;
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
    Page* const recent = recent_page_of(address);
    return recent != nullptr ? *recent : look_up(address);
  }
  /// The page if it is one of those used of late; else null.
  static Page* recent_page_of(const void* address) {
    const PageNumber number = number_of(address);
    const Recent& recent = recent_[number.value % kRecent];
    return recent.number == number ? recent.page : nullptr;
  }
  /// Whether `address` is known to be in memory of no interest. Most accesses are of a thread's own
  /// stack, so this is asked before all else.
  static bool is_ignored(const void* address) {
    const PageNumber number = number_of(address);
    return ignored_[number.value % kRecent] == number;
  }
  /// The page, if it was ever used; else null.
  Page* known_page_of(const void* address);

  /// Before a launch: what was of no interest may have been registered since.
  void look_again();

  /// A cell's crowd; null when it has none.
  Crowd* crowd_of(const Cell& cell) {
    return cell.crowd == 0 ? nullptr : &crowds_[cell.crowd / kCrowds][cell.crowd % kCrowds];
  }
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
  static PageNumber number_of(const void* address) {
    return PageNumber{reinterpret_cast<std::uintptr_t>(address) / Page::kBytes};
  }
  struct Recent {
    PageNumber number;
    Page* page = nullptr;
  };
  static constexpr std::size_t kRecent = 256;

  Page& look_up(const void* address);
  Page& find(PageNumber number);

  struct Free {
    std::uint32_t number;
  };

  std::unordered_map<PageNumber, Page, HashPage> pages_;
  static constexpr std::size_t kCrowds = 1024;
  std::vector<std::unique_ptr<Crowd[]>> crowds_;  // kCrowds in each
  std::uint32_t crowd_count_ = 1;                 // number 0 is none
  std::vector<Free> free_crowds_;
  // There is one Shadow only.
  static Recent recent_[kRecent];
  static PageNumber ignored_[kRecent];  // those of recent_ that are
};

}  // namespace races
