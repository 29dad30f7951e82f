// SPDX-License-Identifier: MIT
// The rules for what one request of a warp costs, here and in model.cpp, and nowhere else:
// listings, pages and figures show what these say. Each rule names the profiler's counter
// that it predicts; `make xray-verify` compares the two on a GPU. The sources are NVIDIA's "CUDA
// C++ Best Practices Guide" (sections on coalesced access and on shared memory banks), the "Nsight
// Compute Documentation" (section on memory tables) and, where these are silent, the counters of an
// H200.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "costs.h"

namespace xray {

constexpr unsigned kSectorBytes = 32;  ///< what a cache is asked for
constexpr unsigned kLineBytes = 128;   ///< of the L1
constexpr unsigned kBanks = 32;        ///< of shared memory, each one word wide
constexpr unsigned kWordBytes = 4;

/// What the lanes of one warp ask for at once.
struct Request {
  Space space = Space::kGlobal;
  Operation operation = Operation::kLoad;
  unsigned bytes = 0;  ///< per lane: 1, 2, 4, 8 or 16
  Form form = Form::kPlain;
  std::uint32_t mask = 0;         ///< active lanes, never 0
  std::uint64_t address[kLanes];  ///< of the active lanes; arrays begin at multiples of 256
  std::uint32_t landing[kLanes];  ///< Form::kCopied: offsets in the shared array
};

/// All costs of the request; `requests` is 1.
Counts counts_of(const Request& request);

/// A sector that lanes want.
struct Sector {
  std::uint64_t line = 0;   ///< of 128 bytes; of local memory, one word of all lanes
  unsigned column = 0;      ///< in the line; of a copy, in the shared array that it fills
  std::uint32_t lanes = 0;  ///< that want some of it
  std::uint32_t bytes = 0;  ///< that they want: a bit for each of the 32
  unsigned turns = 1;       ///< that it takes

  std::pair<std::uint64_t, unsigned> key() const { return {line, column}; }
};

/// An address that lanes want.
struct Address {
  std::uint64_t address = 0;
  std::uint32_t lanes = 0;

  std::uint64_t key() const { return address; }
};

/// In which pass through the banks each active lane is served, from 0.
struct Passes {
  unsigned count = 0;
  unsigned parts = 1;  ///< of the warp, served one after the other
  std::array<unsigned, kLanes> of_lane{};
};

/// Passes through the banks. In each pass a bank delivers one word, to any number of lanes. Lanes
/// with 8 bytes are served by halves of the warp, lanes with 16 bytes by quarters. Loads (but not
/// stores) need half as many parts when the lanes of every pair want the same bytes; the pairs are
/// 2i and 2i + 1, or those whose numbers differ in bit 1. Atomics take a pass for every lane in a
/// bank, even at the same word. No documentation says this. It was found on an H200 with the
/// patterns in tests/xray/h200_shared_patterns.csv, and predicts all of them (patterns.test.cu).
/// An increment of an int or unsigned whose result nobody uses is cheaper: ATOMS.POPC.INC counts
/// the lanes of an address and takes a pass for every address in a bank. It must add the constant
/// 1, by atomicAdd, or by atomicInc that never wraps; 2, -1, a variable, 64 bits take ATOMS.ADD. A
/// compare-and-swap of 4 bytes takes two passes where another atomic takes one.
/// `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld` (`_st`, `_atom`).
Passes passes_of(const Request& request);

/// What a request asks for, piece by piece, for pictures of it: of its kind of memory, in the order
/// of the addresses.
struct Served {
  std::vector<Sector> sectors;   ///< global, host, local
  Passes passes;                 ///< shared
  std::vector<Address> fetches;  ///< constant
};
Served served(const Request& request);

}  // namespace xray
