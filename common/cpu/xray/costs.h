// SPDX-License-Identifier: MIT
// What requests of warps are and what they cost, in sums. model.h has the rules.
#pragma once

#include <array>
#include <cstdint>

namespace xray {

constexpr unsigned kLanes = 32;  ///< of a warp

/// The lanes of a mask, in their order: for (const unsigned lane : LanesOf(mask)).
class LanesOf {
 public:
  explicit LanesOf(std::uint32_t mask) : rest_(mask) {}
  LanesOf begin() const { return *this; }
  LanesOf end() const { return LanesOf(0); }
  unsigned operator*() const { return static_cast<unsigned>(__builtin_ctz(rest_)); }
  LanesOf& operator++() {
    rest_ &= rest_ - 1;
    return *this;
  }
  bool operator!=(LanesOf o) const { return rest_ != o.rest_; }

 private:
  std::uint32_t rest_;
};
/// Of a mask that is not 0.
inline unsigned first_lane(std::uint32_t mask) { return *LanesOf(mask); }

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
  /// Where nvcc made predicates of a branch: instructions that warps execute for no lane. They are
  /// no requests. Each takes a wavefront, which an H200 counts as shared memory's, also for global
  /// memory: `l1tex__data_pipe_lsu_wavefronts_mem_shared` of tests/xray/held_out.cu.
  std::uint64_t switched_off = 0;

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
using Offsets = std::array<std::int64_t, kLanes>;

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

/// "global", "shared", "const", "host"
const char* name_of(Space space);

/// "load", "store", "atomic"
const char* name_of(Operation operation);

}  // namespace xray
