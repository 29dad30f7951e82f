// SPDX-License-Identifier: MIT
// Copies of a program's memory that X-ray and the race detector do not hear of. The engine's own
// calls of memcpy are not seen; those of a library are, since it is linked beside the program.
#pragma once

#include <cstddef>

namespace cuda_cpu {

void copy_unseen(void* to, const void* from, std::size_t bytes);
void fill_unseen(void* to, unsigned char value, std::size_t bytes);

}  // namespace cuda_cpu
