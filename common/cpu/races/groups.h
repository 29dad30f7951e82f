// SPDX-License-Identifier: MIT
// Who used a word, thread by thread. Threads that did the same at the same time are one group, so
// that a word which a whole block reads costs little more than one that a single thread reads.
//
// Nobody is forgotten whom a later access may race with. Left out are those after whom a barrier
// has come, a thread's earlier uses once it has made a later one, and of blocks that have ended and
// told nobody of these uses all but two: whatever races with a third races with one of the two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "access.h"
#include "order.h"

namespace races {

/// Threads of a block that did the same in the same place, with nothing in between that orders
/// anything. Who copies one shares its set: just one of the two may use it from then on.
class Group {
 public:
  Group() = default;
  explicit Group(const Access& a)
      : first_(a), members_(kOneWarp | std::uint64_t{bit_of(a.thread())}) {}

  explicit operator bool() const { return static_cast<bool>(first_); }
  /// What they did. The thread is one that did it, and need not be a member any more.
  const Access& what() const { return first_; }
  bool has(std::uint32_t thread) const { return (lanes_of(thread / 32) & bit_of(thread)) != 0; }
  bool is_only(ThreadName thread) const {
    return is_one_warp() && first_.block() == thread.block &&
           first_.thread() / 32 == thread.thread / 32 &&
           static_cast<std::uint32_t>(members_) == bit_of(thread.thread);
  }
  bool is_empty() const;

  /// Whether the thread, none of a copy, is a member now, where it did the same at the same time
  /// (same_time). If it did so in another place, or its warp has no room yet, nothing is done.
  __attribute__((always_inline)) bool takes_in_short(const Access& a) {
    const std::uint32_t bit = bit_of(a.thread()), warp = a.thread() / 32;
    const bool in_same_place = a.place() == first_.place();
    if (is_one_warp()) {
      if (warp != first_.thread() / 32) return false;
      if (in_same_place) members_ |= bit;
      return (members_ & bit) != 0;
    }
    std::uint32_t& lanes = set()[1 + warp];
    if (in_same_place) lanes |= bit;
    return (lanes & bit) != 0;
  }
  /// The same; a warp gets room. `warps`: of the block.
  bool takes(const Access& a, std::uint32_t warps);
  void remove(std::uint32_t thread);
  /// Removes the members of another group of the same block.
  void remove_all(const Group& others);
  /// Gives back what it needs, and is no group any more.
  void release() {
    if (members_ != 0 && !is_one_warp()) give_back();
    *this = Group{};
  }
  /// One with a set of its own.
  Group copy() const;

  /// Calls use(access) for each member until it returns false.
  template <class F>
  void for_each(F use) const {
    const std::uint32_t end = is_one_warp() ? first_.thread() / 32 + 1 : *set();
    for (std::uint32_t warp = is_one_warp() ? end - 1 : 0; warp < end; ++warp) {
      for (std::uint32_t lanes = lanes_of(warp); lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<std::uint32_t>(__builtin_ctz(lanes));
        if (!use(first_.by(warp * 32 + lane))) return;
      }
    }
  }

 private:
  // members_ is the lanes of one warp, with this bit, or else a pointer to a set: the number of
  // warps, and the lanes of each.
  static constexpr std::uint64_t kOneWarp = std::uint64_t{1} << 63;

  void give_back();
  static std::uint32_t bit_of(std::uint32_t thread) { return 1u << thread % 32; }
  bool is_one_warp() const { return members_ >> 63 != 0; }
  std::uint32_t* set() const { return reinterpret_cast<std::uint32_t*>(members_); }
  std::uint32_t lanes_of(std::uint32_t warp) const {
    if (is_one_warp()) {
      return warp == first_.thread() / 32 ? static_cast<std::uint32_t>(members_) : 0;
    }
    return members_ != 0 && warp < *set() ? set()[1 + warp] : 0;
  }

  Access first_;
  std::uint64_t members_ = 0;
};

/// All groups that used a word in one way, but for the latest, which stands elsewhere.
class Groups {
 public:
  /// A thread of the block `order` uses the word: it joins the latest group or one of these, or
  /// becomes the latest itself.
  void add(Group* latest, const Access& now, const BlockOrder& order, const Blocks& blocks);
  /// Whether add would do no more than let `latest` go.
  static bool is_over(const Group& latest, const Access& now, const BlockOrder& order);

  /// Adds a group whose members did nothing else to the word.
  void put(const Group& group) { groups_.push_back(group); }

  bool empty() const { return groups_.empty() && !lost_[0]; }
  void clear();
  /// After members were removed.
  void remove_empty();
  Groups copy() const;

  /// Calls use(group) for each.
  template <class F>
  void for_each(F use) {
    for (Group& group : groups_) use(group);
  }
  /// Calls use(access) for those that stand for blocks which have ended.
  template <class F>
  void for_lost(F use) const {
    for (const Access& a : lost_) {
      if (a) use(a);
    }
  }
  /// Whether the barriers of the running block order all of them before what it does now.
  bool are_over(const BlockOrder& order) const;

 private:
  void keep(Group group, const Access& now, const BlockOrder& order, const Blocks& blocks);
  void keep_ended(Group group, const Blocks& blocks);
  void tidy(const BlockOrder& order, const Blocks& blocks);

  std::vector<Group> groups_;     // first those of blocks that have ended
  std::uint32_t ended_ = 0;       // how many
  std::uint32_t tidy_at_ = kFew;  // as many of blocks that run
  Access lost_[2];                // of blocks that have ended and told nobody

  static constexpr std::uint32_t kFew = 8;
  // Of blocks that have ended, in all words together: 24 MB, or 160 where each has a set. Past that
  // a word that has a few of them forgets one for each new one.
  static constexpr std::size_t kMostEnded = 1 << 20;
  static std::size_t all_ended_;
};

}  // namespace races
