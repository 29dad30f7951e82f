// SPDX-License-Identifier: MIT
// Places in the learner's source.
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
