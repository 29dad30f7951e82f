// SPDX-License-Identifier: MIT
#include "grouping.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

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
  std::uint32_t turn = 0;  // of the clock, see below

  bool operator==(const Key& o) const {
    return instruction == o.instruction && calls == o.calls && meetings == o.meetings &&
           turn == o.turn;
  }
};

/// Lanes that all go round a loop equally often go round it together, even if some of them skip a
/// part of it in some turns. An access that every lane makes in every turn is the loop's clock:
/// what lanes do in different turns of it is not one request. In the last turn of a strided loop
/// only the first lanes may be left: `turns` are those that all lanes make. Lanes that pass by the
/// whole loop, since they have returned or have no element, do not count: see is_passed_by.
struct Clock {
  Instruction instruction;
  CallTree::Chain calls;
  std::uint32_t turns = 0;
  std::uint32_t lanes = 0;  // that go round

  bool operator==(const Clock& o) const {
    return instruction == o.instruction && calls == o.calls && turns == o.turns && lanes == o.lanes;
  }
};

/// For some numbers of whole meetings, the clocks between that one and the next: one for each loop.
using Clocks = std::map<std::uint32_t, std::vector<Clock>>;
constexpr std::size_t kClocks = 4;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
    std::uint64_t hash = reinterpret_cast<std::uintptr_t>(key.instruction.place);
    hash = hash * kOdd + static_cast<unsigned>(key.instruction.operation);
    hash = hash * kOdd + key.instruction.bytes;
    hash = hash * kOdd + key.calls.node;
    hash = hash * kOdd + (std::uint64_t{key.meetings.whole} << 32 | key.meetings.partial);
    hash = hash * kOdd + key.turn;
    return static_cast<std::size_t>(hash ^ hash >> 32);
  }
};

/// All accesses of all lanes under one key.
struct Visits {
  Key key;
  unsigned lane = kLanes;     // whose visits are being counted
  std::size_t count = 0;      // of this lane so far
  std::vector<Group> groups;  // by visit
  std::size_t next = 0;       // which visits came after these the last time
  std::size_t by_busy = 0;    // visits that lanes with accesses made: the first of the groups
};

/// nvcc may unroll a loop whose number of turns is known when it begins. What it makes of it has
/// been seen in the machine code: first the turns that are no multiple of four, then 16 at a time
/// while more than 12 are left, then 8, then 4. Lanes are together in each of these parts, not in
/// each turn.
std::uint32_t turns_if_unrolled(const std::uint32_t* turns_of_lane) {
  std::uint32_t most_single = 0, most_sixteens = 0;
  bool any_eight = false, any_four = false;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t single = turns_of_lane[lane] % 4, rest = turns_of_lane[lane] - single;
    const std::uint32_t sixteens = rest > 12 ? (rest + 3) / 16 : 0;
    const std::uint32_t left = rest - std::min(rest, 16 * sixteens);
    most_single = std::max(most_single, single);
    most_sixteens = std::max(most_sixteens, sixteens);
    any_eight = any_eight || left > 4;
    any_four = any_four || left == 4 || left == 12;
  }
  return most_single + 16 * most_sixteens + 8 * any_eight + 4 * any_four;
}

/// How many requests more these would be if nvcc unrolled the loop that they stand in. None where
/// the lanes' turns differ by one at most: so do those of a strided loop, which is not unrolled
/// that way.
std::uint32_t more_if_unrolled(const std::vector<Group>& groups) {
  const auto turns = static_cast<std::uint32_t>(groups.size());
  if (turns < 4 || groups[0].mask == groups[turns - 1].mask) return 0;
  std::uint32_t of_lane[kLanes] = {}, least = turns;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    while (of_lane[lane] < turns && (groups[of_lane[lane]].mask >> lane & 1) != 0) ++of_lane[lane];
    if ((groups[0].mask >> lane & 1) != 0) least = std::min(least, of_lane[lane]);
  }
  if (turns - least <= 1) return 0;
  const std::uint32_t unrolled = turns_if_unrolled(of_lane);
  return unrolled - std::min(unrolled, turns);
}

/// A lane's visit to a place: among which visits, and the how manieth of the lane.
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
      : busy_(busy), at_end_(at_end), clocks_(clocks) {
    const std::uint32_t all = ~0u >> (kLanes - count);
    std::uint32_t late = 0;  // lanes that pass by a loop: after those that go round
    for (const auto& entry : clocks) {
      for (const Clock& clock : entry.second) late |= busy & ~clock.lanes;
    }
    for (const std::uint32_t some : {busy & ~late, late}) {
      for (unsigned lane = 0; lane < count; ++lane) {
        if ((some >> lane & 1) != 0) add_lane(lane, lanes[lane], all, some == late);
      }
    }
    for (Visits& visits : visits_) visits.by_busy = visits.groups.size();
    for (const auto& entry : partial_) busy_meet_after_.insert(entry.first);
    for (unsigned lane = 0; lane < count; ++lane) {
      if ((busy >> lane & 1) == 0) add_lane(lane, lanes[lane], all);
    }
    for (const auto& [whole, meetings] : partial_) join(whole, meetings);
  }

  /// The first clocks by which to group once more; none where that would change nothing. A loop is
  /// entered before any part of it that lanes may skip, so the first place that can be a clock is
  /// one.
  Clocks first_clocks() const {
    Clocks found, of_some;
    std::set<std::uint32_t> uneven;  // between these meetings some lanes may have skipped something
    for (const Visits& visits : visits_) {
      if (visits.by_busy == 0) continue;
      const std::uint32_t whole = visits.key.meetings.whole, turns = turns_of(visits);
      if (turns < 2) uneven.insert(whole);
      if (turns < 2 || busy_meet_after_.count(whole) != 0) continue;
      const Clock clock{visits.key.instruction, visits.key.calls, turns, lanes_of(visits)};
      (clock.lanes == busy_ ? found : of_some).emplace(whole, std::vector<Clock>{clock});
    }
    found.insert(of_some.begin(), of_some.end());
    for (auto it = found.begin(); it != found.end();) {
      it = uneven.count(it->first) != 0 ? std::next(it) : found.erase(it);
    }
    return found;
  }

  /// These clocks and one more, for a loop that turns several times within one of their turns: an
  /// inner one, or one that follows. What lanes make equally often, but not in the same turns of
  /// the other clocks, is no clock. `without_clocks`: the same accesses.
  Clocks one_more(const WarpGrouping& without_clocks) const {
    using Place = std::tuple<Instruction, std::uint32_t, std::uint32_t>;
    const auto place_of = [](const Key& key) {
      return Place{key.instruction, key.calls.node, key.meetings.whole};
    };
    std::map<Place, std::uint32_t> together;  // visits by all lanes in the same turn
    std::set<Place> again;                    // visited more than once in a turn
    for (const Visits& visits : visits_) {
      if (visits.by_busy == 0) continue;
      std::uint32_t& sum = together[place_of(visits.key)];
      const std::uint32_t all = lanes_of(visits);
      for (const Group& group : visits.groups) sum += (group.mask & busy_) == all;
      if (turns_of(visits) > 1) again.insert(place_of(visits.key));
    }
    Clocks found = clocks_;
    std::set<std::uint32_t> done;
    for (const Visits& visits : without_clocks.visits_) {
      if (visits.by_busy == 0) continue;
      const std::uint32_t whole = visits.key.meetings.whole;
      const auto clocks = found.find(whole);
      if (clocks == found.end() || clocks->second.size() == kClocks) continue;
      const std::uint32_t turns = without_clocks.turns_of(visits);
      const Place place = place_of(visits.key);
      if (turns < 2 || again.count(place) == 0 || together[place] < turns) continue;
      if (without_clocks.lanes_of(visits) != clocks->second.front().lanes) continue;
      if (!done.insert(whole).second) continue;
      clocks->second.push_back(
          Clock{visits.key.instruction, visits.key.calls, turns, without_clocks.lanes_of(visits)});
    }
    return found;
  }

  void hand_on(const OnGroup& on_group) const {
    for (const Visits& visits : visits_) {
      const bool is_access = visits.key.instruction.is_access();
      std::uint32_t more = is_access ? more_if_unrolled(visits.groups) : 0;
      for (Group group : visits.groups) {
        if (group.mask == 0) continue;
        group.more_unrolled = std::exchange(more, 0);
        on_group(visits.key.instruction, group);
      }
    }
  }

 private:
  /// The lanes that came by a place.
  std::uint32_t lanes_of(const Visits& visits) const { return visits.groups[0].mask & busy_; }

  /// How often all lanes visited a place, if only the first ones did so once more; else 0. All: but
  /// for those that pass by.
  std::uint32_t turns_of(const Visits& visits) const {
    const auto busy_of = [&](std::size_t turn) { return visits.groups[turn].mask & busy_; };
    std::size_t turns = visits.by_busy;
    const std::uint32_t lanes = lanes_of(visits);
    if (busy_of(turns - 1) != lanes) {
      const std::uint32_t more = busy_of(--turns), others = lanes & ~more;
      if (others == 0 || __builtin_ctz(others) < 31 - __builtin_clz(more)) return 0;
    }
    const bool all = turns > 0 && busy_of(turns - 1) == lanes;
    if (!all || (lanes != busy_ && !is_passed_by(visits.key.meetings.whole, lanes))) return 0;
    return static_cast<std::uint32_t>(turns);
  }

  /// Whether the lanes that are not among these make no access between these meetings that those do
  /// not make as well, and go round no loop of their own: they have returned, or skip what the
  /// others do.
  bool is_passed_by(std::uint32_t whole, std::uint32_t lanes) const {
    const auto known = passed_by_.emplace(std::make_pair(whole, lanes), true);
    bool& is_so = known.first->second;
    if (!known.second) return is_so;
    for (const Visits& visits : visits_) {
      const std::uint32_t mask = visits.groups[0].mask;
      if (visits.key.meetings.whole != whole || (mask & busy_ & ~lanes) == 0) continue;
      const bool is_passing = !visits.key.instruction.is_access() && visits.groups.size() == 1;
      if ((mask & lanes) != lanes && !is_passing) is_so = false;
    }
    return is_so;
  }

  const std::vector<Clock>& clocks_between(std::uint32_t whole) const {
    static const auto* const none = new std::vector<Clock>;
    const auto found = clocks_.find(whole);
    return found == clocks_.end() ? *none : found->second;
  }

  void add_lane(unsigned number, const Lane& lane, std::uint32_t all, bool is_late = false) {
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
        if ((event.lanes_that_meet() & all) == all) {
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
        if (!(key.instruction == clock.instruction) || !(key.calls == clock.calls)) continue;
        if (turns_of_clock[i] < clock.turns) ++turn;
        ++turns_of_clock[i];
      }
      if (is_late && index_.count(key) == 0) {
        // Behind the loop, perhaps, where the others have made all of its turns.
        for (std::size_t i = 0; i < clocks->size(); ++i) {
          const bool goes_round = ((*clocks)[i].lanes >> number & 1) != 0;
          if (!goes_round) key.turn += (*clocks)[i].turns - turns_of_clock[i];
        }
        if (index_.count(key) == 0) key.turn = turn;
        if (key.turn != turn) {
          for (std::size_t i = 0; i < clocks->size(); ++i) {
            const bool goes_round = ((*clocks)[i].lanes >> number & 1) != 0;
            if (!goes_round) turns_of_clock[i] = (*clocks)[i].turns;
          }
          turn = key.turn;
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
  /// lanes begin together and end apart. `meetings`: how many partial ones each lane has until the
  /// whole warp meets again.
  void join(std::uint32_t whole, const PerLane& meetings) {
    // Meetings still to come, the turn, and the visit.
    using Moment =
        std::tuple<Instruction, std::uint32_t, std::uint32_t, std::uint32_t, std::size_t>;
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
        const auto found = joined.emplace(
            Moment{key.instruction, key.calls.node, to_come, key.turn, visit}, &group);
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

  const std::uint32_t busy_;
  const bool at_end_;
  const Clocks& clocks_;
  std::vector<Visits> visits_;  // in the order in which the first lane came to them
  std::unordered_map<Key, std::size_t, KeyHash> index_;
  mutable std::map<std::pair<std::uint32_t, std::uint32_t>, bool> passed_by_;  // see is_passed_by
  std::map<std::uint32_t, PerLane> partial_;  // by the whole warp's meetings before
  std::set<std::uint32_t> busy_meet_after_;   // those of them that lanes with accesses made
};

}  // namespace

namespace {

template <class IsIt>
std::uint32_t lanes_with(const Lane* lanes, unsigned count, IsIt is_it) {
  std::uint32_t mask = 0;
  for (unsigned lane = 0; lane < count; ++lane) {
    const std::vector<LaneEvent>& events = lanes[lane].events;
    mask |= std::uint32_t{std::any_of(events.begin(), events.end(), is_it)} << lane;
  }
  return mask;
}

}  // namespace

void group_warp(const Lane* lanes, unsigned count, bool at_end, const OnGroup& on_group) {
  const std::uint32_t present = lanes_with(lanes, count, [](const LaneEvent&) { return true; });
  const std::uint32_t access =
      lanes_with(lanes, count, [](const LaneEvent& event) { return event.is_access(); });
  // What lanes do with arrays of their own tells the turns of loops only if nothing else does.
  std::uint32_t busy =
      lanes_with(lanes, count, [](const LaneEvent& event) { return event.is_shareable_access(); });
  if (busy == 0) busy = access != 0 ? access : present;
  if (busy == 0) return;
  const bool is_alone = access != 0 && (access & (access - 1)) == 0;
  if (is_alone) {
    const auto number = static_cast<unsigned>(__builtin_ctz(access));
    // One lane shares no request: each of its accesses is a group, in the order it made them.
    Group alone;
    alone.mask = access;
    for (const LaneEvent& event : lanes[number].events) {
      if (event.is_meeting() || (!event.is_access() && present != access)) continue;
      alone.address[number] = event.address();
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
  Clocks clocks = grouping.first_clocks();
  if (clocks.empty()) return grouping.hand_on(on_any);
  for (;;) {
    const WarpGrouping by_turns(lanes, count, busy, at_end, clocks);
    Clocks more = by_turns.one_more(grouping);
    if (more == clocks) return by_turns.hand_on(on_any);
    clocks = std::move(more);
  }
}

}  // namespace xray
