// SPDX-License-Identifier: MIT
// The function that the C library's assert() calls when it fails. On the host the program aborts as
// always. In a kernel the failure is reported with block and thread, and sets cudaErrorAssert.
// <assert.h> stays the library's own; the linker finds our function before the library's.
#include <assert.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "../types/error_codes.h"
#include "current.h"
#include "worker.h"

namespace cuda_cpu {
namespace {

[[noreturn]] void report_failed_assertion(const char* expression, const char* file, int line,
                                          const char* function) {
  if (!in_kernel()) {
    std::fprintf(stderr, "%s:%d: %s: Assertion `%s' failed.\n", file, line, function, expression);
    std::abort();
  }
  stop_grid(report_here(std::string("assertion '") + expression + "' failed", {file, line},
                        cudaErrorAssert));
}

}  // namespace
}  // namespace cuda_cpu

#if defined(__APPLE__)
extern "C" void __assert_rtn(const char* function, const char* file, int line,
                             const char* expression) {
  cuda_cpu::report_failed_assertion(expression, file, line, function);
}
#elif defined(__GLIBC__)
extern "C" void __assert_fail(const char* expression, const char* file, unsigned line,
                              const char* function) noexcept {
  cuda_cpu::report_failed_assertion(expression, file, static_cast<int>(line), function);
}
#else  // musl
extern "C" void __assert_fail(const char* expression, const char* file, int line,
                              const char* function) {
  cuda_cpu::report_failed_assertion(expression, file, line, function);
}
#endif
