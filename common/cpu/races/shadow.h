// SPDX-License-Identifier: MIT
// Remembers who last used each word of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "access.h"
#include "groups.h"

namespace races {

/// What few cells need.
struct Crowd {
  Groups readers;              ///< besides those in the cell
  Group strong;                ///< strong accesses that write: the latest group,
  Groups strongs;              ///< all others,
  Access last_strong;          ///< and the last of all
  bool for_one_block = false;  ///< one of them is an atomic for one block only

  void clear();
};

/// The last accesses of one word that later ones may race with.
struct Cell {
  Cell() : crowd(0), any_strong(0), is_settled(0) {}
  std::uint32_t work = 0;        ///< during which all of these were made; 0: none were
  std::uint32_t crowd : 30;      ///< number of its Crowd; 0: none
  std::uint32_t any_strong : 1;  ///< the crowd holds a strong access
  std::uint32_t is_settled : 1;  ///< a read at the time of the latest has nothing to race with
  Access write;                  ///< the last plain one
  Group readers;                 ///< the latest

  /// Whether nothing is left to do for this read.
  bool settles(const Access& a) {
    return is_settled && readers.what().same_time(a) && readers.takes_in_short(a);
  }
};

static_assert(sizeof(Cell) == 12 * 4, "README and CONTRIBUTING say: up to 13 times");

/// Words that neighbouring threads used in one way, as a warp does by a coalesced load or store.
struct Row {
  Access first;             ///< by the thread that uses word 0, or would
  std::uint32_t words = 0;  ///< which of 32: a bit for each
  std::uint32_t log2 = 0;   ///< a thread uses 1 << log2 of them

  bool has(std::uint32_t word) const { return (words >> word & 1) != 0; }
  Access of(std::uint32_t word) const { return first.by(first.thread() + (word >> log2)); }
  /// Adds the access of a word by a thread that uses 1 << more, if it fits the others.
  bool takes(std::uint32_t word, std::uint32_t more, const Access& now) {
    const std::uint32_t bit = 1u << word;
    const Access as_first = now.by(now.thread() - (word >> more));
    if ((words & ~bit) != 0 && !(first == as_first && log2 == more)) return false;
    first = as_first;
    log2 = more;
    words |= bit;
    return true;
  }
  void forget(std::uint32_t word) { words &= ~(1u << word); }
};

/// The last accesses of 32 words, as long as two rows can tell them all.
struct Strip {
  std::uint32_t work = 0;  ///< during which all of these were made; 0: none were
  Row written, read;
  bool empty() const { return (written.words | read.words) == 0; }
};
/// The latest work's, and what is left of the one before: a fourteenth of the cells' room.
struct Strips {
  Strip now, before;
  bool empty() const { return now.empty() && before.empty(); }
};

/// kConstant: global memory, too, that holds __constant__ variables.
enum class Kind : std::uint8_t { kIgnored, kShared, kGlobal, kConstant };

/// What is remembered of 4 KiB of memory: strips of global memory, as long as they can tell what
/// was done; else cells, one for each word of 4 bytes, or one for each byte as soon as an access is
/// smaller than a word.
class Page {
 public:
  static constexpr std::size_t kBytes = 4096;

  explicit Page(Kind kind) : kind_(kind) {}
  Kind kind() const { return kind_; }
  std::size_t unit() const { return unit_; }  ///< bytes that a cell stands for

  /// The cell of a whole aligned word, if it is there and the page has a cell for each word.
  Cell* cell_of_word(std::size_t offset) {
    if (unit_ != 4) return nullptr;
    Cell* const part = parts_[offset / kPartBytes].get();
    return part == nullptr ? nullptr : part + offset % kPartBytes / 4;
  }
  /// The strip that stands for the word's cell; null if it is not there.
  Strips* strips_of_word(std::size_t offset) {
    return strips_ == nullptr ? nullptr : &strips_[offset / kPartBytes];
  }

 private:
  friend class Shadow;

  // Who strides through memory uses few words of each page.
  static constexpr std::size_t kPartBytes = 128;

  Kind kind_;
  std::size_t unit_ = 4;
  static constexpr std::size_t kParts = kBytes / kPartBytes;
  std::unique_ptr<Strips[]> strips_;  // of each part that has no cells
  std::unique_ptr<Cell[]> parts_[kParts];
};

/// All pages that were used, until their cells take as much memory as they may
/// (CUDA_CPU_RACES_MIB): a cell is twelve times as large as its word, a strip less than its words.
/// From then on further pages are ignored, with a note.
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
    const Recent& recent = recent_[number.slot()];
    return recent.number == number ? recent.page : nullptr;
  }
  /// Whether `address` is known to be in memory of no interest, which no stack is (locals.h).
  static bool is_ignored(const void* address) {
    const PageNumber number = number_of(address);
    return ignored_[number.slot()] == number;
  }
  /// The page, if it was ever used; else null.
  Page* known_page_of(const void* address);

  /// Calls use(cell, offset) for every cell of [offset, offset + bytes) of a page.
  template <class F>
  void for_each(Page* page, std::size_t offset, std::size_t bytes, F use) {
    if (page->unit_ != 1 && (offset % 4 != 0 || bytes % 4 != 0)) split(page);
    const std::size_t unit = page->unit_;
    for (std::size_t at = offset / unit * unit; at < offset + bytes; at += unit) {
      std::unique_ptr<Cell[]>& part = page->parts_[at / Page::kPartBytes];
      if (part == nullptr) part = make_part(unit, page->strips_of_word(at));
      use(part[at % Page::kPartBytes / unit], at);
    }
  }

  /// Before a launch: what was of no interest may have been registered since.
  void look_again();

  /// A cell's crowd; null when it has none.
  Crowd* crowd_of(const Cell& cell) {
    return cell.crowd == 0 ? nullptr : &crowds_[cell.crowd / kCrowds][cell.crowd % kCrowds];
  }
  Crowd& make_crowd(Cell* cell);
  void forget(Cell* cell);

 private:
  static constexpr std::size_t kRecent = 256;
  struct PageNumber {
    std::uintptr_t value = 0;
    // Large arrays often lie a power of two apart, and are used at the same index.
    std::size_t slot() const { return (value ^ value >> 8 ^ value >> 16) % kRecent; }
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

  std::unique_ptr<Cell[]> make_part(std::size_t unit, const Strips* strips);
  Page& look_up(const void* address);
  Page& find(PageNumber number);
  void split(Page* page);

  struct Free {
    std::uint32_t number;
  };

  std::unordered_map<PageNumber, Page, HashPage> pages_;
  static constexpr std::size_t kCrowds = 1024;
  std::vector<std::unique_ptr<Crowd[]>> crowds_;  // kCrowds in each
  std::uint32_t crowd_count_ = 1;                 // number 0 is none
  std::vector<Free> free_crowds_;
  std::size_t bytes_of_cells_ = 0;
  bool is_full_ = false;  // and has said so
  // There is one Shadow only.
  static Recent recent_[kRecent];
  static PageNumber ignored_[kRecent];  // those of recent_ that are
};

}  // namespace races
