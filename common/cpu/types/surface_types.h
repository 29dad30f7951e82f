// SPDX-License-Identifier: MIT
// Surface objects and what an access outside of one does, with the names and numbers of CUDA 13.0.
#pragma once

using cudaSurfaceObject_t = unsigned long long;

enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero = 0,
  cudaBoundaryModeClamp = 1,
  cudaBoundaryModeTrap = 2
};
