// SPDX-License-Identifier: MIT
// FEATURE: libraries: cuBLAS: `cublasSgemm`
// NVCC: -lcublas
#include <cublas_v2.h>

#include "program.h"

int main() {
  float *a = numbers<float>(), *b = numbers<float>(), *c = numbers<float>();
  for (int i = 0; i < 4; ++i) a[i] = b[i] = i + 1;
  cublasHandle_t handle;
  const float one = 1, zero = 0;
  MUST(cublasCreate(&handle));
  MUST(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2));
  wait();
  MUST(cublasDestroy(handle));
  return answer(c[0] == 7 && c[3] == 22);
}
