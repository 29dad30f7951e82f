// SPDX-License-Identifier: MIT
#include "transfers.h"

#include "../../runtime/copies.h"
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
}  // namespace cuda_cpu

cublasStatus_t cublasSetVector(int n, int elem_size, const void* x, int incx, void* device_y,
                               int incy, cuda_cpu::Site site) {
  return cuda_cpu::transfer("cublasSetVector", site, 1, n, elem_size, x, incx, device_y, incy,
                            cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetVector(int n, int elem_size, const void* device_x, int incx, void* y,
                               int incy, cuda_cpu::Site site) {
  return cuda_cpu::transfer("cublasGetVector", site, 1, n, elem_size, device_x, incx, y, incy,
                            cudaMemcpyDeviceToHost);
}

cublasStatus_t cublasSetMatrix(int rows, int columns, int elem_size, const void* A, int lda,
                               void* device_B, int ldb, cuda_cpu::Site site) {
  return cuda_cpu::transfer("cublasSetMatrix", site, rows, columns, elem_size, A, lda, device_B,
                            ldb, cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetMatrix(int rows, int columns, int elem_size, const void* device_A, int lda,
                               void* B, int ldb, cuda_cpu::Site site) {
  return cuda_cpu::transfer("cublasGetMatrix", site, rows, columns, elem_size, device_A, lda, B,
                            ldb, cudaMemcpyDeviceToHost);
}
