// SPDX-License-Identifier: MIT
// From single accesses of single lanes to requests of warps.
#pragma once

#include <cstdint>

#include "../xray.h"

namespace cuda_cpu {
struct Block;
}

namespace xray {

enum class Kind : std::uint8_t { kLoad, kStore, kAtomic };

/// Notes an access by the running CUDA thread, if its block is watched. `place` is the address of
/// the code behind it.
void note(const void* address, unsigned bytes, Kind kind, const void* place);

/// The running CUDA thread enters a function, called from there, and leaves it.
void enter(const void* from);
void leave();

/// How blocks are chosen: all of them, or this many, spread evenly over the grid.
void sample_blocks(std::uint64_t at_most);
void count_all_blocks();

/// What was counted since the last call, in the order of the launches.
std::vector<Launch> take_launches();

/// Does nothing; report.cpp, which prints what was counted when the program ends, has its
/// initialiser beside it.
void report_at_exit();

/// Whether launches are watched at all; off until somebody wants to know.
void watch(bool on);

}  // namespace xray
