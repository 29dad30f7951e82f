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
///   events              [step, warp, line, space, op, bytes, offsets, cost, request, start, name]
///   requests            what the events' requests cost, each different one once
///   paths               [step, warp, line, mask]: these lanes came by the line together
///
/// space: global, shared, const, host, local. op: load, store, atomic; swap: an atomic
/// compare-and-swap; increment: an atomic that adds 1, and nobody uses the old value; copy: the
/// load of an asynchronous copy of 16 bytes, while a shorter one is a load and a store. bytes: per
/// lane. offsets: of the 32 lanes, in bytes from the start of the array, null for a lane that is
/// not active. cost: sectors; wavefronts in shared memory; words of constants. request: which one
/// of `requests`. start: its first line or byte. name: of the array or the variable, left out where
/// it has none. A barrier of the block is [step, null, line, null, "barrier", 0, [], 0].
///
/// An entry of requests is an object: `ideal`, what the same bytes cost at best, and one of these.
///   sectors   of global, host and local memory: [[array, line, column, lanes, bytes, turns], ..],
///             the number of the array, where lanes use several; the line of 128 bytes in it,
///             counted from `start`, in local memory one word of all lanes; which sector of the
///             line, of a copy which one of the shared array; masks of the lanes that want it and
///             of the bytes that they want; how often it counts
///   passes    of shared memory, [..]: for each lane the pass through the banks in which it is
///             served, from 0, null for a lane that is not active; `parts`: of the warp, which the
///             banks serve one after the other
///   fetches   of constant memory, [[byte, lanes], ..]: an address, counted from `start`
///
/// Steps are an order, not time. Between two barriers each warp counts its own steps from the same
/// number, and the lanes that do something together do it in one step. Where lanes part, their
/// steps are ordered by how much each has done since the barrier; where they meet again, by the
/// lane that has done most. Numbers may be left out.
/// Where a structure (a float4) is copied, the compiler reports its store before its load.
///
/// `for_page`: for a page that shows them (common/tools/run/explorer.html). 1 MB of steps are kept,
/// offsets of 32 active lanes that lie evenly apart are [first, distance], `source` is empty, and
/// "texts" beside "kernels" has each file's whole text. A kernel has what the listing says of it:
///   sums       requests, sectors, wavefronts, words of the block, all steps
///   costliest  [line, "32/4 sectors"], or null; emptiest: [line, "16.0 of 32 lanes, 4 passes"]
///   said       [line, 1 if it is the worst, cause and remedy]
/// `cuts` gets one line for each kernel of which steps are left out.
std::string events_of(const std::vector<Launch>& launches, bool for_page,
                      std::vector<std::string>* cuts);

}  // namespace xray
