// SPDX-License-Identifier: MIT
// What a signal handler learns about the instruction that it interrupted.
#pragma once

#include <cstdint>

namespace cuda_cpu {

struct Registers {
  void* pc;
  std::uintptr_t stack_pointer;
  bool knows_write;
  bool is_write;
  const void* const* return_address;  ///< where that of a function lies that was just entered
  std::uintptr_t general[31];         ///< the first `count` of them
  int count;
};

/// Reads the third argument of a signal handler. Only this function knows its layout on each system
/// and CPU.
Registers registers_of(void* context);

}  // namespace cuda_cpu
