// SPDX-License-Identifier: MIT
// FEATURE: host: errors of calls and of kernels
#include "program.h"

__global__ void show(int* x) { *x = 1; }

int main() {
  int* x = numbers();
  show<<<1, 2000>>>(x);
  // Documented is InvalidConfiguration; CUDA 13.0 with an H200 says InvalidValue.
  const cudaError_t launch = cudaGetLastError();
  const cudaError_t copy = cudaMemcpy(x, x, 4, static_cast<cudaMemcpyKind>(9));
  cudaGetLastError();
  const bool clear = cudaPeekAtLastError() == cudaSuccess;
  show<<<1, 1>>>(nullptr);
  const cudaError_t kernel = cudaDeviceSynchronize();
  std::_Exit(answer((launch == cudaErrorInvalidConfiguration || launch == cudaErrorInvalidValue) &&
                    copy == cudaErrorInvalidMemcpyDirection && clear &&
                    kernel == cudaErrorIllegalAddress));
}
