// SPDX-License-Identifier: MIT
// The error codes that runtime calls leave behind. Light, since programs include it.
#pragma once

namespace cuda_cpu {

/// The error that sticks to every later call, set by reports and failed kernels; 0 when none.
/// cudaDeviceReset clears it.
int sticky_error();
void set_sticky_error(int cuda_error);

/// Makes `cuda_error` what cudaGetLastError returns next on this thread (0 leaves it alone).
/// Returns it.
int record_error(int cuda_error);

/// The errors that cudaGetLastError and cudaPeekAtLastError return.
int take_last_error();
int peek_last_error();

/// Notes that a call of this thread was explained in a report. A program that asks for its error
/// has handled it.
void count_misuse();
int unhandled_misuses();

/// Forgets all of it; after cudaDeviceReset not that errors came with a report.
void forget_errors(bool status_too);

}  // namespace cuda_cpu
