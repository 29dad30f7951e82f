// SPDX-License-Identifier: MIT
// Lines of the learner's source, kernels with the line of their launch, and threads of them.
#pragma once

#include "vector_types.h"

namespace cuda_cpu {

/// A line of the learner's source.
struct Site {
  const char* file;
  int line;
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
  unsigned linear_thread, lane, warp;
};

}  // namespace cuda_cpu
