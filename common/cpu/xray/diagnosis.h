// SPDX-License-Identifier: MIT
// Says in words why a line costs more than it must, and what to change.
#pragma once

#include <cstdint>
#include <string>

#include "counted.h"

namespace xray {

/// One sentence, or "" when there is nothing to gain. `heavy`: the access is a good part of what
/// the kernel does, so idle lanes are worth mentioning.
std::string diagnosis_of(const Access& access, bool heavy);

/// "32/4 sectors": what a request costs on average, and what would be enough.
std::string cost_of(const Access& access);

/// "1 sector", "2 sectors"
std::string many(std::uint64_t count, const char* noun, const char* plural = "s");

}  // namespace xray
