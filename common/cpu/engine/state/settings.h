// SPDX-License-Identifier: MIT
// Everything that a user may set in the environment. A value that is not allowed ends the program
// with one line that names those that are.
//
//   variable                allowed                            default
//   CUDA_CPU_SCHEDULE       forward, reverse or random:SEED    forward
//   CUDA_CPU_WORKERS        1 to 64                            the CPU's threads, 8 at most
//   CUDA_CPU_DEVICES        1 to 8                             1; with NCCL 4
//   CUDA_CPU_TIMEOUT        seconds; 0: no limit               10
//   CUDA_CPU_LEAKS          note or ignore                     note
//   CUDA_CPU_RACES          1 or all: look for races; 0        0
//   CUDA_CPU_RACES_MIB      MiB that this may take, 1 or more  half of the machine's memory
//   CUDA_LAUNCH_BLOCKING    1, as in CUDA                      0
//   NO_COLOR                anything: no colour in reports     colour on a terminal
//
// X-ray's own variables stand in xray/report.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_cpu {

/// CUDA_CPU_SCHEDULE: the order in which threads, blocks and independent streams run.
struct Schedule {
  enum class Kind { kForward, kReverse, kRandom } kind;
  std::uint64_t seed;
};
const Schedule& schedule();

/// CUDA_CPU_WORKERS: OS threads that run blocks.
unsigned worker_count();
/// The same for a grid that is not observed: an observer wants one worker for its own alone.
unsigned worker_count_unobserved();

/// CUDA_CPU_DEVICES: GPUs that the program finds.
int device_count();

/// CUDA_CPU_TIMEOUT: seconds without any progress before a kernel counts as hanging; 0 is never.
/// Under a sanitizer ten times as many.
double timeout_seconds();

/// CUDA_CPU_RACES=1: the race detector watches (races/detector.h). A program that is not built for
/// that ends with one line at its first launch.
bool races_are_wanted();
/// CUDA_CPU_RACES=all: it watches launches that repeat others, too, however long that takes.
bool all_launches_are_wanted();

/// CUDA_CPU_RACES_MIB: how many bytes the race detector may take for what it remembers of memory; 0
/// where it is not set.
std::size_t races_may_take();

/// CUDA_CPU_LEAKS=note: a program that succeeds and has not freed its device memory is told so.
bool leaks_are_noted();

/// CUDA_LAUNCH_BLOCKING=1: work that is put on a stream runs at once.
bool launches_block();

}  // namespace cuda_cpu
