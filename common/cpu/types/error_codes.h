// SPDX-License-Identifier: MIT
// The error codes of the CUDA runtime. Names, numbers and texts stand in error_codes.inc.
#pragma once

/// Result of every runtime call.
enum cudaError {
#define X(name, number, text) name = number,
#include "error_codes.inc"
#undef X
};
using cudaError_t = cudaError;
