// SPDX-License-Identifier: MIT
// __launch_bounds__: the most threads that a block of the kernel may have. The other bounds are
// about speed.
#pragma once

#include "block.h"
#include "current.h"
#include "uninstrumented.h"

namespace cuda_cpu {

/// Reports it and ends the kernel.
[[noreturn]] void exceed_launch_bounds(long long most, const char* file, int line);

/// Emitted by the pre-pass where a kernel with bounds begins.
template <class... Others>
CUDA_CPU_UNINSTRUMENTED inline void keep_launch_bounds(const char* file, int line, long long most,
                                                       Others...) {
  const Block* const block = current_block;
  if (block != nullptr && block->count > most) exceed_launch_bounds(most, file, line);
}

}  // namespace cuda_cpu
