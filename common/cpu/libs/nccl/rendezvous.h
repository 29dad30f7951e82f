// SPDX-License-Identifier: MIT
// Ranks meet: what all of them have come to is checked and done, and what nobody comes to is
// reported.
#pragma once

#include "../../report/diagnostics.h"
#include "communicators.h"

namespace cuda_cpu {

/// A stream of the launch has come to it. Returns the error that sticks to the device, or 0.
int come_to(ncclComm* comm, const std::shared_ptr<NcclLaunch>& launch, const CUstream_st* stream);

/// Reports what went wrong with a communicator, which does nothing from now on. Where several
/// processes see it, one tells it at length.
int stop_clique(Clique* clique, ncclResult_t result, Report report);

/// A host thread has called for a rank.
void count_caller();

}  // namespace cuda_cpu
