// SPDX-License-Identifier: MIT
// Turns CUDA's additions to C++ into calls of the CPU backend (launch.h, shared.h, memory.h).
#pragma once

#include <string>

#include "lexer.h"

namespace prepass {

/// The text that the C++ compiler reads instead of `file`. `path` is the file's name in messages.
/// Throws SourceError for a launch or a `__shared__` declaration that cannot be understood.
std::string rewrite(const LexedFile& file, const std::string& path);

}  // namespace prepass
