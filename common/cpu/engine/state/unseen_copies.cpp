// SPDX-License-Identifier: MIT
#include "unseen_copies.h"

#include <cstring>

namespace cuda_cpu {

void copy_unseen(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void fill_unseen(void* to, unsigned char value, std::size_t bytes) {
  std::memset(to, value, bytes);
}

}  // namespace cuda_cpu
