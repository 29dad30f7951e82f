// SPDX-License-Identifier: MIT
// From places in the code to the learner's lines.
#pragma once

#include <string>
#include <vector>

#include "../engine/site.h"

namespace xray {

/// For each return address the line that the learner knows it by: the innermost inlined function
/// that stands in `file`, where the kernel is launched, else the innermost outside of the backend
/// and the system's headers. {"", 0} where it cannot be told.
std::vector<cuda_cpu::Site> sites_of(const std::vector<const void*>& return_addresses,
                                     const std::string& file);

}  // namespace xray
