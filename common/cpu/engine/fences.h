// SPDX-License-Identifier: MIT
// What ThreadSanitizer is told of fences and atomics; fences.cpp says why. Only there under TSan.
#pragma once

#include <cstddef>

namespace cuda_cpu {

struct Block;

/// What TSan remembers about `thing`, a part of the block. It is another place for every block,
/// since their memory is used again, and one block's barrier orders nothing for the next.
void* tsan_object(const Block* block, const void* thing);

/// An atomic was executed at `address`, and stored a value there or only read one.
void atomic_was_executed(const void* address, bool stored);

/// __threadfence() or one of its kin.
void fence_was_executed();

/// __ldg().
void read_as_constant(const void* address, std::size_t bytes);

}  // namespace cuda_cpu
