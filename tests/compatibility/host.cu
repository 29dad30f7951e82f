// SPDX-License-Identifier: MIT
// GROUP: host
#include "program.h"

// FEATURE: device_properties: properties and attributes of the device
int main() {
  int count = 0, warp = 0, version = 0;
  cudaDeviceProp properties;
  MUST(cudaGetDeviceCount(&count));
  MUST(cudaGetDeviceProperties(&properties, 0));
  MUST(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
  MUST(cudaRuntimeGetVersion(&version));
  return answer(count > 0 && warp == 32 && properties.warpSize == 32 && version >= 11000);
}

// FEATURE: errors: errors of calls and of kernels
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

// FEATURE: host_threads: several host threads
#include <thread>
#include <vector>

__global__ void show(int* x) { atomicAdd(x, 1); }

int main() {
  int* x = numbers();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([=] {
      show<<<1, 32, 0, cudaStreamPerThread>>>(x);
      MUST(cudaStreamSynchronize(cudaStreamPerThread));
    });
  }
  for (std::thread& thread : threads) thread.join();
  wait();
  return answer(*x == 128);
}
