// SPDX-License-Identifier: MIT
// Stands in for <cuda.h>: only the version number. The driver API is not supported on the CPU
// backend.
#pragma once

#define CUDA_VERSION 13000
