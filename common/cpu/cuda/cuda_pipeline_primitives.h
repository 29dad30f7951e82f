// SPDX-License-Identifier: MIT
// Stands in for <cuda_pipeline_primitives.h>: asynchronous copies from global to shared memory, as
// functions of C.
#pragma once

#include "../engine/meeting/async_copies.h"
