// SPDX-License-Identifier: MIT
// Error checking. Every runtime call and every launch in this course is wrapped in one of these.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

/// What a chapter's exit status says.
enum ExitStatus : int {
  kExitOk = 0,      ///< every version ran and was right
  kExitWrong = 1,   ///< a wrong result or a CUDA error
  kExitUsage = 2,   ///< the command line asks for something that cannot be
  kExitNoGpu = 77,  ///< a GPU build on a machine with no usable GPU
};

/// Prints "file:line: call failed: name: message" to stderr and exits with kExitWrong, unless
/// `status` is cudaSuccess. Called through the macros below, which fill in the rest.
inline void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  std::fflush(stdout);  // so that the rows printed so far stand above the message
  std::fprintf(stderr, "%s:%d: %s failed: %s: %s\n", file, line, call, cudaGetErrorName(status),
               cudaGetErrorString(status));
  std::exit(kExitWrong);
}

/// Wraps a runtime call: evaluates it once, and ends the program with one clear line if it failed.
#define CUDA_CHECK(call) check_cuda((call), #call, __FILE__, __LINE__)

/// Stands behind every launch. A launch returns nothing; what was wrong with its configuration is
/// kept as the last error. What goes wrong while the kernel runs shows up at the next call that
/// waits.
#define CUDA_CHECK_LAUNCH() check_cuda(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)
