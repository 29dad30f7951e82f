// SPDX-License-Identifier: MIT
// The stacks on which CUDA threads run, each above a guard page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../state/sanitizers.h"

namespace cuda_cpu {

/// Nothing that others use lies within so many bytes above a stack: an address that near above a
/// frame is the running thread's own. At most the lower half of another stack is there, to which
/// hardly any thread comes down.
constexpr std::size_t kAboveStack = 128 * 1024;

/// There is room for a kernel's local arrays; pages that are not touched cost nothing. Instrumented
/// frames are several times larger.
constexpr std::size_t kStackBytes = kAsan ? 512 * 1024 : 256 * 1024;
static_assert(kAboveStack <= kStackBytes / 2, "the other half of the next stack is its thread's");

struct Stack {
  char* bottom = nullptr;
  void* context = nullptr;  // of its runner, while parked
};

/// Maps further stacks, each above a guard page, of which none has a runner yet.
std::vector<Stack*> map_stacks();

/// True when `address` lies in the guard page under a stack: the kernel's local variables or its
/// recursion outgrew it.
bool is_stack_guard(const void* address);

/// Where the stack of a CUDA thread begins that holds `address`, or may come to hold it; 0 if none.
std::uintptr_t stack_at(const void* address);
inline bool is_on_a_stack(const void* address) { return stack_at(address) != 0; }

}  // namespace cuda_cpu
