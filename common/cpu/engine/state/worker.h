// SPDX-License-Identifier: MIT
// A worker: an OS thread that runs whole blocks of a grid, and what the engine keeps of it.
#pragma once

#include <pthread.h>
#include <setjmp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "grid.h"

namespace cuda_cpu {

struct Block;
struct Stack;

/// A fault as the signal handler saw it.
struct Fault {
  int signal;
  void* address;  ///< si_addr
  void* pc;
  bool is_write;  ///< where the CPU tells, else false
  bool knows_write;
};

/// Why a kernel is left before its end: its grid has failed, here or in another worker, and that is
/// reported; a fault, which is not; or the watchdog has waited in vain.
enum class Exit : int { kNone, kFailed, kFault, kTimeout, kOnlyBarriers };

struct Worker {
  Grid* grid = nullptr;
  std::vector<Block*> live;  // resident blocks; current_block is live[live_position]
  std::size_t live_position = 0;
  std::vector<Block*> spare;  // without a block to run
  std::vector<Stack*> stacks;
  std::vector<Stack*> free_stacks;
  unsigned fruitless_turns = 0;  // around the live blocks, with nothing but yields and waits
  std::uint64_t progress_last_turn = 0;

  // Threads and blocks that ended, barriers that opened. The watchdog looks at them. Where races
  // are looked for, a word that a launch uses for the first time counts as an end: no loop has
  // endlessly many of them.
  std::uint64_t ended = 0, barriers = 0;
  std::uint64_t progress() const { return ended + barriers; }

  void (*run_threads)(Stack* mine) = nullptr;  // what a new stack begins with

  void* home_context = nullptr;  // the OS thread's own stack, while a kernel runs
  sigjmp_buf home_jump;
  Fault fault{};
  Exit exit = Exit::kNone;  // why the jump home was made

  const pthread_t os_thread = pthread_self();
  std::atomic<Exit> interrupt{Exit::kNone};  // what the watchdog asks for
  std::atomic<bool> interruptible{false};    // in a kernel, and not reporting about it

  // How ASan knows the OS thread's own stack.
  void* home_fake_stack = nullptr;
  const void* home_bottom = nullptr;
  std::size_t home_size = 0;
};

}  // namespace cuda_cpu
