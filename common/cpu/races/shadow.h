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

static_assert(sizeof(Cell) == 12 * 4, "README and CONTRIBUTING say: twelve times its word");

/// kConstant: global memory, too, that holds __constant__ variables.
enum class Kind : std::uint8_t { kIgnored, kShared, kGlobal, kConstant };

/// The cells of 4 KiB of memory: one for each word of 4 bytes, or one for each byte as soon as an
/// access is smaller than a word.
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

 private:
  friend class Shadow;

  // Who strides through memory uses few words of each page.
  static constexpr std::size_t kPartBytes = 128;

  Kind kind_;
  std::size_t unit_ = 4;
  std::unique_ptr<Cell[]> parts_[kBytes / kPartBytes];
};

/// All pages that were used, until their cells take as much memory as they may
/// (CUDA_CPU_RACES_MIB): a cell is twelve times as large as its word. From then on further pages
/// are ignored, with a note.
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
  /// Whether `address` is known to be in memory of no interest, which no stack is (locals.h).
  static bool is_ignored(const void* address) {
    const PageNumber number = number_of(address);
    return ignored_[number.value % kRecent] == number;
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
      if (part == nullptr) part = make_part(unit);
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

  std::unique_ptr<Cell[]> make_part(std::size_t unit);
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
