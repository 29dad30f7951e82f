// SPDX-License-Identifier: MIT
// What device code calls out of line: clocks, the worker's number, traps, failed assertions.
#include "device_functions.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "diagnostics.h"
#include "runtime_types.h"
#include "state.h"

namespace cuda_cpu {

std::uint64_t global_timer_ns() {
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  return static_cast<std::uint64_t>(
      duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

unsigned sm_id() {
  // Numbered as the workers first ask.
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

void assertion_failed(const char* expression, const char* file, int line, const char* function) {
  if (!in_kernel()) {
    std::fprintf(stderr, "%s:%d: %s: Assertion `%s' failed.\n", file, line, function, expression);
    std::abort();
  }
  Report failed;
  failed.headline = std::string("assertion '") + expression + "' failed";
  failed.site = Site{file, line};
  failed.where = where();
  failed.cuda_error = cudaErrorAssert;
  abandon_grid(report(failed));
}

}  // namespace cuda_cpu
