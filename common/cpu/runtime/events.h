// SPDX-License-Identifier: MIT
// Events, and streams that wait for them.
#pragma once

#include <memory>

#include "types.h"

namespace cuda_cpu {

struct Moment;

bool is_event(CUevent_st* event);

/// Of the latest record; nullptr before the first.
std::shared_ptr<Moment> moment_of(CUevent_st* event);

/// A record of the event: what is to mark it.
std::shared_ptr<Moment> record_moment(CUevent_st* event);

/// Ends every event that the program created (cudaDeviceReset).
void forget_events();

}  // namespace cuda_cpu

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                     unsigned int flags = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
