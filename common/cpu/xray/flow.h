// SPDX-License-Identifier: MIT
// How lanes get from one piece of the code to another, and how often none of a warp's lanes enters
// a piece. Of a short branch nvcc makes predicates: then the warp executes its loads and stores all
// the same, all lanes switched off.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "lanes.h"

namespace xray {

struct Passage;
/// How warps came by places in the code, whose lines are not known yet.
using Visited = std::map<const void*, Passage>;

class Flow {
 public:
  /// In which pieces the accesses of this warp's lanes stand, and from which piece to which they
  /// went. The lanes are as they were at each barrier so far.
  void see(std::size_t warp, const Lane* lanes, unsigned count);
  /// What other blocks did.
  void add(const Flow& other);

  /// How often a warp came to the branch before the piece of this access and no lane took it. 0
  /// where the piece has no branch of its own, as in a loop's turns or after an ||.
  std::uint64_t skipped(const void* access, const Visited& visited) const;

 private:
  using Pieces = std::set<const void*>;
  using Pair = std::pair<const void*, const void*>;
  struct Place {
    const void* piece = nullptr;
    CallTree::Chain calls = 0;
  };

  /// Whether this pair is none of the last ones, which are mostly the same.
  bool is_news(const Pair& pair);
  void note_piece(const void* access, const void* piece);
  Pieces before(const void* piece) const;
  Pieces after(const void* piece) const;
  bool leads_to(const void* from, const void* to) const;

  std::vector<Place> lanes_;                   // of the block: the last piece of each
  std::map<const void*, const void*> pieces_;  // of accesses; null: not known
  std::set<Pair> steps_;                       // from one piece to the next
  std::array<Pair, 256> last_{};
};

}  // namespace xray
