// SPDX-License-Identifier: MIT
// Functions that device code calls out of line: clocks, the worker's number, traps.
#include "device_functions.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "../report/diagnostics.h"
#include "../types/error_codes.h"
#include "current.h"
#include "settings.h"
#include "worker.h"

namespace cuda_cpu {

std::uint64_t global_timer_ns() {
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  return static_cast<std::uint64_t>(
      duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

unsigned sm_id() {
  // Workers are numbered in the order in which they first ask.
  static std::atomic<unsigned> next{0};
  static __thread unsigned mine = 0;  // plus one
  if (mine == 0) mine = next.fetch_add(1) % worker_count() + 1;
  return mine - 1;
}

void trap(const char* file, int line) {
  if (!in_kernel()) {
    std::fprintf(stderr, "%s:%d: __trap() called on the host\n", file, line);
    std::abort();
  }
  Report trapped;
  trapped.headline = "__trap() called";
  trapped.site = Site{file, line};
  trapped.where = where();
  trapped.cuda_error = cudaErrorLaunchFailure;
  abandon_grid(report(trapped));
}

}  // namespace cuda_cpu
