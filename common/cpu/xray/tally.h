// SPDX-License-Identifier: MIT
// Turns groups into requests of one kind of memory, and adds up what these cost; counts how many
// lanes came by each place together.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "../engine/memory/memory.h"
#include "counted.h"
#include "flow.h"
#include "lanes.h"
#include "model.h"
#include "ways.h"

namespace xray {

/// An instruction in one kind of memory.
struct TallyKey {
  Instruction instruction;
  Space space = Space::kGlobal;
  const char* name = "";  ///< of the array or the variable; "" for allocations
  const cuda_cpu::LocalArray* local = nullptr;

  auto all() const { return std::tie(instruction, space, name, local); }
  bool operator==(const TallyKey& o) const { return all() == o.all(); }
  bool operator<(const TallyKey& o) const { return all() < o.all(); }
};

/// The requests of one instruction in one kind of memory, while blocks are being counted.
struct Tally : Requests {
  std::uint32_t warps_of_block = 0;  ///< bits of the warps that made them
  std::uint64_t first_block = 0, worst_block = 0;
  std::uint64_t beyond_ideal = 0;  ///< of the worst request

  void add(const Counts& request, std::uint64_t block, std::size_t warp, const Offsets& offsets);
  void add(const Tally& other);
};

using Tallies = std::map<TallyKey, Tally>;

/// What happened at a place whose line is not known yet. A barrier has no place, but its line.
struct Happening : Event {
  const void* place = nullptr;
  const cuda_cpu::LocalArray* local = nullptr;
  std::size_t at = 0, group = 0;  ///< in its lane; which group of its warp it comes of
};

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
  /// `arrays`: of local memory, by number.
  BlockTally(std::uint64_t block, const std::vector<const cuda_cpu::LocalArray*>& arrays)
      : block_(block), arrays_(arrays) {}

  /// Counts what the lanes of this warp, so many, have done since the last barrier. `at_end`: see
  /// group_warp.
  void add_warp(std::size_t warp, const Lane* lanes, unsigned count, bool at_end);
  /// From now on what happens is also kept, in steps.
  void record() { records_ = true; }
  /// From now on it is also noted how lanes get from piece to piece.
  void follow() { follows_ = true; }
  /// All warps wait in this line: the next step is the barrier's.
  void end_interval(const char* file, int line);
  const std::vector<Happening>& happenings() const { return happenings_; }
  std::uint64_t steps() const { return end_; }
  const Tallies& tallies() const { return tallies_; }
  const Visited& visited() const { return visited_; }
  const Flow& flow() const { return flow_; }
  /// See Launch.
  std::uint64_t partings() const { return partings_; }
  BusiestWarps busiest_warps() const;
  BusiestThreads busiest_threads() const;

 private:
  /// Counts one visit to a place, or one request, or several if the lanes address different kinds
  /// of memory.
  void add(const Instruction& instruction, const Group& group);
  void put_in_order();
  /// What these lanes of the group did.
  Happening& keep(const TallyKey& key, const Group& group, std::uint32_t lanes);
  void keep_request(const TallyKey& key, const Group& group, const Request& request,
                    const Counts& counts, const Offsets& offsets);
  /// Counts what a request costs. `offsets`: where its lanes are in the array.
  void count(const TallyKey& key, const Group& group, const Request& request,
             const Offsets& offsets);
  void add_requests(const Instruction& instruction, const Group& group);
  void add_visit(const void* place, const Group& group);
  /// The lanes of the group that use this array; returns their mask.
  std::uint32_t add_local(const Instruction& instruction, const Group& group, std::uint32_t array);

  const std::uint64_t block_;
  std::size_t warp_ = 0;
  unsigned lanes_of_warp_ = kLanes;
  RangeFinder ranges_;
  Joins joins_;
  const std::vector<const cuda_cpu::LocalArray*>& arrays_;
  bool records_ = false, follows_ = false;
  std::uint64_t begin_ = 0, end_ = 0;  // steps since the last barrier
  std::size_t groups_ = 0;
  std::vector<Happening> of_warp_, happenings_;
  Tallies tallies_;
  Visited visited_;
  Flow flow_;
  std::uint64_t partings_ = 0;
  /// For each kind of access and each warp: how many each lane has made.
  std::map<BusiestWarps::key_type, std::vector<std::array<std::uint32_t, kLanes>>> of_lanes_;
  TallyKey last_key_;  // mostly the next key is the same
  Tally* last_tally_ = nullptr;
};

}  // namespace xray
