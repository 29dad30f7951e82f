// SPDX-License-Identifier: MIT
// From places in the machine code to the learner's lines. A place is the address of the code behind
// a load, store or atomic.
#pragma once

#include <string>
#include <vector>

#include "../engine/site.h"

namespace xray {

/// For each place the line that the learner knows it by. Where functions are inlined, that is the
/// innermost line in `file`, in which the kernel is launched; if there is none, the innermost line
/// outside of the backend and the system's headers. {"", 0} where the line is not known.
std::vector<cuda_cpu::Site> lines_of(const std::vector<const void*>& places,
                                     const std::string& file);

}  // namespace xray
