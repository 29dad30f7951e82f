// SPDX-License-Identifier: MIT
// Error checking. Every runtime call and every launch in this course is wrapped in one of these.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>

/// The exit status of a chapter's program.
enum ExitStatus : int {
  kExitOk = 0,      ///< every version ran and was right
  kExitWrong = 1,   ///< a wrong result or a CUDA error
  kExitUsage = 2,   ///< the command line asks for something that cannot be
  kExitNoGpu = 77,  ///< a GPU build on a machine with no usable GPU
};

/// Prints the failure to stderr and ends the program with kExitWrong.
[[noreturn]] inline void end_program(const std::string& failure) {
  std::fflush(stdout);  // so that the rows printed so far stand above the message
  std::fprintf(stderr, "%s\n", failure.c_str());
  std::exit(kExitWrong);
}

/// Called when a CUDA call has failed. A chapter's program ends. A lab's check puts a function here
/// that throws, so that its report can say at which size it happened.
inline void (*on_cuda_failure)(const std::string& failure) = end_program;

/// Hands "file:line: call failed: name: message" to on_cuda_failure, unless `status` is
/// cudaSuccess. Called through the macros below, which fill in the rest.
inline void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  on_cuda_failure(std::string(file) + ":" + std::to_string(line) + ": " + call +
                  " failed: " + cudaGetErrorName(status) + ": " + cudaGetErrorString(status));
}

/// Wraps a runtime call: evaluates it once, and ends the program with one clear line if it failed.
#define CUDA_CHECK(call) check_cuda((call), #call, __FILE__, __LINE__)

/// Stands behind every launch. A launch returns nothing: an error in its configuration is kept as
/// the last error, which this macro checks. An error while the kernel runs shows up at the next
/// call that waits.
#define CUDA_CHECK_LAUNCH() check_cuda(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)
