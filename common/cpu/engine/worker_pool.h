// SPDX-License-Identifier: MIT
// The workers together run a grid.
#pragma once

#include "grid.h"

namespace cuda_cpu {

/// Runs every thread of the grid; returns when all are done. Returns 0, or the CUDA error code
/// after a bug: then the grid was abandoned and the report has been printed.
int run_grid(const GridLaunch& launch);

}  // namespace cuda_cpu
