// SPDX-License-Identifier: MIT
// Finds the turns of loops: which accesses of different lanes, made in the same turn, belong to one
// request, even where some lanes skip a part of the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "lanes.h"

namespace xray {

/// A lane's meetings since the last barrier of the block: those of its whole warp and, since the
/// last of these, those of some lanes.
struct Meetings {
  std::uint32_t whole = 0, partial = 0;
};

/// Accesses of different lanes are one group if they agree in this, and in the visit.
struct Key {
  Instruction instruction;
  CallTree::Chain calls = 0;
  Meetings meetings;
  std::uint32_t turn = 0;  // of the clock, see below

  auto all() const { return std::tie(instruction, calls, meetings.whole, meetings.partial, turn); }
  bool operator==(const Key& o) const { return all() == o.all(); }
  bool operator<(const Key& o) const { return all() < o.all(); }
};

/// Lanes that all go round a loop equally often go round it together, even if some of them skip a
/// part of it in some turns. An access that every lane makes in every turn is the loop's clock:
/// what lanes do in different turns of it is not one request. In the last turn of a strided loop
/// only the first lanes may be left: `turns` are those that all lanes make. Lanes that pass by the
/// whole loop, since they have returned or have no element, do not count: see is_passed_by.
struct Clock {
  Instruction instruction;
  CallTree::Chain calls = 0;
  std::uint32_t turns = 0;
  std::uint32_t lanes = 0;  // that go round
};

/// For some numbers of whole meetings, the clocks between that one and the next: one for each loop.
using Clocks = std::map<std::uint32_t, std::vector<Clock>>;
constexpr std::size_t kClocks = 4;

/// All accesses of all lanes under one key.
struct Visits {
  Key key;
  unsigned lane = kLanes;     // whose visits are being counted
  std::size_t count = 0;      // of this lane so far
  std::vector<Group> groups;  // by visit
  std::size_t next = 0;       // which visits came after these the last time
  std::size_t by_busy = 0;    // visits that lanes with accesses made: the first of the groups
};

/// The clocks in what the lanes of a warp did between the meetings of the whole warp. It looks at
/// visits that stay where they are.
class ClockFinder {
 public:
  /// `busy`: the lanes by which turns of loops are told. `busy_meet_after`: the whole warp's
  /// meetings after which some of these met among themselves.
  ClockFinder(const std::vector<Visits>& visits, std::uint32_t busy,
              const std::set<std::uint32_t>& busy_meet_after)
      : visits_(visits), busy_(busy), busy_meet_after_(busy_meet_after) {}

  /// The first clocks by which to group once more; none where that would change nothing. A loop is
  /// entered before any part of it that lanes may skip, so the first place that can be a clock is
  /// one.
  Clocks first_clocks() const;

  /// Adds to `known` one more between two meetings, for a loop that turns several times within one
  /// of their turns: an inner one, or one that follows. What lanes make equally often, but not in
  /// the same turns of the other clocks, is no clock. `without_clocks`: the same accesses, grouped
  /// without any. False where there is no more.
  bool add_one_more(const ClockFinder& without_clocks, Clocks* known) const;

 private:
  std::uint32_t lanes_of(const Visits& visits) const;
  std::uint32_t turns_of(const Visits& visits) const;
  bool is_passed_by(std::uint32_t whole, std::uint32_t lanes) const;

  const std::vector<Visits>& visits_;
  const std::uint32_t busy_;
  const std::set<std::uint32_t>& busy_meet_after_;
  mutable std::map<std::pair<std::uint32_t, std::uint32_t>, bool> passed_by_;  // see is_passed_by
  mutable std::map<std::uint32_t, std::vector<const Visits*>> between_;        // by whole meetings
};

}  // namespace xray
