// SPDX-License-Identifier: MIT
// From program addresses to the learner's lines.
#pragma once

#include <string>
#include <vector>

#include "../types/site.h"

namespace cuda_cpu {

/// Source line of a program address; frames of the backend and of system headers are skipped. Empty
/// when it is not known.
std::string source_line_of(const void* pc);

/// The same as a Site that stays valid; file is nullptr when it is not known.
Site source_site_of(const void* pc);

/// The line of the first of several program addresses that lies in the learner's code. The
/// innermost frame comes first; all other addresses point after a call.
Site first_source_site(const void* const* pcs, int count);

/// Where a program address stands in the source.
struct SourceFrames {
  std::vector<Site>
      lines;  ///< innermost inlined function first, without backend and system headers
  /// The innermost of all, as the debugger's tool names it: of several pieces of code that begin
  /// in one line each has a name of its own.
  std::string piece;
};

std::vector<SourceFrames> source_frames_of(const std::vector<const void*>& return_addresses);

}  // namespace cuda_cpu
