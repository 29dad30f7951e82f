// SPDX-License-Identifier: MIT
// FEATURE: libraries: cuBLAS in a graph
// NVCC: -lcublas
#include <cublas_v2.h>

#include "program.h"

int main() {
  float *x = numbers<float>(), *y = numbers<float>();
  x[0] = 2;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cublasHandle_t handle;
  const float three = 3;
  MUST(cudaStreamCreate(&stream));
  MUST(cublasCreate(&handle));
  MUST(cublasSetStream(handle, stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cublasSaxpy(handle, 1, &three, x, 1, y, 1));
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaStreamSynchronize(stream));
  return answer(y[0] == 12);
}
