// SPDX-License-Identifier: MIT
#include "events.h"

#include <chrono>
#include <utility>

#include "call.h"
#include "capture.h"
#include "handles.h"
#include "work_queues.h"

/// A cudaEvent_t points to this.
struct CUevent_st {
  unsigned flags;
  std::shared_ptr<cuda_cpu::Moment> moment;  // of the latest cudaEventRecord
};

namespace cuda_cpu {

bool is_event(CUevent_st* event) { return handles<CUevent_st>().has(event); }

std::shared_ptr<Moment> moment_of(CUevent_st* event) { return std::atomic_load(&event->moment); }

std::shared_ptr<Moment> record_moment(CUevent_st* event) {
  auto moment = std::make_shared<Moment>();
  std::atomic_store(&event->moment, moment);
  return moment;
}

void forget_events() { handles<CUevent_st>().clear(); }

}  // namespace cuda_cpu

using namespace cuda_cpu;

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  CUDA_CPU_BEGIN_CALL();
  const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (event == nullptr || (flags & ~known) != 0) return finish(cudaErrorInvalidValue);
  if ((flags & cudaEventInterprocess) != 0) return finish(cudaErrorNotSupported);
  *event = new CUevent_st{flags, nullptr};  // for ever: a destroyed one stays, as a stream does
  handles<CUevent_st>().add(*event);
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  CUDA_CPU_BEGIN_CALL();
  if (!handles<CUevent_st>().remove(event)) return finish(cudaErrorInvalidResourceHandle);
  // The queues share the moment that was recorded.
  std::atomic_store(&event->moment, std::shared_ptr<Moment>());
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  if (flags != cudaEventRecordDefault) return finish(cudaErrorInvalidValue);
  return cudaEventRecord(event, stream);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_event(event)) return finish(cudaErrorInvalidResourceHandle);
  if (find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  Work work;
  work.label.call = "cudaEventRecord";
  work.marks = record_moment(event);
  return finish(submit(stream, std::move(work)));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_event(event)) return finish(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<Moment> moment = moment_of(event);
  if (const int error = capture_rules.event(moment.get(), "cudaEventSynchronize")) {
    return finish(error);
  }
  return finish(moment == nullptr ? 0 : run_until(*moment));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_event(event)) return finish(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<Moment> moment = moment_of(event);
  if (const int error = capture_rules.event(moment.get(), "cudaEventQuery")) return finish(error);
  if (moment == nullptr || is_done(*moment)) return cudaSuccess;
  if (std::exchange(moment->asked, true)) return finish(run_until(*moment));
  return finish(cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  CUDA_CPU_BEGIN_CALL();
  if (milliseconds == nullptr) return finish(cudaErrorInvalidValue);
  if (!is_event(start) || !is_event(end)) return finish(cudaErrorInvalidResourceHandle);
  const auto first = moment_of(start);
  const auto last = moment_of(end);
  if (((start->flags | end->flags) & cudaEventDisableTiming) != 0 || first == nullptr ||
      last == nullptr) {
    return finish(cudaErrorInvalidResourceHandle);
  }
  if (first->capture != nullptr || last->capture != nullptr) return finish(cudaErrorCapturedEvent);
  if (!is_done(*first) || !is_done(*last)) return finish(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(last->time - first->time).count();
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_event(event)) return finish(cudaErrorInvalidResourceHandle);
  if (flags != cudaEventWaitDefault) return finish(cudaErrorInvalidValue);
  if (find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  Work work;
  work.label.call = "cudaStreamWaitEvent";
  work.after = moment_of(event);
  if (work.after == nullptr) return cudaSuccess;  // never recorded: nothing to wait for
  return finish(submit(stream, std::move(work)));
}
