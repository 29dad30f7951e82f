// SPDX-License-Identifier: MIT
// Stops kernels that never end. One OS thread looks now and then whether any worker has got on:
// whether a thread or a block has ended, a barrier has opened. If none has for CUDA_CPU_TIMEOUT
// seconds, or for a longer time only barriers have opened, a signal interrupts a worker, whose
// handler jumps out of the kernel.
#pragma once

namespace cuda_cpu {

struct Worker;

/// A worker is watched between these two.
void watch(Worker* worker);
void unwatch(Worker* worker);

/// Seconds in which barriers opened but no thread ended, after which a kernel counts as hanging.
double barrier_timeout_seconds();

}  // namespace cuda_cpu
