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

#if defined(CUDA_CPU_TSAN)

// Which blocks have executed a fence: a CUDA atomic orders nothing by itself, so only behind a
// fence may it count as a release. One worker under TSan, so plain variables do; a collision of two
// blocks that are resident together only hides a missing fence.
static std::uint32_t fenced_blocks[4096];

void fence_was_executed() {
  if (current_block != nullptr) {
    fenced_blocks[current_block->serial % 4096] = current_block->serial;
  }
}

bool block_has_fenced() {
  return current_block == nullptr ||
         fenced_blocks[current_block->serial % 4096] == current_block->serial;
}

#else

void fence_was_executed() {}

#endif

}  // namespace cuda_cpu
