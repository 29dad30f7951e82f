// SPDX-License-Identifier: MIT
// Stands in for <cuda_pipeline.h>. Of it the CPU backend has the functions of C; the class of
// namespace nvcuda::experimental has become cuda::pipeline.
#pragma once

#include "cuda_pipeline_primitives.h"
