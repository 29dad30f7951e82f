// SPDX-License-Identifier: MIT
// Stands in for <cuda_pipeline.h>. The CPU backend has its C functions only; the class of namespace
// nvcuda::experimental has become cuda::pipeline.
#pragma once

#include "cuda_pipeline_primitives.h"
