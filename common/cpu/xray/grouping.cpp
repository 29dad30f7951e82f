// SPDX-License-Identifier: MIT
#include "grouping.h"

#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

namespace xray {
namespace {

/// A lane's meetings since the last barrier of the block: those of its whole warp and, since the
/// last of these, those of some lanes.
struct Meetings {
  std::uint32_t whole = 0, partial = 0;

  bool operator==(const Meetings& o) const { return (whole == o.whole) & (partial == o.partial); }
};

/// Accesses of different lanes are one group if they agree in this, and in the visit.
struct Key {
  Instruction instruction;
  CallTree::Chain calls;
  Meetings meetings;

  bool operator==(const Key& o) const {
    return instruction == o.instruction && calls == o.calls && meetings == o.meetings;
  }
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
    std::uint64_t hash = reinterpret_cast<std::uintptr_t>(key.instruction.place);
    hash = hash * kOdd + static_cast<unsigned>(key.instruction.operation);
    hash = hash * kOdd + key.instruction.bytes;
    hash = hash * kOdd + key.calls.node;
    hash = hash * kOdd + (std::uint64_t{key.meetings.whole} << 32 | key.meetings.partial);
    return static_cast<std::size_t>(hash ^ hash >> 32);
  }
};

/// All accesses of all lanes under one key.
struct Visits {
  Key key;
  unsigned lane = 0;          // whose visits are being counted
  std::size_t count = 0;      // of this lane so far
  std::vector<Group> groups;  // by visit
  std::size_t next = 0;       // which visits came after these the last time
};

/// For each lane of a warp a number of meetings.
using PerLane = std::array<std::uint32_t, kLanes>;

class WarpGrouping {
 public:
  void add(const Lane* lanes, unsigned count) {
    const std::uint32_t all = ~0u >> (kLanes - count);
    for (unsigned lane = 0; lane < count; ++lane) add_lane(lane, lanes[lane], all);
    for (const auto& [whole, meetings] : partial_) join(whole, meetings);
  }

  void hand_on(const OnGroup& on_group) const {
    for (const Visits& visits : visits_) {
      for (const Group& group : visits.groups) {
        if (group.mask != 0) on_group(visits.key.instruction, group);
      }
    }
  }

 private:
  void add_lane(unsigned number, const Lane& lane, std::uint32_t all) {
    Meetings meetings;
    std::size_t at = 0;
    bool begins = true;
    for (const LaneEvent& event : lane.events) {
      if (event.is_meeting()) {
        if ((event.lanes_that_meet() & all) == all) {
          meetings = Meetings{meetings.whole + 1, 0};
        } else {
          partial_[meetings.whole][number] = ++meetings.partial;
        }
        continue;
      }
      const Key key{event.instruction(), event.calls(), meetings};
      // Lanes mostly go the same way, and loops the same way again.
      const std::size_t before = at;
      at = begins ? 0 : visits_[before].next;
      if (at >= visits_.size() || !(visits_[at].key == key)) {
        at = find(key);
        if (!begins) visits_[before].next = at;
      }
      begins = false;
      Visits& visits = visits_[at];
      if (visits.lane != number) {
        visits.lane = number;
        visits.count = 0;
      }
      if (visits.count == visits.groups.size()) visits.groups.emplace_back();
      Group& group = visits.groups[visits.count++];
      group.mask |= 1u << number;
      group.address[number] = event.address();
    }
  }

  std::size_t find(const Key& key) {
    const auto found = index_.emplace(key, visits_.size());
    if (found.second) visits_.push_back(Visits{key, 0, 0, {}, visits_.size() + 1});
    return found.first->second;
  }

  /// Lanes that met among themselves, and others that did not, go on together. What some do after
  /// their last meeting is one request with what the others do after theirs, and so on backwards.
  /// That must hold for all lanes of both: in a loop of unequal turns, with a meeting in each, the
  /// lanes begin together and end apart. `meetings`: how many partial ones each lane has until the
  /// whole warp meets again.
  void join(std::uint32_t whole, const PerLane& meetings) {
    // Meetings still to come, and the visit.
    using Moment = std::tuple<Instruction, std::uint32_t, std::uint32_t, std::size_t>;
    std::map<Moment, Group*> joined;
    for (Visits& visits : visits_) {
      const Key& key = visits.key;
      if (key.meetings.whole != whole) continue;
      for (std::size_t visit = 0; visit < visits.groups.size(); ++visit) {
        Group& group = visits.groups[visit];
        const std::uint32_t to_come =
            meetings[static_cast<unsigned>(__builtin_ctz(group.mask))] - key.meetings.partial;
        bool alike = true;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          if ((group.mask >> lane & 1) == 0) continue;
          alike = alike && meetings[lane] - key.meetings.partial == to_come;
        }
        if (!alike) continue;
        const auto found =
            joined.emplace(Moment{key.instruction, key.calls.node, to_come, visit}, &group);
        if (found.second) continue;
        Group& first = *found.first->second;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          if ((group.mask >> lane & 1) != 0) first.address[lane] = group.address[lane];
        }
        first.mask |= group.mask;
        group.mask = 0;
      }
    }
  }

  std::vector<Visits> visits_;  // in the order in which the first lane came to them
  std::unordered_map<Key, std::size_t, KeyHash> index_;
  std::map<std::uint32_t, PerLane> partial_;  // by the whole warp's meetings before
};

}  // namespace

void group_warp(const Lane* lanes, unsigned count, const OnGroup& on_group) {
  unsigned busy = 0, last_busy = 0;
  for (unsigned lane = 0; lane < count; ++lane) {
    if (lanes[lane].events.empty()) continue;
    ++busy;
    last_busy = lane;
  }
  if (busy > 1) {
    WarpGrouping grouping;
    grouping.add(lanes, count);
    grouping.hand_on(on_group);
  } else if (busy == 1) {
    // One lane shares no request: each of its accesses is a group, in the order it made them.
    Group alone;
    alone.mask = 1u << last_busy;
    for (const LaneEvent& event : lanes[last_busy].events) {
      if (event.is_meeting()) continue;
      alone.address[last_busy] = event.address();
      on_group(event.instruction(), alone);
    }
  }
}

}  // namespace xray
