// SPDX-License-Identifier: MIT
// Finds races: two accesses of one word by different threads, at least one of them a write and not
// both atomic, that nothing orders. It does so from the order that the program makes (order.h), not
// from the order in which the threads happened to run, so every run finds the same.
//
// Works in programs that are built for X-ray, whose hooks tell of each access, and when the program
// runs with CUDA_CPU_RACES=1. Of the host it sees what code of the program itself does to memory
// that it shares with kernels, but nothing that libraries do, and takes its threads for one.
#pragma once

#include <cstddef>

#include "shadow.h"

namespace races {

/// Whether races are looked for. They are not unless CUDA_CPU_RACES=1 says so or a test asks.
extern bool are_looked_for;
void look_for_races(bool on);
/// A launch runs that is not looked at, since it repeats others (repetitions.h).
extern bool launch_is_passed_over;

/// The running CUDA thread uses memory; `use` is made of the bits of Use, `place` the code after
/// it.
void note_access(const void* address, std::size_t bytes, unsigned use, const void* place);
/// The host does, while work may be under way of which it has not heard that it has ended.
void note_host(const void* address, std::size_t bytes, unsigned use, const void* place);
/// The same as note_access for plain loads and stores of 4, 8 or 16 bytes.
void note_words(const void* address, std::size_t bytes, unsigned use, const void* place);
/// The same for the commonest of all: a plain load of 4 bytes.
void note_word_read(const void* address, const void* place);

/// The running thread begins an asynchronous copy: until it waits for it, nothing orders the read
/// of what is copied and the write to the destination, neither for others nor for itself.
void note_async_copy(const void* to, std::size_t bytes, const void* from, std::size_t read,
                     const void* place);

/// The next read at this address is one by __ldg.
void next_read_is_constant(const void* address);

/// An atomic that has an order of its own has been executed; note_access was called for it, too.
void note_order(const void* address, bool acquires, bool releases, bool block_only);

/// The running CUDA thread executes a fence.
void note_fence(bool block_only);

/// The running CUDA thread has waited for the launch before its own, or lets the next one start.
void note_wait_for_launch_before();
void note_start_of_next_launch();

}  // namespace races
