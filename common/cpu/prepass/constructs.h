// SPDX-License-Identifier: MIT
// Finds the places that the pre-pass rewrites: launches, kernels' returns, shared arrays, device
// variables.
#pragma once

#include "found.h"
#include "structure.h"

namespace prepass {

/// Throws SourceError.
Constructs find_constructs(const Structure& structure);

}  // namespace prepass
