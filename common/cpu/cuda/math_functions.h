// SPDX-License-Identifier: MIT
// Stands in for <math_functions.h>: mathematical functions, which <cuda_runtime.h> brings along.
#pragma once

#include "cuda_runtime.h"
