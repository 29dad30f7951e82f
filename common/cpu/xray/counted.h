// SPDX-License-Identifier: MIT
// What was counted of a launch, line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../types/vector_types.h"
#include "costs.h"
#include "model.h"

namespace xray {

/// Everything that the counted warps did by one load, store or atomic of a line. The compiler may
/// turn it into several places in the code; they count as one as long as they cost the same.
struct Access : Requests {
  std::string file;  ///< as make names it: chapters/NN_name/name.cu
  int line = 0;
  Space space = Space::kGlobal;
  Operation operation = Operation::kLoad;
  unsigned bytes_per_lane = 0;
  std::string name;           ///< of the shared array or the variable; "" for allocations
  unsigned places = 0;        ///< in the CPU's code
  bool is_copied = false;     ///< Form::kCopied
  std::uint64_t skipped = 0;  ///< see Flow, which is kept where machine code was read
  std::string compiled;  ///< what nvcc made of it, where its machine code was read and says more
};

/// One of the requests of an access: its lanes are at these offsets.
Request request_of(const Access& access, const Offsets& offsets);

/// How warps came by a line. A warp goes through a line once for all lanes that are there together,
/// and once more for each other group of them: lanes that took different ways at a branch, or sit
/// out a turn of a loop. `lanes / visits` lanes are active on average.
///
/// Told at the beginning of each piece of code without a jump: a line has a passage if such a piece
/// begins in it, as after `if (...) {`, `else {` and `case 3:`, at the end of such a branch, in a
/// loop. A line may have several pieces (a `for` that begins, that turns); the one that was run
/// most counts. It is assumed that lanes meet again as early as they can, which a GPU tries to do,
/// too, and that each branch is one: of a short one nvcc often makes instructions that every lane
/// executes, a part of them without effect (predication), and this compiler makes arithmetic of a
/// few. What an instruction costs is not counted, nor how many there are in a line.
struct Passage {
  std::string file;
  int line = 0;
  std::uint64_t visits = 0;          ///< by warps, or by lanes of one that were there together
  std::uint64_t lanes = 0;           ///< active in them
  std::uint64_t lanes_of_warps = 0;  ///< that they have: 32 a visit, or what a block has left

  /// Adds the visits.
  Passage& operator+=(const Passage& other);
  double per_visit() const {
    return visits == 0 ? 0 : static_cast<double>(lanes) / static_cast<double>(visits);
  }
};

/// More steps of a block are counted, but not kept.
inline std::uint64_t most_steps = 2000;
constexpr std::uint64_t kAllSteps = ~std::uint64_t{0};

/// What happened at one step of a block: see events.h.
struct Event {
  enum class Kind { kAccess, kPass, kBarrier };
  Kind kind = Kind::kAccess;
  std::uint64_t step = 0;
  std::size_t warp = 0;
  std::string file;
  int line = 0;
  Space space = Space::kGlobal;
  Operation operation = Operation::kLoad;
  unsigned bytes_per_lane = 0;
  Form form = Form::kPlain;
  std::string name;  ///< as in Access
  std::uint32_t mask = 0;
  Counts counts;
  Offsets offsets;
  Served served;  ///< by addresses in the arrays, see kLinesOfArray
};

/// Events number the arrays of a request, in the order of its lanes: array k begins in line k times
/// this.
constexpr std::uint64_t kLinesOfArray = std::uint64_t{1} << 40;

/// For space (any but local memory), operation and bytes per lane of requests: how many lanes one
/// warp has in all of them together, at most.
using BusiestWarps = std::map<std::tuple<Space, Operation, unsigned>, std::uint64_t>;

/// What one thread does by accesses of one kind, of any width: one of 16 bytes is one access.
struct OfThread {
  std::uint64_t accesses = 0, bytes = 0;

  /// The larger of each.
  void join(const OfThread& other);
};
/// For space (any but local memory) and operation of accesses: what one thread does at most. The
/// two numbers may be of different threads.
using BusiestThreads = std::map<std::pair<Space, Operation>, OfThread>;

/// One launch. Later launches of the same kernel with the same configuration and arguments are not
/// counted again.
struct Launch {
  std::string kernel;     ///< as the launch names it
  std::string arguments;  ///< numbers as they are, a pointer as *, anything else as ..; of further
                          ///< launches that differ in nothing shown: which one it is
  std::string file;       ///< where the launch stands
  int line = 0;
  dim3 grid, block;
  std::uint64_t blocks = 0, blocks_counted = 0, warps_counted = 0;
  std::uint64_t barriers = 0;     ///< passed by each thread of the first counted block
  std::size_t shared_bytes = 0;   ///< of a block: its launch's, and the arrays that it used
  std::vector<Access> accesses;   ///< in the order of their lines
  std::vector<Passage> passages;  ///< likewise, one for each line
  BusiestWarps busiest_warps;
  BusiestThreads busiest_threads;
  /// How often one thread exchanges values with lanes of its warp, at most: shuffles, votes,
  /// matches. __syncwarp brings none. (A barrier of the whole grid counts as one.)
  std::uint64_t exchanges_of_busiest_thread = 0;
  /// Barriers that the threads of a block pass, at most.
  std::uint64_t barriers_of_busiest_block = 0;
  /// All accesses of one thread, at most: in the blocks that are counted, and in the others, where
  /// those are looked at (sample_blocks).
  std::uint64_t accesses_of_busiest_thread = 0, accesses_elsewhere = 0;
  /// How often lanes of a warp that came to a branch together went different ways; going three ways
  /// at once counts as twice. Lanes that end there do not count, nor do those that use no memory
  /// and meet nobody from there on. Where nvcc makes real branches of all of them this is
  /// `smsp__sass_branch_targets_threads_divergent`; it was for all but one of the kernels in
  /// tests/xray/branch_patterns.cuh, whose branch is too short to be one.
  std::uint64_t partings = 0;
  /// Whether there are bulk copies or wgmma: what they ask of memory is not counted.
  bool has_others_copy = false;
  std::vector<Event> events;  ///< of one block, where they were asked for
  std::uint64_t events_block = 0, steps = 0;

  /// Sum over the accesses of one kind; `name` selects a shared array or a variable.
  Counts total(Space space, Operation operation, const std::string& name = "") const;
  /// The same of what this way would add.
  Counts change(Space space, Operation operation, Way way) const;
  /// The lanes that one warp has in these accesses, at most.
  std::uint64_t lanes_of_busiest_warp(Space space, Operation operation,
                                      unsigned bytes_per_lane) const;
  OfThread of_busiest_thread(Space space, Operation operation) const;
  /// The sum over all accesses.
  Counts total() const;
  /// The sum for one line of the source.
  Counts total_of_line(int line) const;
  /// How warps came by that line of the file; if none is named, of the launch's, or else of any. No
  /// visits if no piece of code begins in it.
  Passage passage_of_line(int line, const std::string& file = "") const;
};

}  // namespace xray
