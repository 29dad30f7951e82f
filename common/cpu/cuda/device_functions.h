// SPDX-License-Identifier: MIT
// Stands in for <device_functions.h>: intrinsics, which <cuda_runtime.h> brings along.
#pragma once

#include "cuda_runtime.h"
