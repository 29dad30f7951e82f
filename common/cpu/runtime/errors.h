// SPDX-License-Identifier: MIT
// Names and texts of errors, and the codes that runtime calls leave behind. Light, since programs
// include it.
#pragma once

#include "../types/error_codes.h"

namespace cuda_cpu {

/// The error that sticks to every later call, set by reports and failed kernels; 0 when none.
/// cudaDeviceReset clears it.
int sticky_error();
void set_sticky_error(int error);

/// Makes the error of a call what cudaGetLastError returns next on this thread (0 leaves it alone),
/// and passes it on.
cudaError_t finish(int error);

/// How many calls were explained in a report, without those whose thread has asked for its error
/// since: a program that asks has handled it.
int unhandled_misuses();

}  // namespace cuda_cpu

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
