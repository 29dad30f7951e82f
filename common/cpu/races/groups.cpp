// SPDX-License-Identifier: MIT
#include "groups.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace races {
namespace {

/// Sets of lanes, by the number of their warps. Those that are given back wait for the next.
class Sets {
 public:
  std::uint32_t* make(std::uint32_t warps) {
    if (free_[warps] == nullptr) add_room(warps);
    std::uint32_t* const set = free_[warps];
    std::memcpy(&free_[warps], set + 2, sizeof(set));
    std::memset(set, 0, words_of(warps) * sizeof(*set));
    set[0] = warps;
    return set;
  }
  void take_back(std::uint32_t* set) {
    const std::uint32_t warps = set[0];
    std::memcpy(set + 2, &free_[warps], sizeof(set));
    free_[warps] = set;
  }

 private:
  static constexpr std::uint32_t kMostWarps = 33, kAtOnce = 256;
  struct Word {
    std::uint32_t bits;
  };

  // An even number, with room for the address of the next free one.
  static std::uint32_t words_of(std::uint32_t warps) { return std::max(4u, (warps + 2) / 2 * 2); }
  void add_room(std::uint32_t warps) {
    const std::uint32_t words = words_of(warps);
    room_.push_back(std::make_unique<Word[]>(std::size_t{words} * kAtOnce));
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      std::uint32_t* const set = &room_.back()[std::size_t{i} * words].bits;
      set[0] = warps;
      take_back(set);
    }
  }

  std::uint32_t* free_[kMostWarps + 1] = {};
  std::vector<std::unique_ptr<Word[]>> room_;
};

Sets& sets() {
  static Sets* const all = new Sets;
  return *all;
}

/// Whether every access that races with `earlier` races with `later` too, if that comes after it or
/// neither is ever ordered before anything else.
bool covers(const Access& later, const Access& earlier) {
  const bool plain_read = (later.use() & (kWrites | kStrong | kGuess)) == 0;
  return plain_read || later.use() == earlier.use();
}

}  // namespace

// ---- Group --------------------------------------------------------------------------------------

bool Group::is_empty() const {
  if (is_one_warp()) return static_cast<std::uint32_t>(members_) == 0;
  return std::all_of(set() + 1, set() + 1 + *set(), [](std::uint32_t lanes) { return lanes == 0; });
}

bool Group::takes(const Access& a, std::uint32_t warps) {
  const std::uint32_t warp = a.thread() / 32, mine = first_.thread() / 32;
  const bool copier = warp >= warps;  // no thread of the block's warps
  if (is_one_warp() ? warp == mine : !copier) return takes_in_short(a);
  if (!is_one_warp() || copier || mine >= warps || !(a.place() == first_.place())) return false;
  std::uint32_t* const set = sets().make(warps);
  set[1 + mine] = static_cast<std::uint32_t>(members_);
  set[1 + warp] = bit_of(a.thread());
  members_ = reinterpret_cast<std::uintptr_t>(set);
  return true;
}

void Group::remove(std::uint32_t thread) {
  if (!has(thread)) return;
  if (is_one_warp()) {
    members_ &= ~std::uint64_t{bit_of(thread)};
  } else {
    set()[1 + thread / 32] &= ~bit_of(thread);
  }
}

void Group::remove_all(const Group& others) {
  if (is_one_warp()) {
    members_ &= ~std::uint64_t{others.lanes_of(first_.thread() / 32)};
    return;
  }
  for (std::uint32_t warp = 0; warp < *set(); ++warp) set()[1 + warp] &= ~others.lanes_of(warp);
}

void Group::give_back() { sets().take_back(set()); }

Group Group::copy() const {
  Group other = *this;
  if (!*this || is_one_warp()) return other;
  std::uint32_t* const own = sets().make(*set());
  std::memcpy(own, set(), (1 + std::size_t{*set()}) * sizeof(*own));
  other.members_ = reinterpret_cast<std::uintptr_t>(own);
  return other;
}

// ---- Groups -------------------------------------------------------------------------------------

std::size_t Groups::all_ended_ = 0;

bool Groups::is_over(const Group& latest, const Access& now, const BlockOrder& order) {
  const Access& then = latest.what();
  return order.barrier_follows(then.block(), then.time()) ||
         (latest.is_only(now.name()) && covers(now, then));
}

void Groups::add(Group* latest, const Access& now, const BlockOrder& order, const Blocks& blocks) {
  const auto joins = [&](Group* group) {
    return group->what().same_time(now) && group->takes(now, order.warps());
  };
  if (*latest) {
    if (joins(latest)) return;
    // Of those that go on side by side. It does no harm to miss one.
    const std::size_t running = groups_.size() - ended_;
    for (std::size_t i = 0; i < std::min<std::size_t>(running, kFew); ++i) {
      if (joins(&groups_[groups_.size() - 1 - i])) return;
    }
    keep(*latest, now, order, blocks);
  }
  *latest = Group(now);
}

void Groups::keep(Group group, const Access& now, const BlockOrder& order, const Blocks& blocks) {
  const Access& then = group.what();
  if (then.block() == order.block()) {
    const bool over = order.barrier_follows(then.block(), then.time());
    if (!over && covers(now, then)) group.remove(now.thread());
    if (over || group.is_empty()) {
      group.release();
      return;
    }
  } else if (!blocks.runs(then.block())) {
    keep_ended(group, blocks);
    return;
  }
  if (groups_.size() - ended_ >= tidy_at_) tidy(order, blocks);
  groups_.push_back(group);
}

void Groups::keep_ended(Group group, const Blocks& blocks) {
  const Access& then = group.what();
  if (blocks.told_nobody(then.block(), then.time())) {
    for (Access& lost : lost_) {
      if (!lost) {
        group.for_each([&](const Access& member) {
          lost = member;
          return false;
        });
        group.release();
        return;
      }
      if (lost.block() == then.block() && covers(lost, then)) {
        group.release();
        return;
      }
    }
    if (covers(lost_[0], then) && covers(lost_[1], then)) {
      group.release();
      return;
    }
  }
  if (all_ended_ >= kMostEnded && ended_ >= kFew) {
    groups_[0].release();
    groups_[0] = groups_[ended_ - 1];
    groups_[ended_ - 1] = group;
    return;
  }
  groups_.push_back(group);
  std::swap(groups_[ended_++], groups_.back());
  ++all_ended_;
}

void Groups::tidy(const BlockOrder& order, const Blocks& blocks) {
  std::vector<Group> running(groups_.begin() + ended_, groups_.end());
  groups_.resize(ended_);
  for (std::size_t i = 0; i < running.size(); ++i) {
    Group& old = running[i];
    if (order.barrier_follows(old.what().block(), old.what().time())) {
      old.release();
      continue;
    }
    for (std::size_t j = 0; j < running.size() && !old.is_empty(); ++j) {
      const Group& other = running[j];
      if (!other || other.what().block() != old.what().block()) continue;
      if (!covers(other.what(), old.what())) continue;
      const Time then = old.what().time(), later = other.what().time();
      if (then < later || (i < j && !(later < then))) old.remove_all(other);
    }
    if (old.is_empty()) old.release();
  }
  for (const Group& group : running) {
    if (!group) continue;
    if (group.what().block() != order.block() && !blocks.runs(group.what().block())) {
      keep_ended(group, blocks);
    } else {
      groups_.push_back(group);
    }
  }
  tidy_at_ = std::max<std::uint32_t>(kFew, 2 * static_cast<std::uint32_t>(groups_.size() - ended_));
}

bool Groups::are_over(const BlockOrder& order) const {
  if (lost_[0]) return false;
  return std::all_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    return order.barrier_follows(group.what().block(), group.what().time());
  });
}

void Groups::clear() {
  for (Group& group : groups_) group.release();
  groups_.clear();
  all_ended_ -= ended_;
  ended_ = 0;
  tidy_at_ = kFew;
  lost_[0] = lost_[1] = Access{};
}

void Groups::remove_empty() {
  // Only a block that runs loses members.
  for (std::size_t i = ended_; i < groups_.size(); ++i) {
    if (groups_[i].is_empty()) groups_[i].release();
  }
  groups_.erase(std::remove_if(groups_.begin() + ended_, groups_.end(),
                               [](const Group& group) { return !group; }),
                groups_.end());
}

Groups Groups::copy() const {
  Groups other = *this;
  for (Group& group : other.groups_) group = group.copy();
  all_ended_ += ended_;
  return other;
}

}  // namespace races
