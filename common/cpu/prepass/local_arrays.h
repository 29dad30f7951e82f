// SPDX-License-Identifier: MIT
// Finds the arrays that device functions declare, and whether their indices are known when nvcc
// compiles: if all are, the elements can be registers.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "structure.h"

namespace prepass {

struct LocalArrayTokens {
  std::size_t name;
  /// Some index is not known; else the array is handed on, and others index it.
  bool has_unknown_index;
  /// Its type, where guards can stand around the array; else [kNone, kNone).
  std::size_t type = kNone, type_end = kNone;
};

/// By the `;` of the declaration. `bodies`: the device functions, from `{` to `}`. Arrays whose
/// indices are all known are left out, and those that are const or static.
std::map<std::size_t, std::vector<LocalArrayTokens>> find_local_arrays(
    const Structure& structure, const LexedFile& file,
    const std::vector<std::pair<std::size_t, std::size_t>>& bodies);

}  // namespace prepass
