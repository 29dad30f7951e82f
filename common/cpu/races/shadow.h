// SPDX-License-Identifier: MIT
// Remembers who last used each word of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "access.h"
#include "groups.h"
#include "readers.h"

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

/// The last accesses of 32 words, as long as rows can tell them all.
struct Strip {
  std::uint32_t work = 0;  ///< during which all of these were made; 0: none were
  Row written, read;
  std::unique_ptr<Readers> readers;  ///< in place of `read`, where that is not enough

  /// Whether nothing else is to do for this read of one word.
  bool settles(std::uint32_t word, const Access& a) {
    return readers != nullptr && !written.has(word) && readers->takes_in_short(word, a);
  }
  bool empty() const {
    return (written.words | read.words) == 0 && (readers == nullptr || readers->empty());
  }
  void forget(std::uint32_t word) {
    written.forget(word);
    forget_reads(word);
  }
  void forget_reads(std::uint32_t word) {
    read.forget(word);
    if (readers != nullptr) readers->forget(word);
  }
};
/// The latest work's, and what is left of the one before: a twelfth of the cells' room.
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
    const std::size_t part = offset / kPartBytes;
    if (unit_ != 4 || (have_cells_ >> part & 1) == 0) return nullptr;
    return &parts_[part][offset % kPartBytes / 4];
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
  std::uint32_t have_cells_ = 0;  // a bit for each part
  std::size_t unit_ = 4;
  static constexpr std::size_t kParts = kBytes / kPartBytes;
  std::unique_ptr<Strips[]> strips_;  // of each part that has no cells
  std::unique_ptr<Cell[]> parts_[kParts];
};

/// All pages that were used, until their cells take as much memory as they may
/// (CUDA_CPU_RACES_MIB): a cell is twelve times as large as its word, a strip as large as its
/// words. From then on further pages are ignored, with a note.
class Shadow {
 public:
  /// The page that holds `address`. Those of no interest are one.
  Page& page_of(const void* address) {
    Page* const known = known_page_of(address);
    if (known != nullptr) return *known;
    return is_ignored(address) ? ignored_ : look_up(address);
  }
  /// The page, if it was ever used and is of interest; else null.
  static Page* known_page_of(const void* address) {
    const Entry entry = entry_of(address);
    return (entry.bits & Entry::kNoPage) != 0 ? nullptr : reinterpret_cast<Page*>(entry.bits);
  }
  /// Whether `address` is known to be in memory of no interest, which no stack is (locals.h).
  static bool is_ignored(const void* address) {
    return entry_of(address).bits == (looks_ | Entry::kNoPage);
  }

  /// Calls use(cell, offset) for every cell of [offset, offset + bytes) of a page.
  template <class F>
  void for_each(Page* page, std::size_t offset, std::size_t bytes, F use) {
    if (page->unit_ != 1 && (offset % 4 != 0 || bytes % 4 != 0)) split(page);
    const std::size_t unit = page->unit_;
    for (std::size_t at = offset / unit * unit; at < offset + bytes; at += unit) {
      std::unique_ptr<Cell[]>& part = page->parts_[at / Page::kPartBytes];
      if (part == nullptr) {
        Strips* const strips = page->strips_of_word(at);
        part = make_part(unit, strips);
        page->have_cells_ |= 1u << at / Page::kPartBytes;
        if (strips != nullptr) *strips = Strips{};
      }
      use(part[at % Page::kPartBytes / unit], at);
    }
  }

  /// Before a launch: what was of no interest may have been registered since.
  void look_again() { looks_ += 2; }

  /// A cell's crowd; null when it has none.
  Crowd* crowd_of(const Cell& cell) {
    return cell.crowd == 0 ? nullptr : &crowds_[cell.crowd / kCrowds][cell.crowd % kCrowds];
  }
  Crowd& make_crowd(Cell* cell);
  void forget(Cell* cell);

 private:
  /// A page's address, or this bit and when it was found to be of no interest.
  struct Entry {
    static constexpr std::uintptr_t kNoPage = 1;
    std::uintptr_t bits;
  };
  // A table for each GiB of memory; the system gives room to those parts of it that are used.
  static constexpr int kLog2Table = 18, kLog2Tables = 18;
  static Entry entry_of(const void* address) {
    const auto number = reinterpret_cast<std::uintptr_t>(address) / Page::kBytes;
    const std::uintptr_t table = number >> kLog2Table;
    if (table >> kLog2Tables != 0 || tables_[table] == nullptr) return Entry{0};
    return tables_[table][number & ((1 << kLog2Table) - 1)];
  }

  std::unique_ptr<Cell[]> make_part(std::size_t unit, const Strips* strips);
  Page& look_up(const void* address);
  void split(Page* page);

  struct Free {
    std::uint32_t number;
  };

  static constexpr std::size_t kCrowds = 1024;
  std::vector<std::unique_ptr<Crowd[]>> crowds_;  // kCrowds in each
  std::uint32_t crowd_count_ = 1;                 // number 0 is none
  std::vector<Free> free_crowds_;
  std::size_t bytes_of_cells_ = 0;
  bool is_full_ = false;          // and has said so
  Page ignored_{Kind::kIgnored};  // stands for all pages of no interest
  // There is one Shadow only.
  static Entry* tables_[1 << kLog2Tables];
  static std::uintptr_t looks_;  // how often look_again was called, times two
};

}  // namespace races
