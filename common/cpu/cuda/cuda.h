// SPDX-License-Identifier: MIT
// Stands in for <cuda.h>, the driver API: contexts, memory and streams. prepass/refused.h names
// what is missing.
#pragma once

#include "../libs/driver/driver_calls.h"
#include "../runtime/refused.h"

#define CUDA_VERSION 13000
