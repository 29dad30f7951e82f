// SPDX-License-Identifier: MIT
// Error checking: a runtime call in this course stands in the first of the two macros below, and
// behind each launch stands the second; only destructors ask nothing. And what else all programs
// need: the backend, sizes, exit statuses.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

/// False on the CPU backend, where times say nothing about a GPU.
#ifdef __CUDA_CPU__
constexpr bool kOnGpu = false;
#else
constexpr bool kOnGpu = true;
#endif

/// 4_Ki = 4096, 16_Mi = 2^24, 1_Gi = 2^30.
constexpr std::size_t operator""_Ki(unsigned long long value) { return value << 10; }
constexpr std::size_t operator""_Mi(unsigned long long value) { return value << 20; }
constexpr std::size_t operator""_Gi(unsigned long long value) { return value << 30; }

/// How many pieces of `size` cover `count` things: division rounded up, safe near the type's limit.
constexpr std::size_t div_up(std::size_t count, std::size_t size) {
  return count / size + (count % size != 0);
}

/// Blocks that cover `count` elements, so many each. At least one: no grid is empty.
constexpr unsigned blocks_for(std::size_t count, std::size_t each) {
  return count == 0 ? 1 : static_cast<unsigned>(div_up(count, each));
}

/// The exit status of a program.
enum ExitStatus : int {
  kExitOk = 0,      ///< every version ran and was right
  kExitWrong = 1,   ///< a wrong result or a CUDA error
  kExitUsage = 2,   ///< the command line asks for something that cannot be
  kExitNoGpu = 77,  ///< a GPU build on a machine with no usable GPU
};

/// Prints the failure to stderr, below what was printed so far, and ends the program.
[[noreturn]] inline void end_program(const std::string& failure) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", failure.c_str());
  std::exit(kExitWrong);
}

/// Called when a CUDA call has failed. A lab's check puts a function here that throws instead, so
/// that its report can say at which size it happened.
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

/// Stands behind every launch, which returns nothing: it checks the last error, where a wrong
/// configuration is kept. An error while the kernel runs shows up at the next call that waits.
#define CUDA_CHECK_LAUNCH() check_cuda(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)
