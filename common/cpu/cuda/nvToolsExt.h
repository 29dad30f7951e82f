// SPDX-License-Identifier: MIT
// Stands in for <nvToolsExt.h>, the name of NVTX up to CUDA 12.
#pragma once

#include "nvtx3/nvToolsExt.h"
