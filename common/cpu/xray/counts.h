// SPDX-License-Identifier: MIT
// On the CPU backend, X-ray counts what a kernel's warps ask of the memory system. Programs that
// are built for it (build/cpu-xray) report by themselves when they end; tests and labs ask here.
//
// On a CPU the 32 lanes of a warp run one after the other. X-ray puts their accesses together
// again: accesses of a warp's lanes are one request if the lanes make them at the same place in the
// code, on the same visit to that place since they last met. Lanes meet at a barrier, in a warp
// operation, and in each turn of a loop that all of them go round equally often: lanes that skip a
// part of a turn, or leave an inner loop, wait for the others, as on a GPU
// (tests/xray/loops.test.cu). In a loop that lanes leave after different turns, the visits count
// from its beginning. Three things may differ on a GPU. If nvcc unrolls such a loop, an access in
// it is up to 15 requests more each time a warp goes through it (Counts::more_unrolled). Where such
// a loop has parts that lanes skip, and in the last turns of any loop, requests may be fewer here.
// And what nvcc moves out of a loop, splits or joins is counted as the source says; the listing
// remarks on the usual cases. No cache is modelled: the counts say what is asked for, not what is
// missed. The compiler does not report loads from variables that are declared const.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../cuda/vector_types.h"

namespace xray {

enum class Space { kGlobal, kShared, kConstant, kHost };  ///< kHost: pinned or mapped host memory
enum class Operation : std::uint8_t { kLoad, kStore, kAtomic };

/// Atomics that cost something else in shared memory than others do.
enum class Form : std::uint8_t {
  kPlain,
  kIncrement,        ///< adds 1, and the old value is used
  kIncrementUnused,  ///< adds 1, and nobody uses the old value
  kCompareAndSwap
};

/// Sums over requests of warps. A count that does not apply to a space stays 0.
struct Counts {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;             ///< active lanes: 32 for each request at best
  std::uint64_t bytes = 0;             ///< distinct bytes that the lanes touch
  std::uint64_t sectors = 0;           ///< global, host: distinct 32-byte segments
  std::uint64_t ideal_sectors = 0;     ///< sectors of the same bytes if they lay side by side
  std::uint64_t wavefronts = 0;        ///< shared: passes through the 32 banks
  std::uint64_t ideal_wavefronts = 0;  ///< wavefronts without bank conflicts
  std::uint64_t words = 0;             ///< constant: distinct addresses, fetched one by one
  std::uint64_t addresses = 0;         ///< atomic: distinct addresses
  std::uint64_t collisions = 0;        ///< atomic: most lanes of a request at one address, summed
  std::uint64_t repeated = 0;          ///< constant: requests for what the warp fetched just before
  std::uint64_t more_unrolled = 0;     ///< requests more where nvcc unrolls an uneven loop

  Counts& operator+=(const Counts& other);
  double per_request(std::uint64_t count) const {
    return requests == 0 ? 0 : static_cast<double>(count) / static_cast<double>(requests);
  }
};

/// Everything that the counted warps did by one load, store or atomic of a line. The compiler may
/// turn it into several places in the code; they count as one as long as they cost the same.
struct Access {
  std::string file;  ///< as make names it: chapters/NN_name/name.cu
  int line = 0;
  Space space = Space::kGlobal;
  Operation operation = Operation::kLoad;
  unsigned bytes_per_lane = 0;
  std::string name;  ///< of the shared array or the variable; "" for allocations
  Counts counts;

  /// The first request, lane by lane: offset from the start of the array, -1 for an idle lane.
  std::int64_t first[32];
  /// The request that was furthest from its ideal, in the same form.
  std::int64_t worst[32];
};

/// One launch. Later launches of the same kernel with the same configuration and arguments are not
/// counted again.
struct Launch {
  std::string kernel;     ///< as the launch names it
  std::string arguments;  ///< numbers as they are, a pointer as *, anything else as ..
  std::string file;       ///< where the launch stands
  int line = 0;
  dim3 grid, block;
  std::uint64_t blocks = 0, blocks_counted = 0, warps_counted = 0;
  std::uint64_t barriers = 0;    ///< passed by each thread of the first counted block
  std::vector<Access> accesses;  ///< in the order of their lines

  /// Sum over the accesses of one kind; `name` selects a shared array or a variable.
  Counts total(Space space, Operation operation, const std::string& name = "") const;
  /// The same for one line of the source.
  Counts total_of_line(int line) const;
};

/// Runs `work` and returns what the launches in it did, with every block counted. `work` must wait
/// for its kernels (cudaDeviceSynchronize). A kernel that is launched again in the same way is
/// returned once.
std::vector<Launch> count(const std::function<void()>& work);

}  // namespace xray
