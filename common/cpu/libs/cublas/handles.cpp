// SPDX-License-Identifier: MIT
#include "handles.h"

#include <string>

#include "../../runtime/copies.h"
#include "../../runtime/errors.h"
#include "../../runtime/handles.h"
#include "../../runtime/streams.h"
#include "../../runtime/work_queues.h"
#include "operands.h"

namespace cuda_cpu {
namespace {

/// A vector is a matrix whose columns have one element.
cublasStatus_t transfer(const char* name, Site site, int rows, int columns, int element_size,
                        const void* from, int from_step, void* to, int to_step,
                        cudaMemcpyKind kind) {
  const int least = rows > 1 ? rows : 1;
  if (rows < 0 || columns < 0 || element_size <= 0 || from_step < least || to_step < least) {
    return refuse({name, site, nullptr}, CUBLAS_STATUS_INVALID_VALUE,
                  "a size is negative, or an increment or a leading dimension is too small");
  }
  const auto size = static_cast<std::size_t>(element_size);
  const cudaError_t error =
      copy_block(name, site, to, static_cast<std::size_t>(to_step) * size, from,
                 static_cast<std::size_t>(from_step) * size, static_cast<std::size_t>(rows) * size,
                 static_cast<std::size_t>(columns), kind, nullptr, false);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

}  // namespace

cublasStatus_t begin_cublas_call(const char* call, const CublasHandle& handle) {
  if (begin_call() != 0) return CUBLAS_STATUS_EXECUTION_FAILED;
  const bool is_known = handles<cublasContext>().has(handle.value);
  if (is_known && handle.value->live) return CUBLAS_STATUS_SUCCESS;
  const char* const what = handle.value == nullptr ? "the handle is a null pointer"
                           : is_known              ? "the handle was destroyed"
                                                   : "the handle comes from no cublasCreate";
  return refuse({call, handle.site, nullptr}, CUBLAS_STATUS_NOT_INITIALIZED, what,
                "make one with cublasCreate, and destroy it after its last use");
}

}  // namespace cuda_cpu

using namespace cuda_cpu;

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (begin_call() != 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasContext;
  handles<cublasContext>().add(*handle);
  return CUBLAS_STATUS_SUCCESS;
}

// The library frees device memory here, which waits for the device.
cublasStatus_t cublasDestroy(CublasHandle handle) {
  if (const auto status = begin_cublas_call("cublasDestroy", handle)) return status;
  handle.value->live = false;  // it stays, so that no other gets its address
  return run_all_streams() == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t cublasGetVersion(CublasHandle handle, int* version) {
  if (const auto status = begin_cublas_call("cublasGetVersion", handle)) return status;
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = 130000;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(CublasHandle handle, cudaStream_t stream) {
  if (const auto status = begin_cublas_call("cublasSetStream", handle)) return status;
  if (find_stream(stream) == nullptr) {
    return refuse({"cublasSetStream", handle.site, nullptr}, CUBLAS_STATUS_INVALID_VALUE,
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
    return refuse({"cublasSetMathMode", handle.site, nullptr}, CUBLAS_STATUS_INVALID_VALUE,
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

cublasStatus_t cublasSetVector(int n, int elem_size, const void* x, int incx, void* device_y,
                               int incy, Site site) {
  return transfer("cublasSetVector", site, 1, n, elem_size, x, incx, device_y, incy,
                  cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetVector(int n, int elem_size, const void* device_x, int incx, void* y,
                               int incy, Site site) {
  return transfer("cublasGetVector", site, 1, n, elem_size, device_x, incx, y, incy,
                  cudaMemcpyDeviceToHost);
}

cublasStatus_t cublasSetMatrix(int rows, int columns, int elem_size, const void* A, int lda,
                               void* device_B, int ldb, Site site) {
  return transfer("cublasSetMatrix", site, rows, columns, elem_size, A, lda, device_B, ldb,
                  cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetMatrix(int rows, int columns, int elem_size, const void* device_A, int lda,
                               void* B, int ldb, Site site) {
  return transfer("cublasGetMatrix", site, rows, columns, elem_size, device_A, lda, B, ldb,
                  cudaMemcpyDeviceToHost);
}
