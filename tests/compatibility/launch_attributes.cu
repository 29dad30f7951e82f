// SPDX-License-Identifier: MIT
// FEATURE: kernels: `cudaLaunchKernelEx` with attributes
#include "program.h"

__global__ void show(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
  int* out = numbers();
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  MUST(cudaLaunchKernelEx(&config, show, out));
  wait();
  return answer(out[31] == 31);
}
