// SPDX-License-Identifier: MIT
// Stands in for <cuda.h>: only the version number. The driver API is not supported on the CPU
// backend: prepass/refused.h says so of its names.
#pragma once

#include "../runtime/refused.h"

#define CUDA_VERSION 13000
