// SPDX-License-Identifier: MIT
// The program's __device__, __constant__ and __managed__ variables.
#pragma once

#include <cstddef>

#include "marked_pointers.h"
#include "memory.h"

namespace cuda_cpu {

/// Emitted by the pre-pass after every such variable at namespace scope.
struct SymbolRegistrar {
  SymbolRegistrar(const volatile void* address, std::size_t size, Space space, const char* name,
                  const char* file, int line, bool may_hold_pointers = false);
};

/// Gives every variable its first value back (cudaDeviceReset).
void restore_symbols();

}  // namespace cuda_cpu
