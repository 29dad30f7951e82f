// SPDX-License-Identifier: MIT
// What happens in one block, step by step, as JSON.
#pragma once

#include <string>
#include <vector>

#include "counted.h"

namespace xray {

/// One entry of "kernels" for each kernel, for its first launch:
///
///   kernel, arguments, grid [x,y,z], block [x,y,z], block_number
///   steps, steps_kept   the file has the first of them, as many as fit into 50 KB
///   files               paths; `line` below is a line of the first one, [file, line] of another
///   source              for each file an object: the text of each line that is named
///   events              [step, warp, line, space, op, bytes, offsets, cost, more]
///   paths               [step, warp, line, mask]: these lanes came by the line together
///
/// space: global, shared, const, host, local. op: load, store, atomic; swap: an atomic
/// compare-and-swap; increment: an atomic that adds 1, and nobody uses the old value; copy: the
/// load of an asynchronous copy of 16 bytes, while a shorter one is a load and a store. bytes: per
/// lane. offsets: of the 32 lanes, in bytes from the start of the array, null for a lane that is
/// not active. cost: sectors; wavefronts in shared memory; words of constants. A barrier of the
/// block is [step, null, line, null, "barrier", 0, [], 0].
///
/// more: an object, left out where it would be empty, of what the cost depends on besides.
///   name      of the array or the variable
///   arrays    for each lane the number of its array, where the lanes use several, or one that does
///             not begin at a multiple of 128 bytes
///   phases    for each of these arrays the first byte's address modulo 128
///   landing   for each lane of a copy: where it lands in the shared array
///
/// Steps are an order, not time. Between two barriers each warp counts its own steps from the same
/// number, and the lanes that do something together do it in one step. Where lanes part, their
/// steps are ordered by how much each has done since the barrier; where they meet again, by the
/// lane that has done most. Numbers may be left out.
/// Where a structure (a float4) is copied, the compiler reports its store before its load.
///
/// `for_page`: for a page that shows them (common/tools/run/explorer.html). 1 MB of steps are kept,
/// offsets of 32 active lanes that lie evenly apart are [first, distance], `source` is empty, and
/// "texts" beside "kernels" has each file's whole text.
/// `cuts` gets one line for each kernel of which steps are left out.
std::string events_of(const std::vector<Launch>& launches, bool for_page,
                      std::vector<std::string>* cuts);

}  // namespace xray
