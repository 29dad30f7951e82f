// SPDX-License-Identifier: MIT
// What the race detector has found, in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../types/site.h"
#include "shadow.h"

namespace races {

/// A launch, as reports name its threads.
struct LaunchShape {
  cuda_cpu::LaunchedKernel kernel{"", nullptr, 0};
  dim3 grid{1, 1, 1}, block{1, 1, 1};
  bool is_call = false;  ///< of the runtime, in place of a kernel: a copy or fill
  bool is_host = false;  ///< the host's own code
};

enum class Fault : std::uint8_t {
  kSameWarp,
  kSameBlock,
  kOtherBlock,
  kOtherStream,
  kOtherNode,     ///< of a graph
  kLaunchBefore,  ///< in the same stream, of a launch that may start early
  kHost,          ///< the host beside a kernel or copy
  kBlockScope,    ///< atomics of different blocks, one of them with the scope of a block
  kConstantLoad,  ///< __ldg of what the kernel writes
  kUnderWay,      ///< of an asynchronous copy that nobody has waited for
  kUpdate,        ///< volatile reads and writes of one word, each pair in one line
  // Those of one access:
  kUnset,          ///< shared or device memory is read that nobody has written
  kConstantWrite,  ///< a __constant__ variable is written
  kPadding,        ///< what lies between two rows is written
};

/// Two accesses that race, or one that is wrong by itself.
struct Found {
  Fault fault = Fault::kSameBlock;
  const void* address = nullptr;
  std::size_t bytes = 0;
  Access earlier, later;
  LaunchShape earlier_launch, later_launch;
  bool is_same_value = false;  ///< two writes, of the value that was there already
  bool is_locked = false;  ///< the later one by the thread that took a lock last, without a fence
};

/// Keeps it for report_findings unless one with the same two places was kept before.
void add_finding(const Found& found);

/// A compare-and-swap of `thread` at `address` checks what the thread has read there by a plain
/// load: a value that another thread has changed meanwhile does no harm, so that load is not
/// reported beside atomics.
void forgive_guess(ThreadName thread, const void* address);

/// Reports what was added, once per pair of lines. Not to be called inside a kernel.
void report_findings();

/// A finding that was reported.
struct Finding {
  Fault fault;
  cuda_cpu::Site earlier, later;
  std::string text;  ///< as it was printed
};
/// Those since the last call, in their order.
std::vector<Finding> take_findings();

}  // namespace races
