// SPDX-License-Identifier: MIT
// Every function of the runtime API begins and ends with these. Not for programs.
#pragma once

#include <string>
#include <vector>

#include "../report/diagnostics.h"
#include "../types/site.h"
#include "errors.h"

namespace cuda_cpu {

/// The error that a call returns before it looks at its arguments: the sticky error of an earlier
/// failure, or "not permitted" inside a host function. Ends the grid when device code makes the
/// call.
int begin_call();

/// Reports in plain words what is wrong with a call, at its line, and returns `error` for the
/// caller.
int explain_misuse(Site site, int error, const std::string& headline,
                   std::vector<std::string> details = {}, std::vector<Report::Note> notes = {},
                   const std::string& help = "");

}  // namespace cuda_cpu

/// First statement of a runtime function.
#define CUDA_CPU_BEGIN_CALL()                                                                 \
  do {                                                                                        \
    if (const int begin_error = cuda_cpu::begin_call()) return cuda_cpu::finish(begin_error); \
  } while (false)
