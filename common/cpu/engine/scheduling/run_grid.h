// SPDX-License-Identifier: MIT
// Workers together run a grid, each whole blocks of it.
#pragma once

#include "../state/grid.h"

namespace cuda_cpu {

/// Runs every thread of the grid, with as many workers as the settings allow; returns when all are
/// done. Returns 0, or the CUDA error code after a bug: then the grid was abandoned and the report
/// has been printed.
int run_grid(const GridLaunch& launch);

}  // namespace cuda_cpu
