// SPDX-License-Identifier: MIT
// The rules for what one request of a warp costs. Each rule names the profiler's counter that it
// predicts; `make xray-verify` compares the two on a GPU. The sources are NVIDIA's "CUDA C++ Best
// Practices Guide" (sections on coalesced access and on shared memory banks), the "Nsight Compute
// Documentation" (section on memory tables) and, where these are silent, the counters of an H200.
#pragma once

#include <cstdint>

#include "counts.h"

namespace xray {

constexpr unsigned kLanes = 32;
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

/// Distinct sectors that the lanes touch. An atomic asks for a sector again and again: once for
/// each lane at the most wanted address in it, since a turn serves one lane at each address. An
/// asynchronous copy of 16 bytes does not pass the L1: it takes, for each line of 128 bytes that it
/// reads, the sectors of shared memory that it fills. These are more than it reads where source and
/// target do not lie alike in their sectors. This was found on an H200 with the patterns in
/// tests/xray/h200_copy_patterns.csv; the rule predicts all of them (copies.test.cu).
/// `l1tex__t_sectors_pipe_lsu_mem_global_op_ld` (`_st`, `_atom`, `_red`).
unsigned sectors_of(const Request& request);

/// The same for local memory, whose addresses are offsets in an array that every lane has. The
/// words of the lanes lie side by side: word 0 of lanes 0 to 31, then word 1 of all lanes, and so
/// on. So lanes at the same element share sectors, at different ones only if they lie in the same
/// word and group of eight lanes. `l1tex__t_sectors_pipe_lsu_mem_local_op_ld` (`_st`).
unsigned local_sectors_of(const Request& request);

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

/// The passes without conflicts: the distinct words, 32 at a time.
unsigned ideal_wavefronts_of(const Request& request);

/// In how many parts of the warp, one after the other, the banks serve the lanes.
unsigned parts_of(const Request& request);

/// Distinct bytes that the lanes touch.
unsigned distinct_bytes_of(const Request& request);

/// Distinct addresses among the active lanes. A constant load fetches each of them by itself,
/// whatever its size: `idc__requests`, to which the kernel's arguments add a few per warp.
unsigned addresses_of(const Request& request);

/// Most lanes at one address.
unsigned collisions_of(const Request& request);

}  // namespace xray
