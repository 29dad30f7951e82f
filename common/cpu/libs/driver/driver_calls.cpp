// SPDX-License-Identifier: MIT
#include "driver_calls.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "../../engine/memory/memory.h"
#include "../../report/diagnostics.h"
#include "../../runtime/allocation.h"
#include "../../runtime/contexts.h"
#include "../../runtime/copies.h"
#include "../../runtime/device.h"
#include "../../runtime/errors.h"
#include "../../runtime/streams.h"
#include "../../runtime/work_queues.h"
#include "contexts.h"

namespace cuda_cpu {
namespace {

CUresult result(int error) { return static_cast<CUresult>(error); }

int wrong(Site site, CUresult error, const std::string& headline, const std::string& help = "",
          std::vector<Report::Note> notes = {}) {
  return misuse(site, error, headline, {}, std::move(notes), help);
}

std::vector<Report::Note> end_of(const CUctx_st& context) {
  return {{context.created, "created here"}, {context.destroyed, "destroyed here"}};
}

/// What every call begins with that needs no context: the error that it returns, or 0.
int begin(const char* call, Site site) {
  const int error = begin_query();
  if (error != 0 || is_initialised()) return error;
  return wrong(site, CUDA_ERROR_NOT_INITIALIZED, format("%s before cuInit", call),
               "the first call of the driver API is cuInit(0)");
}

/// And what one begins with that works in the current context.
int begin_in_context(const char* call, Site site) {
  if (const int error = begin(call, site)) return error;
  const CUctx_st* const top = top_context();
  if (top == nullptr) {
    return wrong(site, CUDA_ERROR_INVALID_CONTEXT,
                 format("%s: no context is current in this host thread", call),
                 "each host thread has its own: cuCtxPushCurrent or cuCtxSetCurrent makes one "
                 "current");
  }
  if (top->is_destroyed) {
    return wrong(site, CUDA_ERROR_CONTEXT_IS_DESTROYED,
                 format("%s: the current context was destroyed", call), "", end_of(*top));
  }
  if (top->is_primary && !primary_is_active(top->device)) {
    return wrong(site, CUDA_ERROR_CONTEXT_IS_DESTROYED,
                 format("%s: the primary context is current, and nobody retains it", call),
                 "cuDevicePrimaryCtxRetain before it is used");
  }
  return 0;
}

/// The same for a call about a device.
int begin_of_device(const char* call, CUdevice device, Site site) {
  if (const int error = begin(call, site)) return error;
  return is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// Explains a handle that cannot be made current or be destroyed.
int check_context(const char* call, CUctx_st* handle, Site site) {
  const CUctx_st* const context = find_context(handle);
  if (context == nullptr) {
    return wrong(site, CUDA_ERROR_INVALID_CONTEXT, format("%s of what is no context", call));
  }
  if (!context->is_destroyed) return 0;
  return wrong(site, CUDA_ERROR_INVALID_CONTEXT, format("%s of a destroyed context", call),
               "no error is promised for a handle that is gone: an H200 made one current",
               end_of(*context));
}

/// Makes a call of the runtime on behalf of the driver API, in the current context.
template <class Call>
CUresult in_context(const char* name, Site site, Call call) {
  if (const int error = begin_in_context(name, site)) return result(error);
  const DriverCall scope;
  return result(call());
}

void* as_pointer(CUdeviceptr pointer) { return reinterpret_cast<void*>(pointer); }

const char* name_of(CUresult error) {
  switch (error) {
#define X(name, number) \
  case name:            \
    return #name;
#include "driver_results.inc"
#undef X
  }
  return nullptr;
}

}  // namespace
}  // namespace cuda_cpu

using namespace cuda_cpu;

CUresult cuInit(unsigned int flags) {
  if (const int error = begin_query()) return result(error);
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  initialise();
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (error != CUDA_SUCCESS) forget_explained();
  *name = name_of(error);
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (error != CUDA_SUCCESS) forget_explained();
  const bool is_known = name_of(error) != nullptr;
  *text = is_known ? cudaGetErrorString(static_cast<cudaError_t>(error)) : nullptr;
  return is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int* count, Site site) {
  if (const int error = begin("cuDeviceGetCount", site)) return result(error);
  const DriverCall scope;
  return result(cudaGetDeviceCount(count));
}

CUresult cuDeviceGet(CUdevice* device, int ordinal, Site site) {
  if (const int error = begin_of_device("cuDeviceGet", ordinal, site)) return result(error);
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device, Site site) {
  if (const int error = begin_of_device("cuDeviceGetName", device, site)) return result(error);
  if (name == nullptr || length < 1) return CUDA_ERROR_INVALID_VALUE;
  const DriverCall scope;
  cudaDeviceProp properties;
  const int error = cudaGetDeviceProperties(&properties, device);
  std::strncpy(name, properties.name, static_cast<std::size_t>(length) - 1);
  name[length - 1] = '\0';
  return result(error);
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device,
                              Site site) {
  if (const int error = begin_of_device("cuDeviceGetAttribute", device, site)) return result(error);
  const DriverCall scope;
  return result(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device, Site site) {
  if (const int error = begin_of_device("cuDevicePrimaryCtxRetain", device, site)) {
    return result(error);
  }
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  retain_primary(device);
  *context = primary_context(device);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device, Site site) {
  if (const int error = begin_of_device("cuDevicePrimaryCtxRelease", device, site)) {
    return result(error);
  }
  if (release_primary(device, site)) return CUDA_SUCCESS;
  return result(wrong(site, CUDA_ERROR_INVALID_CONTEXT,
                      "cuDevicePrimaryCtxRelease more often than cuDevicePrimaryCtxRetain",
                      "one release for each retain"));
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active, Site site) {
  if (const int error = begin_of_device("cuDevicePrimaryCtxGetState", device, site)) {
    return result(error);
  }
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = primary_context(device)->flags;
  *active = primary_is_active(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device, Site site) {
  if (const int error = begin_of_device("cuDevicePrimaryCtxReset", device, site)) {
    return result(error);
  }
  reset_primary(device, site);
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags,
                     CUdevice device, Site site) {
  if (const int error = begin_of_device("cuCtxCreate", device, site)) return result(error);
  const unsigned known = CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST;
  if (context == nullptr || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (parameters != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  *context = create_context(device, flags, site);
  push_context(*context);
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext* context, unsigned int flags, CUdevice device, Site site) {
  return cuCtxCreate(context, nullptr, flags, device, site);
}

CUresult cuCtxDestroy(CUcontext context, Site site) {
  if (const int error = begin("cuCtxDestroy", site)) return result(error);
  if (const int error = check_context("cuCtxDestroy", context, site)) return result(error);
  if (context->is_primary) {
    return result(wrong(site, CUDA_ERROR_INVALID_CONTEXT, "cuCtxDestroy of the primary context",
                        "it has other users: give it back with cuDevicePrimaryCtxRelease"));
  }
  destroy_context(context, site);
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context, Site site) {
  if (const int error = begin("cuCtxPushCurrent", site)) return result(error);
  if (const int error = check_context("cuCtxPushCurrent", context, site)) return result(error);
  push_context(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* context, Site site) {
  if (const int error = begin("cuCtxPopCurrent", site)) return result(error);
  if (top_context() == nullptr) {
    return result(wrong(site, CUDA_ERROR_INVALID_CONTEXT,
                        "cuCtxPopCurrent: the stack of this host thread is empty",
                        "one pop for each push or create; cuCtxDestroy of the current context pops "
                        "it"));
  }
  if (context != nullptr) *context = top_context();
  pop_context();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context, Site site) {
  if (const int error = begin("cuCtxSetCurrent", site)) return result(error);
  if (context != nullptr) {
    if (const int error = check_context("cuCtxSetCurrent", context, site)) return result(error);
  }
  if (top_context() != nullptr) pop_context();
  if (context != nullptr) push_context(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context, Site site) {
  if (const int error = begin("cuCtxGetCurrent", site)) return result(error);
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = top_context();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device, Site site) {
  if (const int error = begin_in_context("cuCtxGetDevice", site)) return result(error);
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = top_context()->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(Site site) {
  return in_context("cuCtxSynchronize", site, [] { return cudaDeviceSynchronize(); });
}

CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes, Site site) {
  return in_context("cuMemAlloc", site, [&]() -> int {
    if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    void* memory = nullptr;
    const int error = malloc_device(&memory, bytes, request_for<void>(site), "cuMemAlloc");
    *pointer = reinterpret_cast<CUdeviceptr>(memory);
    return error;
  });
}

CUresult cuMemFree(CUdeviceptr pointer, Site site) {
  return in_context("cuMemFree", site, [&] {
    return free_memory("cuMemFree", {as_pointer(pointer), site});
  });
}

CUresult cuMemcpyHtoD(CUdeviceptr destination, const void* source, size_t bytes, Site site) {
  return in_context("cuMemcpyHtoD", site, [&] {
    return copy_row("cuMemcpyHtoD", site, as_pointer(destination), source, bytes,
                    cudaMemcpyHostToDevice, nullptr, false);
  });
}

CUresult cuMemcpyDtoH(void* destination, CUdeviceptr source, size_t bytes, Site site) {
  return in_context("cuMemcpyDtoH", site, [&] {
    return copy_row("cuMemcpyDtoH", site, destination, as_pointer(source), bytes,
                    cudaMemcpyDeviceToHost, nullptr, false);
  });
}

CUresult cuMemGetInfo(size_t* free, size_t* total, Site site) {
  return in_context("cuMemGetInfo", site, [&] { return cudaMemGetInfo(free, total); });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer,
                               Site site) {
  if (const int error = begin("cuPointerGetAttribute", site)) return result(error);
  MemoryRange range;
  const bool is_known = find_live_range(as_pointer(pointer), &range) && range.context != nullptr;
  if (data == nullptr || attribute != CU_POINTER_ATTRIBUTE_CONTEXT || !is_known) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *static_cast<CUcontext*>(data) = range.context;
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned int flags, Site site) {
  return in_context("cuStreamCreate", site,
                    [&] { return cudaStreamCreateWithFlags(stream, flags); });
}

CUresult cuStreamSynchronize(CUstream stream, Site site) {
  return in_context("cuStreamSynchronize", site, [&] { return cudaStreamSynchronize(stream); });
}

CUresult cuStreamDestroy(CUstream stream, Site site) {
  return in_context("cuStreamDestroy", site, [&] { return cudaStreamDestroy(stream); });
}
