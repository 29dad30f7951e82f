// SPDX-License-Identifier: MIT
// How nvcc changes a line from what the source says, which is what X-ray counts. Where nvcc is
// installed, common/tools/measure/accesses.py reads the machine code and writes down what became of
// the accesses of each line, and X-ray uses that. Elsewhere the listing says what nvcc may do.
#pragma once

#include <string>
#include <vector>

#include "counts.h"

namespace xray {

/// One sentence, or "". `lines`: of the access's file, the first at index 1; none if it is not
/// known.
std::string remark_of(const Access& access, const std::vector<std::string>& lines);

/// Reads the table that accesses.py wrote; false if it cannot be read.
bool read_machine_code(const std::string& path);

/// Makes the launch's counts those of the machine code, where that is known of its kernel.
/// `function`: the kernel's name with its template's arguments.
void take_over_machine_code(const std::string& function, Launch* launch);

}  // namespace xray
