// SPDX-License-Identifier: MIT
// Lines of the learner's source, and kernels with the line of their launch.
#pragma once

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

}  // namespace cuda_cpu
