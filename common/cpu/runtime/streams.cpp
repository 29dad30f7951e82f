// SPDX-License-Identifier: MIT
#include "streams.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "../engine/device_limits.h"
#include "../engine/memory.h"
#include "call.h"
#include "capture.h"
#include "work_queues.h"

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
  return get(
      stream, [](const CUstream_st&) { return 0; }, device);
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

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaStreamAttrID id,
                                   cudaStreamAttrValue* value) {
  CUDA_CPU_BEGIN_CALL();
  const CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  if (id == cudaLaunchAttributePriority) {
    value->priority = stream->priority;
  } else if (id == cudaLaunchAttributeAccessPolicyWindow) {
    value->accessPolicyWindow = stream->window;
  } else {
    return finish(cudaErrorInvalidValue);
  }
  return cudaSuccess;
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
