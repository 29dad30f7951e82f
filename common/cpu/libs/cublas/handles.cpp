// SPDX-License-Identifier: MIT
#include "handles.h"

#include <mutex>
#include <set>

#include "../../runtime/call.h"
#include "../../runtime/streams.h"
#include "../../runtime/work_queues.h"
#include "operands.h"

namespace cuda_cpu {
namespace {

struct Handles {
  std::mutex mutex;
  // A destroyed one stays allocated, so that no other gets its address.
  std::set<const cublasContext*> live, destroyed;
};

Handles& handles() {
  static Handles* const all = new Handles;
  return *all;
}

/// The name and the text of a status; the texts are what the library of CUDA 13.0 prints.
struct StatusText {
  cublasStatus_t status;
  const char *name, *text;
};

constexpr StatusText kStatusTexts[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the function requires an architectural feature absent from the device"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
     "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the function failed to launch on the GPU"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the requested functionality is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "the license check failed"},
};

constexpr StatusText kUnknownStatus = {CUBLAS_STATUS_SUCCESS, "unrecognized status",
                                       "unrecognized status"};

const StatusText& text_of(cublasStatus_t status) {
  for (const StatusText& known : kStatusTexts) {
    if (known.status == status) return known;
  }
  return kUnknownStatus;
}

}  // namespace

cublasStatus_t begin_cublas_call(const char* call, const CublasHandle& handle) {
  if (begin_call() != 0) return CUBLAS_STATUS_EXECUTION_FAILED;
  Handles& all = handles();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (all.live.count(handle.value) != 0) return CUBLAS_STATUS_SUCCESS;
  const char* const what = handle.value == nullptr ? "the handle is a null pointer"
                           : all.destroyed.count(handle.value) != 0
                               ? "the handle was destroyed"
                               : "the handle comes from no cublasCreate";
  return refuse({call, handle.site, nullptr}, CUBLAS_STATUS_NOT_INITIALIZED, what,
                "make one with cublasCreate, and destroy it after its last use");
}

}  // namespace cuda_cpu

using cuda_cpu::begin_cublas_call;
using cuda_cpu::CublasHandle;

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (cuda_cpu::begin_call() != 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasContext;
  cuda_cpu::Handles& all = cuda_cpu::handles();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.live.insert(*handle);
  return CUBLAS_STATUS_SUCCESS;
}

// The library frees device memory here, which waits for the device.
cublasStatus_t cublasDestroy(CublasHandle handle) {
  if (const auto status = begin_cublas_call("cublasDestroy", handle)) return status;
  {
    cuda_cpu::Handles& all = cuda_cpu::handles();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.live.erase(handle.value);
    all.destroyed.insert(handle.value);
  }
  return cuda_cpu::run_all_streams() == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t cublasGetVersion(CublasHandle handle, int* version) {
  if (const auto status = begin_cublas_call("cublasGetVersion", handle)) return status;
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = 130000;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(CublasHandle handle, cudaStream_t stream) {
  if (const auto status = begin_cublas_call("cublasSetStream", handle)) return status;
  if (cuda_cpu::find_stream(stream) == nullptr) {
    return cuda_cpu::refuse({"cublasSetStream", handle.site, nullptr}, CUBLAS_STATUS_INVALID_VALUE,
                            "there is no such stream");
  }
  handle.value->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream(CublasHandle handle, cudaStream_t* stream) {
  if (const auto status = begin_cublas_call("cublasGetStream", handle)) return status;
  if (stream == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *stream = handle.value->stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode(CublasHandle handle, cublasPointerMode_t mode) {
  if (const auto status = begin_cublas_call("cublasSetPointerMode", handle)) return status;
  if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  handle.value->pointers = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetPointerMode(CublasHandle handle, cublasPointerMode_t* mode) {
  if (const auto status = begin_cublas_call("cublasGetPointerMode", handle)) return status;
  if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle.value->pointers;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(CublasHandle handle, cublasMath_t mode) {
  if (const auto status = begin_cublas_call("cublasSetMathMode", handle)) return status;
  const int kind = mode & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  if (kind < CUBLAS_DEFAULT_MATH || kind > CUBLAS_TF32_TENSOR_OP_MATH) {
    return cuda_cpu::refuse({"cublasSetMathMode", handle.site, nullptr},
                            CUBLAS_STATUS_INVALID_VALUE,
                            "math mode " + std::to_string(mode) + " is not supported",
                            "there are CUBLAS_DEFAULT_MATH, CUBLAS_PEDANTIC_MATH, "
                            "CUBLAS_TF32_TENSOR_OP_MATH and CUBLAS_TENSOR_OP_MATH");
  }
  handle.value->math = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(CublasHandle handle, cublasMath_t* mode) {
  if (const auto status = begin_cublas_call("cublasGetMathMode", handle)) return status;
  if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle.value->math;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) { return cuda_cpu::text_of(status).name; }

const char* cublasGetStatusString(cublasStatus_t status) { return cuda_cpu::text_of(status).text; }
