// SPDX-License-Identifier: MIT
// A name that the CPU backend does not have (prepass/refused.h) becomes one line from the compiler,
// at the program's own line.
#pragma once

#define CUDA_CPU_PRAGMA(text) _Pragma(#text)
#define CUDA_CPU_ERROR(text) CUDA_CPU_PRAGMA(GCC error text)
#define CUDA_CPU_NO_TYPE(text) CUDA_CPU_ERROR(text) cuda_cpu::Refused
#define CUDA_CPU_NO_CALL(text) CUDA_CPU_ERROR(text) cuda_cpu::refused
#define CUDA_CPU_NO_VALUE(text) CUDA_CPU_ERROR(text) 0

namespace cuda_cpu {

/// Stands for a type or a result that is refused, so that the compiler says little more about it.
struct Refused {
  template <class T>
  operator T() const;
};
template <class... Arguments>
Refused refused(Arguments&&...) {
  return {};
}

}  // namespace cuda_cpu
