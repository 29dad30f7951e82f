// SPDX-License-Identifier: MIT
#include "errors.h"

#include <atomic>

#include "../engine/diagnosis/faults.h"
#include "../engine/state/current.h"
#include "../engine/state/leaving.h"
#include "../report/diagnostics.h"
#include "contexts.h"

namespace cuda_cpu {
namespace {

std::atomic<int> sticky{0};
std::atomic<int> unhandled{0};

// The error of this thread that cudaGetLastError returns, and how many errors came with a report.
thread_local int last_error = 0;
thread_local int explained = 0;

/// After cudaDeviceReset it is still known that errors came with a report.
void forget_errors(bool status_too) {
  sticky = 0;
  last_error = 0;
  if (!status_too) return;
  unhandled = 0;
  explained = 0;
}

__attribute__((constructor(101))) void listen_to_reports() {
  consequences.error_sticks = set_sticky_error;
  consequences.misuse_is_explained = [] {
    ++unhandled;
    ++explained;
  };
  consequences.all_is_forgotten = forget_errors;
}

struct ErrorText {
  const char* name;
  const char* text;
};

ErrorText error_text(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define X(name, number, text) \
  case number:                \
    return {#name, text};
#include "../types/error_codes.inc"
#undef X
    default:
      return {"unrecognized error code", "unrecognized error code"};
  }
}

}  // namespace

int sticky_error() { return sticky.load(std::memory_order_relaxed); }

void set_sticky_error(int error) {
  int none = 0;
  if (error != 0) sticky.compare_exchange_strong(none, error);
}

cudaError_t finish(int error) {
  if (error != 0 && !in_driver_call) last_error = error;
  return static_cast<cudaError_t>(error);
}

int unhandled_misuses() { return unhandled; }

int begin_call() {
  if (const int error = begin_query()) return error;
  return context_rules.enter();
}

int begin_query() {
  if (in_kernel()) {
    stop_grid(report_here("runtime call from device code", {}, cudaErrorNotPermitted, {},
                          "only host code may call the CUDA runtime"));
  }
  prepare_thread_for_faults();
  if (running_host_function) return cudaErrorNotPermitted;
  return sticky_error();
}

void forget_explained() {
  unhandled -= explained;
  explained = 0;
}

}  // namespace cuda_cpu

const char* cudaGetErrorName(cudaError_t error) { return cuda_cpu::error_text(error).name; }

const char* cudaGetErrorString(cudaError_t error) { return cuda_cpu::error_text(error).text; }

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  cuda_cpu::last_error = 0;
  cuda_cpu::forget_explained();
  return error;
}

cudaError_t cudaPeekAtLastError() {
  const int stuck = cuda_cpu::sticky_error();
  return static_cast<cudaError_t>(stuck != 0 ? stuck : cuda_cpu::last_error);
}
