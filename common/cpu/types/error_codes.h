// SPDX-License-Identifier: MIT
// The error codes of the CUDA runtime. Names, numbers and texts stand in error_codes.inc.
#pragma once

/// Result of every runtime call.
enum cudaError {
#pragma push_macro("X")  // a program may have a macro of that name
#undef X
#define X(name, number, text) name = number,
#include "error_codes.inc"
#undef X
#pragma pop_macro("X")
};
using cudaError_t = cudaError;
