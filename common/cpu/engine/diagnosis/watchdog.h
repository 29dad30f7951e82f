// SPDX-License-Identifier: MIT
// Stops kernels that never end. One OS thread checks now and then whether any worker has made
// progress: a thread or a block has ended, or a barrier has opened. After CUDA_CPU_TIMEOUT seconds
// without progress, or a longer time in which only barriers opened, it interrupts a worker by a
// signal. The signal's handler jumps out of the kernel.
#pragma once

namespace cuda_cpu {

struct Worker;

/// A worker is watched between these two.
void watch(Worker* worker);
void unwatch(Worker* worker);

/// Seconds in which barriers opened but no thread ended, after which a kernel counts as hanging.
double barrier_timeout_seconds();

}  // namespace cuda_cpu
