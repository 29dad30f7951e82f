// SPDX-License-Identifier: MIT
// Reading and writing memory that may not be there.
#pragma once

#include <cstddef>

namespace cuda_cpu {

/// memmove and memset. They return false when they touch memory that is not there, with its
/// address.
bool guarded_copy(void* destination, const void* source, std::size_t bytes, const void** fault);
bool guarded_fill(void* destination, int value, std::size_t bytes, const void** fault);

/// The signal handler calls it with the address of an access that faulted. It does not return if
/// one of these two made the access.
void leave_guarded_copy(const void* address);

}  // namespace cuda_cpu
