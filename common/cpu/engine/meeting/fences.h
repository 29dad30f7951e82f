// SPDX-License-Identifier: MIT
// Tells ThreadSanitizer about fences and atomics; fences.cpp says why. Only TSan's programs call
// it.
#pragma once

#include <cstddef>

namespace cuda_cpu {

struct Block;

/// The word to which TSan attaches what it remembers about `thing`, a part of the block. Every
/// block has another one: blocks use memory again, and one block's barrier orders nothing for the
/// next.
#if defined(CUDA_CPU_TSAN)
void* tsan_object(const Block* block, const void* thing);
#else
inline void* tsan_object(const Block*, const void*) { return nullptr; }
#endif

/// __threadfence() or one of its variants was executed.
void fence_was_executed();

/// An atomic was executed at `address`, and stored a value there or only read one. It may have an
/// order of its own (cuda::atomic_ref): if it stored, `releases` publishes what came before it, to
/// whoever acquires from the same address; `acquires` takes what was published there. `block_only`:
/// between threads of one block.
void atomic_was_executed(const void* address, bool stored, bool acquires = false,
                         bool releases = false, bool block_only = false);

/// __ldg().
void read_as_constant(const void* address, std::size_t bytes);

}  // namespace cuda_cpu
