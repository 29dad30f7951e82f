// SPDX-License-Identifier: MIT
// What a signal handler is told about the instruction that it interrupted.
#pragma once

#include <cstdint>

namespace cuda_cpu {

struct Registers {
  void* pc;
  std::uintptr_t stack_pointer;
  bool knows_write;
  bool is_write;
};

/// Reads the third argument of a signal handler. The only function that knows its layout on each
/// system and CPU, with the next one.
Registers registers_of(void* context);

/// Where a function that has just been entered returns to.
const void* return_address(void* context);

}  // namespace cuda_cpu
