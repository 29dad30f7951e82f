// SPDX-License-Identifier: MIT
// CUDA's atomics call this in programs that are built for X-ray. The compiler itself declares the
// functions that it calls.
#pragma once

#include <cstddef>

namespace cuda_cpu {

enum class AtomicKind { kIncrement, kCompareAndSwap, kOther };

/// An atomic is one access, whatever it does inside. An increment adds the constant 1.
void atomic_begins(const void* address, std::size_t bytes, AtomicKind kind);

/// Nobody uses what the last atomic of this thread returned. The pre-pass calls it.
void result_is_unused();

}  // namespace cuda_cpu
