// SPDX-License-Identifier: MIT
// Streams, events and host functions.
#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "runtime_call.h"
#include "streams.h"

/// What a cudaEvent_t points to.
struct CUevent_st {
  unsigned flags = 0;
  std::shared_ptr<cuda_cpu::Moment> moment;  // of the latest cudaEventRecord
};

namespace cuda_cpu {
namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

struct Events {
  std::mutex mutex;
  std::set<CUevent_st*> live;
  std::vector<std::unique_ptr<CUevent_st>> created;  // a destroyed one stays, as a stream does
};

Events& events() {
  static Events* const e = new Events;
  return *e;
}

bool is_event(CUevent_st* event) {
  Events& all = events();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.live.count(event) != 0;
}

std::shared_ptr<Moment> moment_of(CUevent_st* event) {
  const std::lock_guard<std::mutex> lock(events().mutex);
  return event->moment;
}

}  // namespace

void forget_events() {
  Events& all = events();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.live.clear();
}

}  // namespace cuda_cpu

using cuda_cpu::finish;

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
  *stream = cuda_cpu::create_stream(
      flags, std::clamp(priority, cuda_cpu::kGreatestPriority, cuda_cpu::kLeastPriority));
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  CUDA_CPU_BEGIN_CALL();
  return finish(cuda_cpu::destroy_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  CUDA_CPU_BEGIN_CALL();
  return finish(cuda_cpu::run_stream(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  CUDA_CPU_BEGIN_CALL();
  CUstream_st* const stream = cuda_cpu::find_stream(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (cuda_cpu::stream_is_idle(stream)) return cudaSuccess;
  if (cuda_cpu::first_query_since_work(stream)) return finish(cudaErrorNotReady);
  return finish(cuda_cpu::run_stream(handle));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  CUDA_CPU_BEGIN_CALL();
  if (!cuda_cpu::is_event(event)) return finish(cudaErrorInvalidResourceHandle);
  if (flags != cudaEventWaitDefault) return finish(cudaErrorInvalidValue);
  if (cuda_cpu::find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  cuda_cpu::Work work;
  work.label.what = "cudaStreamWaitEvent";
  work.after = cuda_cpu::moment_of(event);
  if (work.after == nullptr) return cudaSuccess;  // never recorded: nothing to wait for
  return finish(cuda_cpu::submit(stream, std::move(work)));
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int* flags) {
  CUDA_CPU_BEGIN_CALL();
  const CUstream_st* const stream = cuda_cpu::find_stream(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (flags == nullptr) return finish(cudaErrorInvalidValue);
  *flags = stream->flags;
  return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  CUDA_CPU_BEGIN_CALL();
  const CUstream_st* const stream = cuda_cpu::find_stream(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (priority == nullptr) return finish(cudaErrorInvalidValue);
  *priority = stream->priority;
  return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  CUDA_CPU_BEGIN_CALL();
  const CUstream_st* const stream = cuda_cpu::find_stream(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (id == nullptr) return finish(cudaErrorInvalidValue);
  *id = stream->id;
  return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  CUDA_CPU_BEGIN_CALL();
  if (cuda_cpu::find_stream(handle) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (device == nullptr) return finish(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  CUDA_CPU_BEGIN_CALL();
  if (least != nullptr) *least = cuda_cpu::kLeastPriority;
  if (greatest != nullptr) *greatest = cuda_cpu::kGreatestPriority;
  return cudaSuccess;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* user_data, unsigned int flags) {
  CUDA_CPU_BEGIN_CALL();
  if (callback == nullptr || flags != 0) return finish(cudaErrorInvalidValue);
  cuda_cpu::Work work;
  work.label.what = "cudaStreamAddCallback";
  work.is_host_function = true;
  work.run = [=] {
    callback(stream, cudaSuccess, user_data);
    return 0;
  };
  return finish(cuda_cpu::submit(stream, std::move(work)));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  CUDA_CPU_BEGIN_CALL();
  if (function == nullptr) return finish(cudaErrorInvalidValue);
  cuda_cpu::Work work;
  work.label.what = "cudaLaunchHostFunc";
  work.is_host_function = true;
  work.run = [=] {
    function(user_data);
    return 0;
  };
  return finish(cuda_cpu::submit(stream, std::move(work)));
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  CUDA_CPU_BEGIN_CALL();
  const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;
  if (event == nullptr || (flags & ~(known | cudaEventInterprocess)) != 0) {
    return finish(cudaErrorInvalidValue);
  }
  if ((flags & cudaEventInterprocess) != 0) return finish(cudaErrorNotSupported);
  cuda_cpu::Events& all = cuda_cpu::events();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.created.push_back(std::make_unique<CUevent_st>());
  CUevent_st* const made = all.created.back().get();
  made->flags = flags;
  all.live.insert(made);
  *event = made;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  CUDA_CPU_BEGIN_CALL();
  cuda_cpu::Events& all = cuda_cpu::events();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (all.live.erase(event) == 0) return finish(cudaErrorInvalidResourceHandle);
  // What was recorded is shared with the queues.
  event->moment.reset();
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  if (flags != cudaEventRecordDefault) return finish(cudaErrorInvalidValue);
  return cudaEventRecord(event, stream);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  CUDA_CPU_BEGIN_CALL();
  if (!cuda_cpu::is_event(event)) return finish(cudaErrorInvalidResourceHandle);
  if (cuda_cpu::find_stream(stream) == nullptr) return finish(cudaErrorInvalidResourceHandle);
  auto moment = std::make_shared<cuda_cpu::Moment>();
  {
    const std::lock_guard<std::mutex> lock(cuda_cpu::events().mutex);
    event->moment = moment;
  }
  cuda_cpu::Work work;
  work.label.what = "cudaEventRecord";
  work.needs_device_memory = false;
  work.marks = std::move(moment);
  return finish(cuda_cpu::submit(stream, std::move(work)));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  CUDA_CPU_BEGIN_CALL();
  if (!cuda_cpu::is_event(event)) return finish(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<cuda_cpu::Moment> moment = cuda_cpu::moment_of(event);
  return finish(moment == nullptr ? 0 : cuda_cpu::run_until(*moment));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  CUDA_CPU_BEGIN_CALL();
  if (!cuda_cpu::is_event(event)) return finish(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<cuda_cpu::Moment> moment = cuda_cpu::moment_of(event);
  if (moment == nullptr || cuda_cpu::is_done(*moment)) return cudaSuccess;
  if (!moment->asked) {
    moment->asked = true;
    return finish(cudaErrorNotReady);
  }
  return finish(cuda_cpu::run_until(*moment));
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  CUDA_CPU_BEGIN_CALL();
  if (milliseconds == nullptr) return finish(cudaErrorInvalidValue);
  if (!cuda_cpu::is_event(start) || !cuda_cpu::is_event(end)) {
    return finish(cudaErrorInvalidResourceHandle);
  }
  const auto first = cuda_cpu::moment_of(start);
  const auto last = cuda_cpu::moment_of(end);
  if (((start->flags | end->flags) & cudaEventDisableTiming) != 0 || first == nullptr ||
      last == nullptr) {
    return finish(cudaErrorInvalidResourceHandle);
  }
  if (!cuda_cpu::is_done(*first) || !cuda_cpu::is_done(*last)) return finish(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(last->time - first->time).count();
  return cudaSuccess;
}
