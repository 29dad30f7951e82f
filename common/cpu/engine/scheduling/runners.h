// SPDX-License-Identifier: MIT
// Stacks on which the threads of blocks run, each with a runner that starts them (scheduler.h).
#pragma once

namespace cuda_cpu {

struct Stack;
struct Worker;

/// A free stack of the worker, with a runner that is ready to start threads.
Stack* take_stack(Worker* worker);

/// Makes all stacks of a worker free again, with new runners. The threads that ran on them are
/// dropped.
void renew_stacks(Worker* worker);

}  // namespace cuda_cpu
