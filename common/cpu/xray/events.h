// SPDX-License-Identifier: MIT
// What happens in one block, step by step, as JSON.
#pragma once

#include <string>
#include <vector>

#include "counts.h"

namespace xray {

/// One entry of "kernels" for each kernel, for its first launch:
///
///   kernel, arguments, grid [x,y,z], block [x,y,z], block_number
///   steps, steps_kept   the file has the first of them, as many as fit into 50 KB
///   files               paths; `line` below is a line of the first one, [file, line] of another
///   source              for each file an object: the text of each line that is named
///   events              [step, warp, line, space, op, bytes, offsets, cost]
///   paths               [step, warp, line, mask]: these lanes came by the line together
///
/// space: global, shared, constant, host, local. op: load, store, atomic, or copy: the load of an
/// asynchronous copy of 16 bytes; a shorter one is a load and a store. bytes: per lane. offsets:
/// of the 32 lanes, in bytes from the start of the array, null for a lane that is not active. cost:
/// sectors; wavefronts in shared memory; words of constants. A barrier of the block is
/// [step, null, line, null, "barrier", 0, [], 0].
///
/// Steps are an order, not time. Between two barriers each warp counts its own steps from the same
/// number, and the lanes that do something together do it in one step. Where lanes part, their
/// steps are ordered by how much each has done since the barrier. Numbers may be left out.
/// Where a structure (a float4) is copied, the compiler reports its store before its load.
/// `cuts` gets one line for each kernel of which steps are left out.
std::string events_of(const std::vector<Launch>& launches, std::vector<std::string>* cuts);

}  // namespace xray
