// SPDX-License-Identifier: MIT
// The workers together run a grid.
#pragma once

#include "grid.h"

namespace cuda_cpu {

/// Runs every thread of the grid; returns when all are done. On a diagnosed bug the grid is
/// abandoned (the report has been printed) and the CUDA error code is returned as int; 0 is
/// success.
int run_grid(const GridLaunch& launch);

}  // namespace cuda_cpu
