// SPDX-License-Identifier: MIT
// Stands in for <device_atomic_functions.h>: atomic functions, which <cuda_runtime.h> brings along.
#pragma once

#include "cuda_runtime.h"
