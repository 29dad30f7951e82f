// SPDX-License-Identifier: MIT
#include "readers.h"

namespace races {

std::size_t Readers::count_ = 0;

Readers::Readers(const Access& first, std::uint32_t words, std::uint32_t log2, std::uint32_t warps)
    : warps_(warps) {
  ++count_;
  if (words == 0) return;
  words_[0] = words;
  rows_[0].log2 = static_cast<std::uint8_t>(log2);
  rows_[0].is_in_steps = true;
  rows_[0].threads = Group(first.by(rows_[0].key(first.thread(), 0)));
}

Readers::~Readers() {
  --count_;
  for (Row& row : rows_) row.threads.release();
}

/// Whether the row has one word of one thread, and this is the next thread's next word, or so.
bool Readers::can_begin_steps(std::uint32_t row, std::uint32_t word, const Access& now) const {
  const Row& r = rows_[row];
  const Access& one = r.threads.what();
  const std::uint32_t words = words_[row];
  if (r.is_in_steps || (words & (words - 1)) != 0 || !r.threads.is_only(one.name())) return false;
  const std::uint32_t steps =
      (word >> r.log2) - (static_cast<std::uint32_t>(__builtin_ctz(words)) >> r.log2);
  return steps != 0 && now.thread() - one.thread() == steps;
}

Group Readers::Row::of(std::uint32_t word, std::uint32_t warps) const {
  Group group;
  threads.for_each([&](const Access& by_key) {
    const Access one = by_key.by(by_key.thread() - key(0, word));
    if (group) {
      group.takes(one, warps);
    } else {
      group = Group(one);
    }
    return true;
  });
  return group;
}

bool Readers::takes(std::uint32_t word, std::uint32_t log2, const Access& now,
                    const BlockOrder& order, const Blocks& blocks) {
  std::uint32_t same_word = kNone, same_thread = kNone, first_step = kNone;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const Row& r = rows_[row];
    const Access& then = r.threads.what();
    if (words_[row] == 0 || !then.same_time(now)) continue;
    const bool alike = r.log2 == log2 && then.place() == now.place();
    if (has(row, word)) {
      if (r.threads.has(r.key(now.thread(), word))) return true;
      if (alike) same_word = row;
    } else if (alike) {
      if (r.is_of(now, word)) same_thread = row;
      if (can_begin_steps(row, word, now)) first_step = row;
    }
  }
  if (same_word != kNone) return add_thread(same_word, word, now, order, blocks);
  // What the block read before a barrier is over, now that it reads the word again.
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const Access& then = rows_[row].threads.what();
    if (order.barrier_follows(then.block(), then.time())) words_[row] &= ~(1u << word);
  }
  if (same_thread == kNone && first_step != kNone) {
    same_thread = first_step;
    Row& r = rows_[first_step];
    const Access one = r.threads.what();
    stands_alone(first_step);
    r.is_in_steps = true;
    r.threads = Group(
        one.by(r.key(one.thread(), static_cast<std::uint32_t>(__builtin_ctz(words_[first_step])))));
  }
  if (same_thread == kNone) {
    same_thread = free_row(order, blocks);
    if (same_thread == kNone) return false;
    rows_[same_thread].threads = Group(now);
    rows_[same_thread].log2 = static_cast<std::uint8_t>(log2);
  }
  words_[same_thread] |= 1u << word;
  return true;
}

/// The thread reads a word as the threads of the row did.
bool Readers::add_thread(std::uint32_t row, std::uint32_t word, const Access& now,
                         const BlockOrder& order, const Blocks& blocks) {
  Row& r = rows_[row];
  const std::uint32_t key = r.key(now.thread(), word);
  for (std::uint32_t child = 0; child < kRows; ++child) {
    if (words_[child] != 0 && rows_[child].parent == row && rows_[child].last == key) {
      goes_over(row, word, child);
      return true;
    }
  }
  if (words_[row] == 1u << word) {
    stands_alone(row);
    r.threads.takes(now.by(key), warps_ + 1);
    return true;
  }
  // The row from which all words have come has room, and all of these threads but one.
  std::uint32_t child = r.parent;
  if (child != kNone && words_[child] == 0) {
    rows_[child].threads.takes(now.by(r.last), warps_ + 1);
    stands_alone(child);
  } else {
    child = free_row(order, blocks);
    if (child == kNone) return false;
    rows_[child] = r;
    rows_[child].threads = r.threads.copy();
  }
  rows_[child].threads.takes(now.by(key), warps_ + 1);
  rows_[child].parent = static_cast<std::uint8_t>(row);
  rows_[child].last = static_cast<std::uint16_t>(key);
  goes_over(row, word, child);
  return true;
}

void Readers::goes_over(std::uint32_t row, std::uint32_t word, std::uint32_t child) {
  const Row& to = rows_[child];
  words_[child] |= 1u << word;
  if (to.log2 == 0) {
    recent_ = to.threads.what().by(to.last);
    recent_is_in_steps_ = to.is_in_steps;
    from_ = static_cast<std::uint8_t>(row);
    to_ = static_cast<std::uint8_t>(child);
  }
  words_[row] &= ~(1u << word);
}

/// Its threads change: no row has those of a parent, and one more, any longer.
void Readers::stands_alone(std::uint32_t row) {
  rows_[row].parent = kNone;
  for (Row& other : rows_) {
    if (other.parent == row) other.parent = kNone;
  }
  if (row == from_ || row == to_) recent_ = Access{};
}

std::uint32_t Readers::free_row(const BlockOrder& order, const Blocks& blocks) {
  for (int tries = 0; tries < 2; ++tries) {
    for (std::uint32_t row = 0; row < kRows; ++row) {
      if (words_[row] != 0) continue;
      stands_alone(row);
      rows_[row].threads.release();
      rows_[row] = Row{};
      return row;
    }
    tidy(order, blocks);
  }
  return kNone;
}

/// Of the blocks that have ended and told nobody of these reads, two stand for all (groups.h).
void Readers::tidy(const BlockOrder& order, const Blocks& blocks) {
  std::uint32_t two_of[kRows] = {};
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const Access then = rows_[row].threads.what();
    if (words_[row] == 0 || then.block() == order.block() || blocks.runs(then.block()) ||
        !blocks.told_nobody(then.block(), then.time())) {
      continue;
    }
    std::uint32_t once = 0, twice = 0, by_block = 0;
    for (std::uint32_t other = 0; other < row; ++other) {
      if (rows_[other].threads.what().block() == then.block()) by_block |= two_of[other];
      twice |= once & two_of[other];
      once |= two_of[other];
    }
    stands_alone(row);
    words_[row] &= ~(twice | by_block);
    if (words_[row] == 0) continue;
    two_of[row] = words_[row];
    // One of its threads is enough.
    Group one;
    rows_[row].threads.for_each([&](const Access& member) {
      one = Group(member);
      return false;
    });
    rows_[row].threads.release();
    rows_[row].threads = one;
  }
}

bool Readers::are_over(std::uint32_t word, const Access& now, const BlockOrder& order) const {
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const Access& then = rows_[row].threads.what();
    if (has(row, word) && !order.barrier_follows(then.block(), then.time()) &&
        !rows_[row].is_of(now, word)) {
      return false;
    }
  }
  return true;
}

void Readers::forget(std::uint32_t word) {
  for (std::uint32_t& words : words_) words &= ~(1u << word);
}

bool Readers::empty() const {
  std::uint32_t words = 0;
  for (const std::uint32_t row : words_) words |= row;
  return words == 0;
}

}  // namespace races
