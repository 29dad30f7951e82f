// SPDX-License-Identifier: MIT
#include "flow.h"

#include <algorithm>

#include "counted.h"

namespace xray {

bool Flow::is_news(const Pair& pair) {
  const std::uintptr_t sum = reinterpret_cast<std::uintptr_t>(pair.first) +
                             3 * reinterpret_cast<std::uintptr_t>(pair.second);
  Pair& last = last_[(sum ^ sum >> 8) % last_.size()];
  if (last == pair) return false;
  last = pair;
  return true;
}

void Flow::see(std::size_t warp, const Lane* lanes, unsigned count) {
  if (lanes_.size() < warp * kLanes + count) lanes_.resize(warp * kLanes + count);
  for (unsigned lane = 0; lane < count; ++lane) {
    Place& at = lanes_[warp * kLanes + lane];
    for (const LaneEvent& event : lanes[lane].events) {
      if (event.is_meeting()) continue;
      const void* const place = event.instruction().place;
      if (event.is_access()) {
        const void* const piece = at.calls == event.calls() ? at.piece : nullptr;
        if (is_news({place, piece})) note_piece(place, piece);
      } else {
        if (at.piece != nullptr && is_news({at.piece, place})) steps_.emplace(at.piece, place);
        at = Place{place, event.calls()};
      }
    }
  }
}

void Flow::note_piece(const void* access, const void* piece) {
  const auto [found, is_new] = pieces_.emplace(access, piece);
  if (!is_new && found->second != piece) found->second = nullptr;
}

void Flow::add(const Flow& other) {
  for (const auto& [access, piece] : other.pieces_) note_piece(access, piece);
  steps_.insert(other.steps_.begin(), other.steps_.end());
}

Flow::Pieces Flow::before(const void* piece) const {
  Pieces found;
  for (const auto& [from, to] : steps_) {
    if (to == piece && from != piece) found.insert(from);
  }
  return found;
}

Flow::Pieces Flow::after(const void* piece) const {
  Pieces found;
  for (auto it = steps_.lower_bound({piece, nullptr}); it != steps_.end(); ++it) {
    if (it->first != piece) break;
    found.insert(it->second);
  }
  return found;
}

bool Flow::leads_to(const void* from, const void* to) const {
  Pieces seen{from};
  std::vector<const void*> open{from};
  while (!open.empty()) {
    const void* const piece = open.back();
    open.pop_back();
    for (const void* const next : after(piece)) {
      if (next == to) return true;
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return false;
}

std::uint64_t Flow::skipped(const void* access, const Visited& visited) const {
  const auto found = pieces_.find(access);
  if (found == pieces_.end() || found->second == nullptr) return 0;
  const void* const own = found->second;
  const void* piece = own;
  Pieces joins = after(own), passed{own};  // joins: where lanes may be that skip it
  for (bool is_nearest = true;; is_nearest = false) {
    const Pieces all_before = before(piece);
    if (all_before.size() != 1 || !passed.insert(*all_before.begin()).second) break;
    const void* const branch = *all_before.begin();
    Pieces instead = after(branch);
    instead.erase(piece);
    // After an &&, or for an if in an if, the branch before that skips the piece as well.
    const bool is_own =
        is_nearest || std::includes(joins.begin(), joins.end(), instead.begin(), instead.end());
    const bool ends_loop = leads_to(piece, branch) &&
                           std::any_of(instead.begin(), instead.end(),
                                       [&](const void* to) { return !leads_to(to, branch); });
    if (!is_own || ends_loop) break;
    joins.insert(instead.begin(), instead.end());
    piece = branch;
  }
  const auto visits = [&](const void* place) {
    const auto at = visited.find(place);
    return at == visited.end() ? 0 : at->second.visits;
  };
  return std::max(visits(piece), visits(own)) - visits(own);
}

}  // namespace xray
