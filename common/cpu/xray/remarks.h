// SPDX-License-Identifier: MIT
// Says where nvcc probably makes something else of a line than X-ray counts, which counts the
// source.
#pragma once

#include <string>
#include <vector>

#include "counts.h"

namespace xray {

/// One sentence, or "". `lines`: of the access's file, the first at index 1; none if it is not
/// known.
std::string remark_of(const Access& access, const std::vector<std::string>& lines);

}  // namespace xray
