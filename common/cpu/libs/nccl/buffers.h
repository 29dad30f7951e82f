// SPDX-License-Identifier: MIT
// Whether the device of a rank reaches what a call reads and writes.
#pragma once

#include "../../report/diagnostics.h"
#include "communicators.h"

namespace cuda_cpu {

/// Why an operation cannot be made; without a headline where all is well.
Report fault_of(const ncclComm& comm, const NcclOperation& operation);

}  // namespace cuda_cpu
