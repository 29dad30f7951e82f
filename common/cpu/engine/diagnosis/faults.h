// SPDX-License-Identifier: MIT
// Bugs that trap on the CPU: accesses outside an allocation, host code that touches device memory,
// a stack that overflows, an integer division by zero. And copies that may fault.
#pragma once

#include <cstddef>

#include "../state/worker.h"

namespace cuda_cpu {

/// Prints the report for a fault at `where`, returns the CUDA error code.
int report_kernel_fault(const Fault& fault, const Where& where);

/// Gives the calling OS thread an alternate signal stack and (once) installs the handlers. Every
/// worker calls it first.
void prepare_thread_for_faults();

/// Installs the handlers again, since test frameworks and others install their own.
void claim_signals();

/// memmove and memset. They return false when they touch memory that is not there, with its
/// address.
bool guarded_copy(void* destination, const void* source, std::size_t bytes, const void** fault);
bool guarded_fill(void* destination, int value, std::size_t bytes, const void** fault);

}  // namespace cuda_cpu
