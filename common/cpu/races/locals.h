// SPDX-License-Identifier: MIT
// Local variables, which no other thread can race for: an array that is overrun by way of a
// pointer, and a pointer to a variable of another thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../engine/memory/stacks.h"
#include "../engine/state/hooks.h"

namespace races {

/// A byte of a guard at this address. Others hold that by chance, so it only says where to look.
inline unsigned char guard_byte(std::uintptr_t address) {
  return static_cast<unsigned char>(address * 0x9e3779b97f4a7c15u >> 56);
}

/// Puts guards around a local array of the running thread, which is the value of a Guarded.
void guard(void* array, std::size_t bytes, const cuda_cpu::LocalArray* declared);
void unguard(const void* array);
void forget_guards();

/// Ends the grid with a report if the access is to a guard.
void check_guards(const void* address, bool writes, const void* place);

/// The same if it is to the stack of another CUDA thread.
void check_stack(const void* address, bool writes, const void* place);

/// Whether an access is of the running thread's own stack, not far above this frame: most are.
__attribute__((always_inline)) inline bool is_own_local(const void* address, bool writes,
                                                        const void* place) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (number - frame >= cuda_cpu::kAboveStack) return false;
  const auto byte = *static_cast<const unsigned char*>(address);
  if (__builtin_expect(byte == guard_byte(number), 0)) check_guards(address, writes, place);
  return true;
}

}  // namespace races
