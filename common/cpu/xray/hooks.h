// SPDX-License-Identifier: MIT
// What CUDA's atomics call in programs that are built for X-ray. What the compiler calls there is
// declared by the compiler.
#pragma once

#include <cstddef>

namespace cuda_cpu {

/// An atomic is one access, whatever it does inside.
void atomic_begins(const void* address, std::size_t bytes);

}  // namespace cuda_cpu
