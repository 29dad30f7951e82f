// SPDX-License-Identifier: MIT
// Names and texts of errors, and with what every function of the runtime API begins and ends.
// Light, since programs include it.
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

/// The error that a call returns before it looks at its arguments: the sticky error of an earlier
/// failure, or "not permitted" inside a host function. Ends the grid when device code makes the
/// call.
int begin_call();

/// The same for a call that asks something and needs no context.
int begin_query();

/// The program asks for the error of a call that was explained, and so has handled it.
void forget_explained();

/// While the driver API makes its calls of the runtime's, which leave alone what cudaGetLastError
/// returns.
inline thread_local bool in_driver_call = false;

/// While the calling thread runs a cudaLaunchHostFunc function, which may not call the runtime.
inline thread_local bool running_host_function = false;

}  // namespace cuda_cpu

/// First statement of a runtime function; and of one that needs no context.
#define CUDA_CPU_BEGIN_CALL() CUDA_CPU_BEGIN(begin_call)
#define CUDA_CPU_BEGIN_QUERY() CUDA_CPU_BEGIN(begin_query)
#define CUDA_CPU_BEGIN(begin)                                                            \
  do {                                                                                   \
    if (const int begin_error = cuda_cpu::begin()) return cuda_cpu::finish(begin_error); \
  } while (false)

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
