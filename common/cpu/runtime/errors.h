// SPDX-License-Identifier: MIT
// Names and texts of errors, and the last error.
#pragma once

#include "../types/error_codes.h"
#include "last_error.h"

namespace cuda_cpu {

/// Records the error of a call for cudaGetLastError and passes it on.
inline cudaError_t finish(int error) { return static_cast<cudaError_t>(record_error(error)); }

}  // namespace cuda_cpu

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
