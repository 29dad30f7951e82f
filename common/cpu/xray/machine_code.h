// SPDX-License-Identifier: MIT
// What nvcc made of a line, where it is installed: common/tools/measure/accesses.py reads the
// machine code and writes down what became of the accesses of each line. X-ray counts what the
// source says, and beside it what nvcc may make of that (ways.h); of these the machine code
// chooses.
#pragma once

#include <string>

#include "counted.h"

namespace xray {

/// Reads the table that accesses.py wrote; false if it cannot be read.
bool read_machine_code(const std::string& path);

/// Whether a table was read.
bool has_machine_code();

/// Makes the launch's counts those of the machine code, where that is known of its kernel.
/// `function`: the kernel's name with its template's arguments.
void take_over_machine_code(const std::string& function, Launch* launch);

}  // namespace xray
