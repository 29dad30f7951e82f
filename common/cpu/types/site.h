// SPDX-License-Identifier: MIT
// Lines of the learner's source, kernels with the line of their launch, and threads of them.
#pragma once

#include "vector_types.h"

/// The last parameters of a function of device code: the line of the program that calls it. And the
/// last one of a function of the host.
#define CUDA_CPU_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define CUDA_CPU_SITE cuda_cpu::Site site = cuda_cpu::here()

namespace cuda_cpu {

/// A line of the learner's source.
struct Site {
  const char* file;
  int line;
};

/// As a default argument: the line of the call.
constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return {file, line};
}

/// An argument together with the line of the call. Unlike a defaulted last argument, it keeps the
/// function usable as a deleter: std::unique_ptr<float, decltype(&cudaFree)>.
template <class T>
struct Located {
  T value;
  Site site;
  Located(T v, Site from = here()) : value(v), site(from) {}
};

/// A kernel as a launch names it: the text of the expression, and where the launch stands.
struct LaunchedKernel {
  const char* name;
  const char* file;
  int line;
};

/// Where a CUDA thread is. `inside` is false on the host.
struct Where {
  bool inside;
  LaunchedKernel kernel;
  dim3 grid, block_dim;
  uint3 block, thread;
};

}  // namespace cuda_cpu
