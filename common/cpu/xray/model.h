// SPDX-License-Identifier: MIT
// The rules: what one warp-level request costs. Each names the profiler's counter that it predicts;
// `make xray-verify` compares the two on a GPU. Sources: NVIDIA, "CUDA C++ Best Practices Guide",
// sections on coalesced access and on shared memory banks; "Nsight Compute Documentation", section
// on memory tables; and, where these are silent, the H200's own counters.
#pragma once

#include <cstdint>

#include "../xray.h"

namespace xray {

constexpr unsigned kLanes = 32;
constexpr unsigned kSectorBytes = 32;  ///< what a cache is asked for
constexpr unsigned kBanks = 32;        ///< of shared memory, each 4 bytes wide
constexpr unsigned kWordBytes = 4;

/// What the lanes of one warp ask for together.
struct Request {
  Space space = Space::kGlobal;
  Operation operation = Operation::kLoad;
  unsigned bytes = 0;             ///< per lane: 1, 2, 4, 8 or 16
  std::uint32_t mask = 0;         ///< active lanes, never 0
  std::uint64_t address[kLanes];  ///< of the active lanes, from an origin that is a multiple of 256
};

/// The request's costs, as `requests` = 1 would be added to the sums.
Counts counts_of(const Request& request);

/// Distinct 32-byte segments that the lanes touch. Atomics: in each of them as many turns as there
/// are lanes at its most wanted address, since a turn serves an address once.
/// `l1tex__t_sectors_pipe_lsu_mem_global_op_ld` (`_st`, `_atom`, `_red`).
unsigned sectors_of(const Request& request);

/// The same if the distinct bytes lay side by side from a sector's start.
unsigned ideal_sectors_of(const Request& request);

/// Passes through the banks: in each, a bank delivers one 4-byte word, to any number of lanes.
/// Lanes with 8 bytes are served by halves of the warp, with 16 bytes by quarters. Loads, not
/// stores, need half as many parts when every pair of lanes 2i, 2i + 1 (or every pair that differs
/// in bit 1 of the lane's number) wants the same bytes. Atomics take a pass for every lane in a
/// bank, even at the same word. No documentation says this; it was found on an H200 by patterns
/// (tests/xray/h200_shared_patterns.csv), all of which it predicts (patterns.test.cu there).
/// An atomic increment whose result is unused is cheaper: ATOMS.POPC.INC takes a pass for every
/// address in a bank.
/// `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld` (`_st`, `_atom`).
unsigned wavefronts_of(const Request& request);

/// The same without conflicts: as many words as there are distinct, 32 at a time.
unsigned ideal_wavefronts_of(const Request& request);

/// In how many parts the lanes of a warp are served by the banks, one after the other.
unsigned parts_of(const Request& request);

/// Distinct bytes that the lanes touch.
unsigned distinct_bytes_of(const Request& request);

/// Distinct addresses among the active lanes. Of a constant load each is fetched by itself,
/// whatever its size: `idc__requests`, to which the kernel's arguments add a few per warp.
unsigned addresses_of(const Request& request);

/// Most lanes at one address.
unsigned collisions_of(const Request& request);

/// Most distinct words that any one bank must deliver in a pass over all lanes: the degree of the
/// conflict, 1 without.
unsigned conflict_degree_of(const Request& request);

}  // namespace xray
