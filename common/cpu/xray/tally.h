// SPDX-License-Identifier: MIT
// Turns groups into requests of one kind of memory, and adds up what these cost; counts how many
// lanes came by each place together.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "../engine/memory.h"
#include "grouping.h"
#include "ways.h"

namespace xray {

/// An instruction in one kind of memory.
struct TallyKey {
  Instruction instruction;
  Space space = Space::kGlobal;
  const char* name = "";  ///< of the array or the variable; "" for allocations
  const cuda_cpu::LocalArray* local = nullptr;

  bool operator==(const TallyKey& o) const {
    return instruction == o.instruction && space == o.space && name == o.name && local == o.local;
  }
  bool operator<(const TallyKey& o) const;
};

/// The requests of one instruction in one kind of memory, while blocks are being counted. `first`
/// and `worst` hold the lanes' offsets, as in Access.
struct Tally {
  Counts counts;
  Counts changes[kWays];
  std::uint32_t warps_of_block = 0;  ///< bits of the warps that made it
  std::uint64_t warps = 0;           ///< of the blocks that have ended
  Counts of_first;                   ///< requests of warps
  std::uint64_t first_block = 0, worst_block = 0;
  std::uint64_t beyond_ideal = 0;  ///< of the worst request
  std::int64_t first[kLanes], worst[kLanes];

  void add(const Counts& request, std::uint64_t block, std::size_t warp,
           const std::int64_t* offsets);
  void add(const Tally& other);
  Counts& change(Way way) { return changes[static_cast<unsigned>(way)]; }
  void add_change(const Group& group, const Counts& request);
  void end_block() { warps = static_cast<unsigned>(__builtin_popcount(warps_of_block)); }
};

using Tallies = std::map<TallyKey, Tally>;

/// Space, operation and bytes per lane of a request, and the lanes that one warp has in all such
/// requests, at most.
using Kind = std::tuple<Space, Operation, unsigned>;
using BusiestLanes = std::map<Kind, std::uint64_t>;

/// How often warps came by a place, with how many lanes. `partings`: into so
/// many ways more than one the lanes went on.
struct PlaceTally {
  std::uint64_t visits = 0, lanes = 0, lanes_of_warps = 0, partings = 0;

  PlaceTally& operator+=(const PlaceTally& o);
};

/// A request, or a visit to a place, with the lanes that make it (see events.h).
struct Happening {
  TallyKey key;
  std::size_t at = 0, group = 0;  ///< in its lane; which group of its warp it comes of
  std::uint64_t step = 0;
  std::size_t warp = 0;
  std::uint32_t mask = 0;
  Counts counts;
  std::int64_t offsets[kLanes];
  std::vector<std::uint64_t> origins;  ///< as in Event
  std::vector<std::uint32_t> landing;
};

using PlaceTallies = std::map<const void*, PlaceTally>;

/// Finds the range of memory that an address lies in, and keeps those that it has found.
class RangeFinder {
 public:
  /// Null for memory that is not counted: a thread's stack, the host's own memory.
  const cuda_cpu::MemoryRange* at(std::uintptr_t address);

 private:
  static constexpr std::uintptr_t kPage = 4096;

  std::vector<cuda_cpu::MemoryRange> found_;
  std::uintptr_t pages_outside_[64] = {};
};

/// Counts the requests of one block.
class BlockTally {
 public:
  explicit BlockTally(std::uint64_t block) : block_(block) {}

  /// The block's arrays of local memory, by number.
  void find_arrays_in(const std::vector<const cuda_cpu::LocalArray*>* arrays) { arrays_ = arrays; }
  /// What is counted from now on is of this warp of the block, which has so many lanes.
  void begin_warp(std::size_t warp, unsigned lanes) {
    warp_ = warp;
    lanes_of_warp_ = lanes;
  }
  void end_warp() {
    joins_.end();
    ++ended_;
    if (records_) put_in_order();
  }
  /// From now on what happens is also kept, in steps.
  void record() { records_ = true; }
  /// All warps wait: the next step is the barrier's.
  std::uint64_t end_interval() { return begin_ = std::exchange(end_, end_ + 1) + 1, begin_ - 1; }
  const std::vector<Happening>& happenings() const { return happenings_; }
  std::uint64_t steps() const { return end_; }
  /// Counts one visit to a place, or one request, or several if the lanes address different kinds
  /// of memory.
  void add(const Instruction& instruction, const Group& group);
  const Tallies& tallies() {
    for (auto& entry : tallies_) entry.second.end_block();
    return tallies_;
  }
  const PlaceTallies& places() const { return places_; }
  BusiestLanes busiest_lanes() const;

 private:
  void put_in_order();
  void keep(const Group& group, const Request& request, const Counts& counts,
            const std::int64_t* offsets);
  void add_requests(const Instruction& instruction, const Group& group);
  void add_visit(const void* place, const Group& group);
  /// The lanes of the group that use this array; returns their mask.
  std::uint32_t add_local(const Instruction& instruction, const Group& group, std::uint32_t array);
  Tally& tally(const TallyKey& key);
  /// Whether it loads words that the warp has used: constants before, others just now.
  bool repeats(const Request& request, std::size_t at);

  static constexpr std::size_t kMostWarps = 1024 / kLanes;
  static constexpr std::size_t kSoon = 32;  // events of a lane

  std::uint64_t block_;
  std::size_t warp_ = 0;
  unsigned lanes_of_warp_ = kLanes;
  // Words by the high bits of their hash, and at which event of a lane they were used; some are
  // forgotten.
  std::vector<std::pair<std::uint64_t, std::size_t>> uses_ = decltype(uses_)(1u << 10);
  std::uint64_t ended_ = 0;
  RangeFinder ranges_;
  Joins joins_;
  const std::vector<const cuda_cpu::LocalArray*>* arrays_ = nullptr;
  bool records_ = false;
  std::uint64_t begin_ = 0, end_ = 0;  // steps since the last barrier
  std::size_t groups_ = 0;
  std::vector<Happening> of_warp_, happenings_;
  Tallies tallies_;
  PlaceTallies places_;
  std::map<Kind, std::array<std::uint64_t, kMostWarps>> lanes_of_warps_;
  TallyKey last_key_;  // mostly the next key is the same
  Tally* last_tally_ = nullptr;
};

}  // namespace xray
