// SPDX-License-Identifier: MIT
// From program addresses to the learner's lines.
#pragma once

#include <string>
#include <vector>

#include "../types/site.h"

namespace cuda_cpu {

/// Source line of a program address; frames of the backend and of system headers are skipped. It
/// stays valid; file is nullptr when it is not known.
Site source_site_of(const void* pc);

/// The line of the first of several program addresses that lies in the learner's code. The
/// innermost frame comes first; all other addresses point after a call.
Site first_source_site(const void* const* pcs, int count);

// A place in the machine code is the address of what comes after a load, store or atomic.

/// A line, and the piece of it that a place belongs to. A loop's line has several pieces: what
/// begins it, what ends each turn. Places of one piece are its copies, where the compiler made
/// some.
struct Piece {
  Site line;
  const char* name;
};

/// The learner's line for a place. Where functions are inlined, that is the innermost line in
/// `file`, in which the kernel is launched; if there is none, the innermost line outside of the
/// backend and the system's headers. {"", 0} where the line is not known.
Piece piece_of(const void* place, const std::string& file);

/// Reads the debug information for all these places at once; piece_of() then knows them.
void look_up(const std::vector<const void*>& places);

}  // namespace cuda_cpu
