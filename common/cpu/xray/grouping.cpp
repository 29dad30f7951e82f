// SPDX-License-Identifier: MIT
#include "grouping.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "clocks.h"
#include "ways.h"

namespace xray {
namespace {

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
    std::uint64_t hash = reinterpret_cast<std::uintptr_t>(key.instruction.place);
    hash = hash * kOdd + key.calls;
    hash = hash * kOdd + (std::uint64_t{key.meetings.whole} << 32 | key.meetings.partial);
    hash = hash * kOdd + key.turn;
    return static_cast<std::size_t>(hash ^ hash >> 32);
  }
};

/// A lane's visit to a place: among which visits, and the index of the access within its lane.
struct PlaceVisit {
  std::size_t visits, visit;
};

/// For each lane of a warp a number of meetings.
using PerLane = std::array<std::uint32_t, kLanes>;

class WarpGrouping {
 public:
  /// `busy`: the lanes that made any access. Only by these are turns of loops told; the others
  /// just came by.
  WarpGrouping(const Lane* lanes, unsigned count, std::uint32_t busy, bool at_end,
               const Clocks& clocks)
      : busy_(busy), present_(~0u >> (kLanes - count)), at_end_(at_end), clocks_(clocks) {
    std::uint32_t late = 0;  // lanes that pass by a loop: after those that go round
    for (const auto& entry : clocks) {
      for (const Clock& clock : entry.second) late |= busy & ~clock.lanes;
    }
    for (const std::uint32_t some : {busy & ~late, late}) {
      for (const unsigned lane : LanesOf(some)) add_lane(lane, lanes[lane], some == late);
    }
    for (Visits& visits : visits_) visits.by_busy = visits.groups.size();
    for (const auto& entry : partial_) busy_meet_after_.insert(entry.first);
    for (const unsigned lane : LanesOf(present_ & ~busy)) add_lane(lane, lanes[lane], false);
    join();
  }

  ClockFinder finder() const { return {visits_, busy_, busy_meet_after_}; }

  void hand_on(const OnGroup& on_group) const {
    const auto hand_on_all = [&](const Instruction& instruction, std::vector<Group> groups,
                                 int change, Way way) {
      for (Group& group : groups) {
        group.change = change;
        group.way = way;
        if (group.mask != 0) on_group(instruction, group);
      }
    };
    // The visits to an access in all turns of a loop. A turn with several visits ends them: it is
    // the last, or an inner loop.
    std::map<Key, std::vector<Group>> loops;
    const auto hand_on_unrolled = [&](const Instruction& instruction, std::vector<Group>* groups) {
      for (const Way way : {Way::kUnrolled, Way::kUnrolledBy4, Way::kBy4AndTheRest}) {
        const std::vector<Group> parts = unrolled(*groups, way);
        if (parts.empty()) continue;
        hand_on_all(instruction, parts, 1, way);
        hand_on_all(instruction, *groups, -1, way);
      }
      groups->clear();
    };
    for (const Visits& visits : visits_) {
      for (const Group& group : visits.groups) {
        if (group.mask != 0) on_group(visits.key.instruction, group);
      }
      const bool is_even = visits.groups.front().mask == visits.groups.back().mask;
      if (!visits.key.instruction.is_access() || (clocks_.empty() && is_even)) continue;
      Key key = visits.key;
      key.turn = 0;
      std::vector<Group>& groups = loops[key];
      groups.insert(groups.end(), visits.groups.begin(), visits.groups.end());
      if (visits.groups.size() > 1) hand_on_unrolled(key.instruction, &groups);
    }
    for (auto& [key, groups] : loops) hand_on_unrolled(key.instruction, &groups);
    // What lanes do in one branch may be what others do in the other one, which differs in its
    // place alone.
    const auto anywhere = [](Key key) {
      key.instruction.place = nullptr;
      return key;
    };
    std::unordered_map<Key, std::vector<const Visits*>, KeyHash> by_some;
    for (const Visits& visits : visits_) {
      if (!visits.key.instruction.is_access() || visits.groups[0].mask == present_) continue;
      by_some[anywhere(visits.key)].push_back(&visits);
    }
    for (const Visits& one : visits_) {
      if (!one.key.instruction.is_access() || one.groups[0].mask == present_) continue;
      for (const Visits* const other : by_some[anywhere(one.key)]) {
        if (other <= &one) continue;
        const std::vector<Group> both = of_both_branches(one, *other);
        if (both.empty()) continue;
        hand_on_all(one.key.instruction, both, 1, Way::kOfBothBranches);
        hand_on_all(one.key.instruction, one.groups, -1, Way::kOfBothBranches);
        hand_on_all(other->key.instruction, other->groups, -1, Way::kOfBothBranches);
        break;
      }
    }
  }

 private:
  /// What lanes do in one branch, and others alike in the other one, if they use neighbours in
  /// memory: as if they did it together. The two keys differ in their places alone.
  static std::vector<Group> of_both_branches(const Visits& one, const Visits& other) {
    if (one.groups.size() != other.groups.size()) return {};
    std::vector<Group> both = one.groups;
    for (std::size_t i = 0; i < both.size(); ++i) {
      const Group& rest = other.groups[i];
      if ((both[i].mask & rest.mask) != 0 || both[i].mask == 0 || rest.mask == 0) return {};
      const int first = __builtin_ctz(both[i].mask), second = __builtin_ctz(rest.mask);
      const auto apart = static_cast<std::intptr_t>(rest.address[second] - both[i].address[first]);
      if (apart != (second - first) * std::intptr_t{one.key.instruction.bytes}) return {};
      for (const unsigned lane : LanesOf(rest.mask)) both[i].address[lane] = rest.address[lane];
      both[i].mask |= rest.mask;
    }
    return both;
  }

  const std::vector<Clock>& clocks_between(std::uint32_t whole) const {
    static const auto* const none = new std::vector<Clock>;
    const auto found = clocks_.find(whole);
    return found == clocks_.end() ? *none : found->second;
  }

  void add_lane(unsigned number, const Lane& lane, bool is_late) {
    Meetings meetings;
    std::uint32_t turn = 0;
    const std::vector<Clock>* clocks = &clocks_between(0);
    std::array<std::uint32_t, kClocks> turns_of_clock{};
    std::size_t at = 0;
    bool begins = true;
    // The last place that the lane came by before its last access or meeting, and those since then.
    std::vector<PlaceVisit> places;
    for (const LaneEvent& event : lane.events) {
      if (!places.empty() && (event.is_meeting() || event.is_access())) {
        places.erase(places.begin(), places.end() - 1);
      }
      if (event.is_meeting()) {
        if ((event.lanes_that_meet() & present_) == present_) {
          meetings = Meetings{meetings.whole + 1, 0};
          turn = 0;
          clocks = &clocks_between(meetings.whole);
          turns_of_clock = {};
        } else {
          partial_[meetings.whole][number] = ++meetings.partial;
        }
        continue;
      }
      Key key{event.instruction(), event.calls(), meetings, turn};
      for (std::size_t i = 0; i < clocks->size(); ++i) {
        const Clock& clock = (*clocks)[i];
        if (!(key.instruction == clock.instruction) || key.calls != clock.calls) continue;
        if (turns_of_clock[i] < clock.turns) ++turn;
        ++turns_of_clock[i];
      }
      if (is_late && index_.count(key) == 0) {
        // After the loop, perhaps, where the others have made all of its turns.
        Key later = key;
        auto turns_by_then = turns_of_clock;
        for (std::size_t i = 0; i < clocks->size(); ++i) {
          const bool goes_round = ((*clocks)[i].lanes >> number & 1) != 0;
          if (!goes_round) turns_by_then[i] = (*clocks)[i].turns;
          later.turn += turns_by_then[i] - turns_of_clock[i];
        }
        if (index_.count(later) != 0) {
          key.turn = turn = later.turn;
          turns_of_clock = turns_by_then;
        }
      }
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
      group.at = std::max(group.at, static_cast<std::size_t>(&event - lane.events.data()));
      group.mask |= 1u << number;
      group.address[number] = event.address();
      if (event.is_access()) continue;
      if (!places.empty()) {
        next_of(places.back(), number) = reinterpret_cast<std::uintptr_t>(key.instruction.place);
      }
      places.push_back(PlaceVisit{at, visits.count - 1});
    }
    // From there the lane does nothing that anybody could see.
    if (!at_end_) return;
    for (const PlaceVisit& visit : places) next_of(visit, number) = 0;
  }

  std::uintptr_t& next_of(const PlaceVisit& visit, unsigned lane) {
    return visits_[visit.visits].groups[visit.visit].address[lane];
  }

  std::size_t find(const Key& key) {
    const auto found = index_.emplace(key, visits_.size());
    if (found.second) visits_.push_back(Visits{key, kLanes, 0, {}, visits_.size() + 1, 0});
    return found.first->second;
  }

  /// Lanes that met among themselves, and others that did not, go on together. What some do after
  /// their last meeting is one request with what the others do after theirs, and so on backwards.
  /// That must hold for all lanes of both: in a loop of unequal turns, with a meeting in each, the
  /// lanes begin together and end apart.
  void join() {
    // By the key, with meetings still to come in place of those before, and the visit.
    std::map<std::pair<Key, std::size_t>, Group*> joined;
    for (Visits& visits : visits_) {
      const auto some_meet = partial_.find(visits.key.meetings.whole);
      if (some_meet == partial_.end()) continue;
      const PerLane& meetings = some_meet->second;  // until the whole warp meets again
      Key key = visits.key;
      const std::uint32_t before = key.meetings.partial;
      for (std::size_t visit = 0; visit < visits.groups.size(); ++visit) {
        Group& group = visits.groups[visit];
        const std::uint32_t to_come = meetings[first_lane(group.mask)] - before;
        bool alike = true;
        for (const unsigned lane : LanesOf(group.mask)) {
          alike = alike && meetings[lane] - before == to_come;
        }
        if (!alike) continue;
        key.meetings.partial = to_come;
        const auto found = joined.emplace(std::make_pair(key, visit), &group);
        if (found.second) continue;
        Group& first = *found.first->second;
        for (const unsigned lane : LanesOf(group.mask)) first.address[lane] = group.address[lane];
        first.mask |= group.mask;
        first.at = std::max(first.at, group.at);
        group.mask = 0;
      }
    }
  }

  const std::uint32_t busy_, present_;
  const bool at_end_;
  const Clocks& clocks_;
  std::vector<Visits> visits_;  // in the order in which the first lane came to them
  std::unordered_map<Key, std::size_t, KeyHash> index_;
  std::map<std::uint32_t, PerLane> partial_;  // by the whole warp's meetings before
  std::set<std::uint32_t> busy_meet_after_;   // those of them that lanes with accesses made
};

}  // namespace

void group_warp(const Lane* lanes, unsigned count, bool at_end, const OnGroup& on_group) {
  std::uint32_t present = 0, access = 0, busy = 0;
  for (unsigned lane = 0; lane < count; ++lane) {
    const std::vector<LaneEvent>& events = lanes[lane].events;
    const auto has = [&](auto is_it) {
      return std::uint32_t{std::any_of(events.begin(), events.end(), std::mem_fn(is_it))};
    };
    present |= std::uint32_t{!events.empty()} << lane;
    access |= has(&LaneEvent::is_access) << lane;
    busy |= has(&LaneEvent::is_shareable_access) << lane;
  }
  // What lanes do with arrays of their own tells the turns of loops only if nothing else does.
  if (busy == 0) busy = access != 0 ? access : present;
  if (busy == 0) return;
  const bool is_alone = access != 0 && (access & (access - 1)) == 0;
  if (is_alone) {
    const unsigned number = first_lane(access);
    // One lane shares no request: each of its accesses is a group, in the order it made them.
    Group alone;
    alone.mask = access;
    for (const LaneEvent& event : lanes[number].events) {
      if (event.is_meeting() || (!event.is_access() && present != access)) continue;
      alone.address[number] = event.address();
      alone.at = static_cast<std::size_t>(&event - lanes[number].events.data());
      on_group(event.instruction(), alone);
    }
    if (present == access) return;
  }
  const OnGroup on_place = [&](const Instruction& instruction, const Group& group) {
    if (!instruction.is_access()) on_group(instruction, group);
  };
  const OnGroup& on_any = is_alone ? on_place : on_group;
  const Clocks none;
  const WarpGrouping grouping(lanes, count, busy, at_end, none);
  const ClockFinder without_clocks = grouping.finder();
  Clocks clocks = without_clocks.first_clocks();
  if (clocks.empty()) return grouping.hand_on(on_any);
  for (;;) {
    const WarpGrouping by_turns(lanes, count, busy, at_end, clocks);
    if (!by_turns.finder().add_one_more(without_clocks, &clocks)) return by_turns.hand_on(on_any);
  }
}

}  // namespace xray
