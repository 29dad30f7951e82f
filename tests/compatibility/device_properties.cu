// SPDX-License-Identifier: MIT
// FEATURE: host: properties and attributes of the device
#include "program.h"

int main() {
  int count = 0, warp = 0, version = 0;
  cudaDeviceProp properties;
  MUST(cudaGetDeviceCount(&count));
  MUST(cudaGetDeviceProperties(&properties, 0));
  MUST(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
  MUST(cudaRuntimeGetVersion(&version));
  return answer(count > 0 && warp == 32 && properties.warpSize == 32 && version >= 11000);
}
