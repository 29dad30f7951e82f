// SPDX-License-Identifier: MIT
// Indices outside an array of known length: __constant__ and __device__ arrays, local arrays,
// arrays in structures. There is no guard page after those. The compiler compares each index
// (-fsanitize=bounds) and calls this instead of its own library. __shared__ arrays have guard
// pages, and are left to them: the fault tells more. Here only their rows are checked, but for row
// 0: s[0][k] may mean a flat array, while s[t][16], in rows of 16, is an element of the next row.
#pragma once

#include <cstdint>

namespace cuda_cpu {

/// What the compiler says about a kind of value; the name in quotes follows.
struct CheckedType {
  std::uint16_t kind;
  std::uint16_t info;  ///< of an integer: bit 0 if it is signed, above it log2 of its bits
  char name[1];
};

/// One place in the program where an array is indexed.
struct CheckedIndex {
  const char* file;
  std::uint32_t line, column;
  const CheckedType *array, *index;
};

}  // namespace cuda_cpu

/// Called before an access with an index that is outside of the array. Returns in host code.
extern "C" void __ubsan_handle_out_of_bounds(const cuda_cpu::CheckedIndex* place,
                                             std::uintptr_t index);
