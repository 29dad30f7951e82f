// SPDX-License-Identifier: MIT
// Who read 32 neighbouring words, where many threads read them: the factors of a product, what
// blocks beside each other both need.
#pragma once

#include <cstddef>
#include <cstdint>

#include "access.h"
#include "groups.h"
#include "order.h"

namespace races {

/// Plain reads of one launch, as long as a few rows can tell them. A row says that each of its
/// threads read each of its words, in one place at one time; or, where they go in steps, that for
/// each further word their neighbours did. Threads come by one after the other: a word that one
/// more reads goes over to the row that has this thread, too.
class alignas(64) Readers {
 public:
  /// Begins with words that were read in steps of 1 << log2, word 0 by the thread of `first`.
  /// `warps`: of a block of the launch.
  Readers(const Access& first, std::uint32_t words, std::uint32_t log2, std::uint32_t warps);
  ~Readers();
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  /// Adds the running thread's read of a single word, if it goes over to the row that another one
  /// went to last. There are more of these than of all others.
  __attribute__((always_inline)) bool takes_in_short(std::uint32_t word, const Access& now) {
    const std::uint32_t key = now.thread() + (recent_is_in_steps_ ? kLastWord - word : 0);
    if (!(now.by(key) == recent_)) return false;
    const std::uint32_t bit = 1u << word;
    if ((words_[to_] & bit) != 0) return true;
    if ((words_[from_] & bit) == 0) return false;
    words_[from_] ^= bit;
    words_[to_] |= bit;
    return true;
  }
  /// Adds the running thread's read of a word, of 1 << log2 words, if there is room.
  bool takes(std::uint32_t word, std::uint32_t log2, const Access& now, const BlockOrder& order,
             const Blocks& blocks);
  /// Whether barriers and the thread's own steps order all reads of the word before `now`.
  bool are_over(std::uint32_t word, const Access& now, const BlockOrder& order) const;
  void forget(std::uint32_t word);
  bool empty() const;
  /// Those who read the word, in groups with sets of their own: calls use(group).
  template <class F>
  void for_each(std::uint32_t word, F use) const {
    for (std::uint32_t row = 0; row < kRows; ++row) {
      if (has(row, word)) use(rows_[row].of(word, warps_));
    }
  }
  static std::size_t all_bytes() { return count_ * sizeof(Readers); }

 private:
  static constexpr std::uint32_t kRows = 8, kNone = kRows, kLastWord = 31;

  /// Its words stand elsewhere. One that has none any more keeps its threads for the next.
  struct Row {
    Group threads;          ///< by their keys
    std::uint8_t log2 = 0;  ///< a thread read 1 << log2 words at a time
    bool is_in_steps = false;
    std::uint8_t parent = kNone;  ///< the row whose threads these are, but for
    std::uint16_t last = 0;       ///< this key

    /// The thread; in steps, the one that is 31 steps after the one that read word 0, if it is
    /// this one that read `word`: none is below 0.
    std::uint32_t key(std::uint32_t thread, std::uint32_t word) const {
      return is_in_steps ? thread + kLastWord - (word >> log2) : thread;
    }
    bool is_of(const Access& one, std::uint32_t word) const {
      return threads.is_only({one.block(), key(one.thread(), word)});
    }
    Group of(std::uint32_t word, std::uint32_t warps) const;
  };

  bool has(std::uint32_t row, std::uint32_t word) const { return (words_[row] >> word & 1) != 0; }
  bool can_begin_steps(std::uint32_t row, std::uint32_t word, const Access& now) const;
  bool add_thread(std::uint32_t row, std::uint32_t word, const Access& now, const BlockOrder& order,
                  const Blocks& blocks);
  void goes_over(std::uint32_t row, std::uint32_t word, std::uint32_t child);
  void stands_alone(std::uint32_t row);
  std::uint32_t free_row(const BlockOrder& order, const Blocks& blocks);
  void tidy(const BlockOrder& order, const Blocks& blocks);

  // Together, for the short way: who went last to a row, by key, from which, and each row's words.
  Access recent_;
  std::uint32_t words_[kRows] = {};
  std::uint8_t from_ = 0, to_ = 0;
  bool recent_is_in_steps_ = false;

  std::uint32_t warps_;
  Row rows_[kRows];
  static std::size_t count_;
};

}  // namespace races
