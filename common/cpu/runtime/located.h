// SPDX-License-Identifier: MIT
// Arguments that know which line of the program they come from.
#pragma once

#include "../types/site.h"

namespace cuda_cpu {

/// An argument together with the line of the call. Unlike a defaulted last argument, it keeps the
/// function usable as a deleter: std::unique_ptr<float, decltype(&cudaFree)>.
template <class T>
struct Located {
  T value;
  Site site;
  Located(T v, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : value(v), site{file, line} {}
};

}  // namespace cuda_cpu
