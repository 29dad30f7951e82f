// SPDX-License-Identifier: MIT
// Stands in for <device_launch_parameters.h>: threadIdx, blockIdx, blockDim, gridDim, warpSize.
#pragma once

#include "cuda_runtime.h"
