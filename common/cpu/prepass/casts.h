// SPDX-License-Identifier: MIT
// Finds casts to pointers: the place where a pointer can become misaligned.
#pragma once

#include <cstddef>

#include "structure.h"

namespace prepass {

/// The last token of the cast that begins at token i: `reinterpret_cast<T>(e)`,
/// `static_cast<T*>(e)` or `(T*)e`. kNone when none begins there.
std::size_t end_of_cast(const Structure& structure, std::size_t i);

}  // namespace prepass
