// SPDX-License-Identifier: MIT
// Writes the counts when a program that is built for X-ray ends.
#pragma once

namespace xray {

/// Does nothing. The hooks call it so that the linker takes report.cpp out of the library, whose
/// initialiser sees to the report.
void report_at_exit();

}  // namespace xray
