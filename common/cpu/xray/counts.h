// SPDX-License-Identifier: MIT
// On the CPU backend, X-ray counts what a kernel's warps ask of the memory system. Programs that
// are built for it (build/cpu-xray) report by themselves when they end; tests and labs ask here.
//
// On a CPU the 32 lanes of a warp run one after the other. X-ray puts their accesses together
// again: accesses of a warp's lanes are one request if the lanes make them at the same place in the
// code, on the same visit to that place since they last met. Lanes meet at a barrier, in a warp
// operation, and in each turn of a loop that all of them go round equally often, or all but those
// that have returned or pass it by: lanes that skip a part of a turn, or leave an inner loop, wait
// for the others, as on a GPU (tests/xray/loops.test.cu). In a loop that lanes leave after
// different turns, the visits count from its beginning. What nvcc may make of an access other than
// the source says is counted beside it (Way), and the listing remarks on it; where nvcc is
// installed its machine code decides (remarks.h). Where a loop that lanes leave has parts that
// lanes skip, in the last turns of any loop, and where lanes fail different parts of a condition,
// requests may be fewer here. No cache is modelled: the counts say what is asked for, not what is
// missed. Loads from variables that are declared const are not counted, nor what printf asks for:
// on an H200 (driver 580.159.04, CUDA 13.0, 28 November 2026) ncu counted for one call by a warp
// 222 stores less 7 for each argument, with a sector for each lane, 2 loads and 3 more for each
// byte of the format and of strings, their zeros included, and 4 or 5 atomics.
//
// Where an array lies that a thread declares, nvcc decides: in registers if it knows every index
// into it, in local memory otherwise. What it knows is read from the source here: constants, and
// counters of loops whose bounds are constants and that it may unroll. An array with another index
// counts as local memory, but nvcc may still find its way to a register by comparing, if such
// places are few or the array is small (`-Xptxas -v` tells: no stack frame), and it joins accesses
// to neighbouring elements whose indices it knows. An array that is handed to a function counts if
// lanes ever use different elements of it at once. A structure counts whole if it is defined in
// the same file and has an array with such an index. Arrays that are const, and structures whose
// functions index them, are not looked at. What registers do not hold for lack of room (spills)
// goes to local memory, too; only nvcc knows of those. clang does not report accesses to local
// memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "../types/vector_types.h"

namespace xray {

/// kHost: pinned or mapped host memory. kLocal: arrays of a thread's own.
enum class Space { kGlobal, kShared, kConstant, kHost, kLocal };
enum class Operation : std::uint8_t { kLoad, kStore, kAtomic };

/// What costs something else than others of its kind do: atomics in shared memory, and loads that
/// are half of an asynchronous copy.
enum class Form : std::uint8_t {
  kPlain,
  kCopied,           ///< 16 bytes that land in shared memory
  kIncrement,        ///< adds 1, and the old value is used
  kIncrementUnused,  ///< adds 1, and nobody uses the old value
  kCompareAndSwap
};

/// Sums over requests of warps. A count that does not apply to a space stays 0.
struct Counts {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;             ///< active lanes: 32 for each request at best
  std::uint64_t bytes = 0;             ///< distinct bytes that the lanes touch
  std::uint64_t sectors = 0;           ///< global, host, local: distinct 32-byte segments
  std::uint64_t ideal_sectors = 0;     ///< sectors of the same bytes if they lay side by side
  std::uint64_t wavefronts = 0;        ///< shared: passes through the 32 banks
  std::uint64_t ideal_wavefronts = 0;  ///< wavefronts without bank conflicts
  std::uint64_t words = 0;             ///< constant: distinct addresses, fetched one by one
  std::uint64_t addresses = 0;         ///< atomic: distinct addresses
  std::uint64_t collisions = 0;        ///< atomic: most lanes of a request at one address, summed
  std::uint64_t apart = 0;             ///< local: requests of lanes that use different elements
  std::uint64_t repeated = 0;          ///< loads: requests for words that the warp has just used

  Counts& operator+=(const Counts& other);
  Counts& operator-=(const Counts& other);
  bool is_nothing() const;
  /// The cost beyond the ideal: sectors, wavefronts, words after the first, lanes that wait for
  /// others at one address. The memory system takes a turn for each of them, one after the other.
  std::uint64_t waste() const;
  /// This share of all counts.
  Counts scaled(std::uint64_t by, std::uint64_t of) const;
  double per_request(std::uint64_t count) const {
    return requests == 0 ? 0 : static_cast<double>(count) / static_cast<double>(requests);
  }
};

/// What nvcc may make of an access.
enum class Way : std::uint8_t {
  kUnrolled,       ///< lanes leave its loop after different turns, and that is unrolled by up to 16
  kUnrolledBy4,    ///< the same, by 4; the turns that are no multiple of 4 come first
  kBy4AndTheRest,  ///< those come last
  kJoinedTo8,      ///< neighbours in memory become one request of 8 bytes
  kJoinedTo16,     ///< or of 16
  kOfBothBranches  ///< what lanes do alike in both branches is done once
};
constexpr unsigned kWays = 6;

/// Lane by lane, from the start of the array; -1 for an idle lane.
using Offsets = std::array<std::int64_t, 32>;

/// What warps asked for by one instruction.
struct Requests {
  Counts counts;
  Counts changes[kWays];    ///< what each way would add to the counts; subtractions wrap around
  std::uint64_t warps = 0;  ///< that made them
  Counts of_first;          ///< of the first request of each of these
  Offsets first, worst;     ///< the first request, and the one that was furthest from its ideal

  Counts& change(Way way) { return changes[static_cast<unsigned>(way)]; }
  const Counts& change(Way way) const { return changes[static_cast<unsigned>(way)]; }
};

/// Everything that the counted warps did by one load, store or atomic of a line. The compiler may
/// turn it into several places in the code; they count as one as long as they cost the same.
struct Access : Requests {
  std::string file;  ///< as make names it: chapters/NN_name/name.cu
  int line = 0;
  Space space = Space::kGlobal;
  Operation operation = Operation::kLoad;
  unsigned bytes_per_lane = 0;
  std::string name;      ///< of the shared array or the variable; "" for allocations
  unsigned places = 0;   ///< in the CPU's code
  std::string compiled;  ///< what nvcc made of it, where its machine code was read and says more
};

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
  /// Where the model takes each lane's array to begin, if not all lanes' at one multiple of 128.
  std::vector<std::uint64_t> origins;
  std::vector<std::uint32_t> landing;  ///< Form::kCopied: each lane's offset in the shared array
};

/// For space (any but local memory), operation and bytes per lane of requests: how many lanes one
/// warp has in all of them together, at most.
using BusiestWarps = std::map<std::tuple<Space, Operation, unsigned>, std::uint64_t>;

/// One launch. Later launches of the same kernel with the same configuration and arguments are not
/// counted again.
struct Launch {
  std::string kernel;     ///< as the launch names it
  std::string arguments;  ///< numbers as they are, a pointer as *, anything else as ..
  std::string file;       ///< where the launch stands
  int line = 0;
  dim3 grid, block;
  std::uint64_t blocks = 0, blocks_counted = 0, warps_counted = 0;
  std::uint64_t barriers = 0;     ///< passed by each thread of the first counted block
  std::size_t shared_bytes = 0;   ///< of a block: its launch's, and the arrays that it used
  std::vector<Access> accesses;   ///< in the order of their lines
  std::vector<Passage> passages;  ///< likewise, one for each line
  BusiestWarps busiest_warps;
  /// How often lanes of a warp that came to a branch together went different ways; going three ways
  /// at once counts as twice. Lanes that end there do not count, nor do those that use no memory
  /// and meet nobody from there on. Where nvcc makes real branches of all of them this is
  /// `smsp__sass_branch_targets_threads_divergent`; it was for all but one of the kernels in
  /// tests/xray/branch_patterns.cuh, whose branch is too short to be one.
  std::uint64_t partings = 0;
  std::vector<Event> events;  ///< of one block, where they were asked for
  std::uint64_t events_block = 0, steps = 0;

  /// Sum over the accesses of one kind; `name` selects a shared array or a variable.
  Counts total(Space space, Operation operation, const std::string& name = "") const;
  /// The same of what this way would add.
  Counts change(Space space, Operation operation, Way way) const;
  /// The lanes that one warp has in these accesses, at most.
  std::uint64_t lanes_of_busiest_warp(Space space, Operation operation,
                                      unsigned bytes_per_lane) const;
  /// The sum over all accesses.
  Counts total() const;
  /// The sum for one line of the source.
  Counts total_of_line(int line) const;
  /// How warps came by that line of the file; if none is named, of the launch's, or else of any. No
  /// visits if no piece of code begins in it.
  Passage passage_of_line(int line, const std::string& file = "") const;
};

/// Runs `work` and returns what the launches in it did, with every block counted. `work` must wait
/// for its kernels (cudaDeviceSynchronize). A kernel that is launched again in the same way is
/// returned once.
std::vector<Launch> count(const std::function<void()>& work);

}  // namespace xray
