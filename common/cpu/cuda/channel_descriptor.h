// SPDX-License-Identifier: MIT
// Stands in for <channel_descriptor.h>: cudaCreateChannelDesc, which <cuda_runtime.h> brings along.
#pragma once

#include "cuda_runtime.h"
