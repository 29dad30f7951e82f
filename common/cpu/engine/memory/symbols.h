// SPDX-License-Identifier: MIT
// The program's __device__, __constant__ and __managed__ variables.
#pragma once

#include <cstddef>

#include "../state/uninstrumented.h"
#include "marked_pointers.h"
#include "memory.h"

namespace cuda_cpu {

/// Emitted by the pre-pass after every such variable at namespace scope.
struct SymbolRegistrar {
  SymbolRegistrar(const volatile void* address, std::size_t size, Space space, const char* name,
                  const char* file, int line, bool may_hold_pointers = false);
};

/// The same after a static variable of a device function, when a thread comes by. `Place` is
/// another type at each.
template <class Place>
CUDA_CPU_UNINSTRUMENTED inline void register_static(Place, const volatile void* address,
                                                    std::size_t size, Space space, const char* name,
                                                    const char* file, int line, bool) {
  static bool is_known = false;
  if (!__atomic_load_n(&is_known, __ATOMIC_RELAXED) &&
      !__atomic_exchange_n(&is_known, true, __ATOMIC_RELAXED)) {
    const SymbolRegistrar registrar(address, size, space, name, file, line);
  }
}

/// Every device has variables of its own. Those of this one take the place of another's, unless
/// they are there.
void choose_symbols(int device);

/// Gives every variable of a device its first value back (cudaDeviceReset).
void restore_symbols(int device);

}  // namespace cuda_cpu
