// SPDX-License-Identifier: MIT
// Finds the learner's lines for places in the machine code. A place is the address of the code
// after a load, store or atomic.
#pragma once

#include <string>
#include <vector>

#include "../types/site.h"

namespace xray {

/// A line, and the piece of it that a place belongs to. A loop's line has several pieces: what
/// begins it, what ends each turn. Places of one piece are its copies, where the compiler made
/// some.
struct Piece {
  cuda_cpu::Site line;
  const char* name;
};

/// The learner's line for each place. Where functions are inlined, that is the innermost line in
/// `file`, in which the kernel is launched; if there is none, the innermost line outside of the
/// backend and the system's headers. {"", 0} where the line is not known.
std::vector<cuda_cpu::Site> lines_of(const std::vector<const void*>& places,
                                     const std::string& file);
/// The same with the pieces' names.
std::vector<Piece> pieces_of(const std::vector<const void*>& places, const std::string& file);

}  // namespace xray
