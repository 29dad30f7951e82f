// SPDX-License-Identifier: MIT
// CUDA's atomics call this in programs that are built for X-ray. The compiler itself declares the
// functions that it calls.
#pragma once

#include <cstddef>

namespace cuda_cpu {

/// An atomic is one access, whatever it does inside.
void atomic_begins(const void* address, std::size_t bytes);

}  // namespace cuda_cpu
