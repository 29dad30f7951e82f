// SPDX-License-Identifier: MIT
// In words: why a line costs more than it must, and what to change.
#pragma once

#include <cstdint>
#include <string>

#include "../xray.h"

namespace xray {

/// What an access costs beyond its ideal: sectors, wavefronts, words after the first, lanes that
/// wait for others at one address. All are turns that the memory system takes one after the other.
std::uint64_t waste_of(const Access& access);

/// One sentence, or "" when there is nothing to gain. `heavy`: the access is a good part of what
/// the kernel does, so that idle lanes are worth a word.
std::string diagnosis_of(const Access& access, bool heavy);

/// "32.0/4.0 sectors": what a request costs and what would do.
std::string cost_of(const Access& access);

/// "global", "shared", "const", "host"
const char* name_of(Space space);

/// "load", "store", "atomic"
const char* name_of(Operation operation);

}  // namespace xray
