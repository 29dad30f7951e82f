// SPDX-License-Identifier: MIT
// Notes that are printed when a program has ended, about what is not an error but probably a
// mistake.
#pragma once

#include <cstddef>

#include "../engine/memory/memory.h"

namespace cuda_cpu {

enum class Transfer { kToDevice, kFromDevice, kFill };

/// Notes a transfer of `bytes` at `pointer`, in the allocation `range`. Where each of one kind
/// moves as many bytes as the allocation has elements, but more was meant, their size is in
/// elements.
void note_transfer(Transfer kind, const MemoryRange& range, const void* pointer, std::size_t bytes,
                   const char* call, Site site);

/// The allocation is gone: judges its transfers, before others use its address.
void judge_transfers(std::uintptr_t base);

}  // namespace cuda_cpu
