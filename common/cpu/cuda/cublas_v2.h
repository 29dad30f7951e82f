// SPDX-License-Identifier: MIT
// Stands in for <cublas_v2.h> on the CPU backend: the part of cuBLAS that most programs use, for
// float and double, with the toolkit's names, arguments and statuses. What is not declared in these
// headers is not supported; using it is a compile error, never a call that does nothing.
#pragma once

#define CUBLAS_V2_H_
#define CUBLAS_API_H_

#include "../libs/cublas/handles.h"
#include "../libs/cublas/products.h"
#include "../libs/cublas/vectors.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime_api.h"
