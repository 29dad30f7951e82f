// SPDX-License-Identifier: MIT
// FEATURE: libraries: the driver API
// NVCC: -lcuda
#include <cuda.h>

#include "program.h"

int main() {
  MUST(cuInit(0));
  CUdevice device;
  CUcontext context;
  CUdeviceptr x;
  int number = 0;
  MUST(cuDeviceGet(&device, 0));
  MUST(cuDevicePrimaryCtxRetain(&context, device));
  MUST(cuCtxSetCurrent(context));
  MUST(cuMemAlloc(&x, 4));
  MUST(cuMemsetD32(x, 12, 1));
  MUST(cuMemcpyDtoH(&number, x, 4));
  return answer(number == 12);
}
