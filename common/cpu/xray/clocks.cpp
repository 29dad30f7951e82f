// SPDX-License-Identifier: MIT
#include "clocks.h"

#include <iterator>

namespace xray {

Clocks ClockFinder::first_clocks() const {
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

bool ClockFinder::add_one_more(const ClockFinder& without_clocks, Clocks* known) const {
  // The same for all turns.
  const auto place_of = [](Key key) {
    key.meetings.partial = key.turn = 0;
    return key;
  };
  std::map<Key, std::uint32_t> together;  // visits by all lanes in the same turn
  std::set<Key> again;                    // visited more than once in a turn
  for (const Visits& visits : visits_) {
    if (visits.by_busy == 0) continue;
    std::uint32_t& sum = together[place_of(visits.key)];
    const std::uint32_t all = lanes_of(visits);
    for (const Group& group : visits.groups) sum += (group.mask & busy_) == all;
    if (turns_of(visits) > 1) again.insert(place_of(visits.key));
  }
  std::set<std::uint32_t> done;
  for (const Visits& visits : without_clocks.visits_) {
    if (visits.by_busy == 0) continue;
    const std::uint32_t whole = visits.key.meetings.whole;
    const auto clocks = known->find(whole);
    if (clocks == known->end() || clocks->second.size() == kClocks) continue;
    const std::uint32_t turns = without_clocks.turns_of(visits);
    const std::uint32_t lanes = without_clocks.lanes_of(visits);
    const Key place = place_of(visits.key);
    if (turns < 2 || again.count(place) == 0 || together[place] < turns) continue;
    if (lanes != clocks->second.front().lanes || !done.insert(whole).second) continue;
    clocks->second.push_back(Clock{visits.key.instruction, visits.key.calls, turns, lanes});
  }
  return !done.empty();
}

/// The lanes that came by a place.
std::uint32_t ClockFinder::lanes_of(const Visits& visits) const {
  return visits.groups[0].mask & busy_;
}

/// How often all lanes visited a place, if only the first ones did so once more; else 0. All: but
/// for those that pass by.
std::uint32_t ClockFinder::turns_of(const Visits& visits) const {
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
bool ClockFinder::is_passed_by(std::uint32_t whole, std::uint32_t lanes) const {
  const auto known = passed_by_.emplace(std::make_pair(whole, lanes), true);
  bool& is_so = known.first->second;
  if (!known.second) return is_so;
  if (between_.empty()) {
    for (const Visits& visits : visits_) between_[visits.key.meetings.whole].push_back(&visits);
  }
  for (const Visits* const visits : between_[whole]) {
    const std::uint32_t mask = visits->groups[0].mask;
    if ((mask & busy_ & ~lanes) == 0) continue;
    const bool is_passing = !visits->key.instruction.is_access() && visits->groups.size() == 1;
    if ((mask & lanes) != lanes && !is_passing) is_so = false;
  }
  return is_so;
}

}  // namespace xray
