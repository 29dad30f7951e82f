// SPDX-License-Identifier: MIT
// Decides which thread of a block runs next.
#pragma once

#include <cstdint>

namespace cuda_cpu {

struct Block;
struct Stack;
struct Thread;
struct Worker;

/// Generations that never change: a thread that looks at the first with seen = 0 may always run, at
/// the second never.
inline const std::uint32_t kAlwaysRunnable = 1;
inline const std::uint32_t kNeverRunnable = 0;

/// A runner's loop on its stack: starts the threads of one block after the other.
[[noreturn]] void run_threads(Stack* mine);

/// The thread that runs next, made current; nullptr: a fresh runner must start the next one.
Thread* pick_thread(Worker* worker);

/// The next thread to look at is the first of the order.
void new_round(Worker* worker, Block* block);

/// Puts the threads of a block into a random order.
void shuffle_order(Worker* worker, Block* block);

}  // namespace cuda_cpu
