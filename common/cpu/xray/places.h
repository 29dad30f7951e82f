// SPDX-License-Identifier: MIT
// Finds the learner's lines for places in the machine code. A place is the address of the code
// after a load, store or atomic.
#pragma once

#include <string>
#include <vector>

#include "../engine/site.h"

namespace xray {

/// The learner's line for each place. Where functions are inlined, that is the innermost line in
/// `file`, in which the kernel is launched; if there is none, the innermost line outside of the
/// backend and the system's headers. {"", 0} where the line is not known.
std::vector<cuda_cpu::Site> lines_of(const std::vector<const void*>& places,
                                     const std::string& file);

}  // namespace xray
