// SPDX-License-Identifier: MIT
// The rules for what one request of a warp costs, here and in model.cpp. Each rule names the
// profiler's counter that it predicts; `make xray-verify` compares the two on a GPU. The sources
// are NVIDIA's "CUDA C++ Best Practices Guide" (sections on coalesced access and on shared memory
// banks), the "Nsight Compute Documentation" (section on memory tables) and, where these are
// silent, the counters of an H200.
#pragma once

#include <cstdint>

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
unsigned wavefronts_of(const Request& request);

/// In how many parts of the warp, one after the other, the banks serve the lanes.
unsigned parts_of(const Request& request);
constexpr std::uint32_t lanes_of_part(unsigned part, unsigned parts) {
  return ~0u >> (kLanes - kLanes / parts) << part * kLanes / parts;
}

}  // namespace xray
