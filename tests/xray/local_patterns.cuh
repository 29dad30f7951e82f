// SPDX-License-Identifier: MIT
// Kernels in which the active lanes of a warp use own[index] of an array of their own. It is so
// large, and filled or read by a loop that nvcc cannot unroll, that it lies in local memory.
#pragma once

namespace local_patterns {

constexpr int kElements = 128;

struct Pattern {
  unsigned mask;
  int index[32];
};

// One load; the stores before it fill the array.
template <class T>
__global__ void load_own(Pattern p, T* out, int filled) {
  T own[kElements];
#pragma unroll 1
  for (int i = 0; i < filled; ++i) own[i] = out[i];
  const unsigned lane = threadIdx.x;
  if ((p.mask >> lane & 1) != 0) out[lane] = own[p.index[lane]];
}

// One store; the loads behind it keep the compiler from leaving it out.
template <class T>
__global__ void store_own(Pattern p, T* out, int read) {
  T own[kElements];
  const unsigned lane = threadIdx.x;
  if ((p.mask >> lane & 1) != 0) own[p.index[lane]] = out[lane];
#pragma unroll 1
  for (int i = 0; i < read; ++i) out[32 * i + static_cast<int>(lane)] = own[i];
}

}  // namespace local_patterns
