// SPDX-License-Identifier: MIT
// FEATURE: memory: virtual memory by the driver API
// NVCC: -lcuda
#include <cuda.h>

#include "program.h"

int main() {
  MUST(cudaFree(nullptr));
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  size_t bytes = 0;
  MUST(cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUmemGenericAllocationHandle handle;
  CUdeviceptr address = 0;
  MUST(cuMemCreate(&handle, bytes, &properties, 0));
  MUST(cuMemAddressReserve(&address, bytes, 0, 0, 0));
  MUST(cuMemMap(address, bytes, 0, handle, 0));
  const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  MUST(cuMemSetAccess(address, bytes, &access, 1));
  MUST(cuMemsetD32(address, 9, bytes / 4));
  int x = 0;
  MUST(cuMemcpyDtoH(&x, address + bytes - 4, 4));
  return answer(x == 9);
}
