// SPDX-License-Identifier: MIT
#include "streams.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "../engine/memory/memory.h"
#include "../engine/state/device_limits.h"
#include "capture.h"
#include "contexts.h"
#include "errors.h"
#include "handles.h"
#include "work_queues.h"

/// A cudaEvent_t points to this.
struct CUevent_st {
  unsigned flags;
  int device;                                // that was current when it was created
  std::shared_ptr<cuda_cpu::Moment> moment;  // of the latest cudaEventRecord
};

namespace cuda_cpu {
namespace {

/// Reads one property of a stream for the program: a member, or what a function says of the stream.
template <class Property, class T>
cudaError_t get(cudaStream_t handle, Property property, T* value) {
  CUDA_CPU_BEGIN_CALL();
  const CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  *value = std::invoke(property, *stream);
  return cudaSuccess;
}

}  // namespace

bool is_event(CUevent_st* event) { return handles<CUevent_st>().has(event); }

std::shared_ptr<Moment> moment_of(CUevent_st* event) { return std::atomic_load(&event->moment); }

std::shared_ptr<Moment> record_moment(CUevent_st* event) {
  auto moment = std::make_shared<Moment>();
  std::atomic_store(&event->moment, moment);
  return moment;
}

void forget_events(int device) {
  handles<CUevent_st>().remove_if([=](const CUevent_st* event) { return event->device == device; });
}

}  // namespace cuda_cpu

using namespace cuda_cpu;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  CUDA_CPU_BEGIN_CALL();
  if (stream == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) {
    return finish(cudaErrorInvalidValue);
  }
  *stream =
      create_stream(flags, std::clamp(priority, kGreatestStreamPriority, kLeastStreamPriority));
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  CUDA_CPU_BEGIN_CALL();
  if (is_captured(stream)) return finish(capture_rules.never_of(stream, "cudaStreamDestroy"));
  return finish(destroy_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  CUDA_CPU_BEGIN_CALL();
  if (const int error = capture_rules.never_of(stream, "cudaStreamSynchronize")) {
    return finish(error);
  }
  return finish(run_stream(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  CUDA_CPU_BEGIN_CALL();
  CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (const int error = capture_rules.never_of(stream, "cudaStreamQuery")) return finish(error);
  return finish(query_stream(stream));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return get(stream, &CUstream_st::flags, flags);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return get(stream, &CUstream_st::priority, priority);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return get(stream, &CUstream_st::id, id);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return get(stream, &CUstream_st::device, device);
}

cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaStreamAttrID id,
                                   const cudaStreamAttrValue* value) {
  CUDA_CPU_BEGIN_CALL();
  CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  if (id == cudaLaunchAttributePriority) {
    stream->priority = std::clamp(value->priority, kGreatestStreamPriority, kLeastStreamPriority);
  } else if (id == cudaLaunchAttributeAccessPolicyWindow) {
    stream->window = value->accessPolicyWindow;
  } else {
    return finish(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   cudaStreamAttrValue* value) {
  if (value != nullptr && id == cudaLaunchAttributePriority) {
    return get(stream, &CUstream_st::priority, &value->priority);
  }
  const bool is_window = value != nullptr && id == cudaLaunchAttributeAccessPolicyWindow;
  return get(stream, &CUstream_st::window, is_window ? &value->accessPolicyWindow : nullptr);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t,
                                     unsigned int flags) {
  CUDA_CPU_BEGIN_CALL();
  if (find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  MemoryRange range;
  const bool is_managed = find_live_range(pointer, &range) && range.space == Space::kManaged;
  const bool is_one =
      flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
  return finish(is_managed && is_one ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  CUDA_CPU_BEGIN_CALL();
  if (least != nullptr) *least = kLeastStreamPriority;
  if (greatest != nullptr) *greatest = kGreatestStreamPriority;
  return cudaSuccess;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* user_data, unsigned int flags) {
  CUDA_CPU_BEGIN_CALL();
  if (callback == nullptr || flags != 0) return finish(cudaErrorInvalidValue);
  Work work;
  work.label.call = "cudaStreamAddCallback";
  work.is_host_function = true;
  work.run = [=] {
    callback(stream, cudaSuccess, user_data);
    return 0;
  };
  return finish(submit(stream, std::move(work)));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  CUDA_CPU_BEGIN_CALL();
  if (function == nullptr) return finish(cudaErrorInvalidValue);
  Work work;
  work.label.call = "cudaLaunchHostFunc";
  work.kind = WorkKind::kHostFunction;
  work.is_host_function = true;
  work.run = [=] {
    function(user_data);
    return 0;
  };
  return finish(submit(stream, std::move(work)));
}

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
  *event = new CUevent_st{flags, current_device(),
                          nullptr};  // for ever: a destroyed one stays, as a stream does
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

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  CUDA_CPU_BEGIN_CALL();
  if (!is_event(event)) return finish(cudaErrorInvalidResourceHandle);
  CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr || stream->device != event->device) {
    return finish(cudaErrorInvalidResourceHandle);
  }
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
      last == nullptr || start->device != end->device) {
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
