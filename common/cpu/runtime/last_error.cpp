// SPDX-License-Identifier: MIT
#include "last_error.h"

#include <atomic>

#include "../report/diagnostics.h"

namespace cuda_cpu {
namespace {

std::atomic<int> sticky{0};
std::atomic<int> unhandled{0};

// The error of this thread that cudaGetLastError returns, and how many errors came with a report.
thread_local int last_error = 0;
thread_local int explained = 0;

}  // namespace

int sticky_error() { return sticky.load(std::memory_order_relaxed); }

void set_sticky_error(int cuda_error) {
  int none = 0;
  if (cuda_error != 0) sticky.compare_exchange_strong(none, cuda_error);
}

int record_error(int cuda_error) {
  if (cuda_error != 0) last_error = cuda_error;
  return cuda_error;
}

int take_last_error() {
  const int stuck = sticky_error();
  const int error = stuck != 0 ? stuck : last_error;
  last_error = 0;
  unhandled -= explained;
  explained = 0;
  return error;
}

int peek_last_error() {
  const int stuck = sticky_error();
  return stuck != 0 ? stuck : last_error;
}

void count_misuse() {
  ++unhandled;
  ++explained;
}

int unhandled_misuses() { return unhandled; }

void forget_errors(bool status_too) {
  sticky = 0;
  last_error = 0;
  if (!status_too) return;
  unhandled = 0;
  explained = 0;
}

namespace {
__attribute__((constructor(101))) void listen_to_reports() {
  consequences.error_sticks = set_sticky_error;
  consequences.misuse_is_explained = count_misuse;
  consequences.all_is_forgotten = forget_errors;
}
}  // namespace

}  // namespace cuda_cpu
