// SPDX-License-Identifier: MIT
// From program addresses to the learner's lines.
#pragma once

#include <string>
#include <vector>

#include "../engine/site.h"

namespace cuda_cpu {

/// Source line of a program address; frames of the backend and of system headers are skipped. Empty
/// when it is not known.
std::string source_line_of(const void* pc);

/// The same as a Site that stays valid; file is nullptr when it is not known.
Site source_site_of(const void* pc);

/// The line of the first of several program addresses that lies in the learner's code. The
/// innermost frame comes first; all other addresses point after a call.
Site first_source_site(const void* const* pcs, int count);

/// For each return address all its lines in the source, the innermost inlined function first; the
/// backend and the system's headers are left out.
std::vector<std::vector<Site>> source_frames_of(const std::vector<const void*>& return_addresses);

}  // namespace cuda_cpu
