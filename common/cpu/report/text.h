// SPDX-License-Identifier: MIT
// Writes numbers, indices and masks as reports show them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../types/vector_types.h"

namespace cuda_cpu {

/// printf into a string.
std::string format(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// "(1,2,3)"
std::string to_text(uint3 v);

/// "0x0000ffff"
std::string mask_text(std::uint32_t mask);

/// "0-31, 64" from linear indices.
std::string ranges_text(const std::vector<unsigned>& sorted_indices);

/// A copy of `text` that stays valid for the process; equal texts share one.
const char* intern(const std::string& text);

}  // namespace cuda_cpu
