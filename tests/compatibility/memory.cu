// SPDX-License-Identifier: MIT
// GROUP: memory
#include "program.h"

// FEATURE: constant_memory: `__constant__` memory
__constant__ int table[32];
__global__ void show(int* out) { out[threadIdx.x] = table[31 - threadIdx.x]; }

int main() {
  int* out = numbers();
  int h_table[32];
  for (int i = 0; i < 32; ++i) h_table[i] = i;
  MUST(cudaMemcpyToSymbol(table, h_table, sizeof(h_table)));
  show<<<1, 32>>>(out);
  wait();
  return answer(out[0] == 31);
}

// FEATURE: copies_3d: 3D memory and copies
int main() {
  int in[2][3][4], out[2][3][4] = {};
  for (int i = 0; i < 24; ++i) in[i / 12][i / 4 % 3][i % 4] = i;
  cudaPitchedPtr memory;
  const cudaExtent extent = make_cudaExtent(4 * sizeof(int), 3, 2);
  MUST(cudaMalloc3D(&memory, extent));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(in, 16, 16, 3);
  copy.dstPtr = memory;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  MUST(cudaMemcpy3D(&copy));
  copy.srcPtr = memory;
  copy.dstPtr = make_cudaPitchedPtr(out, 16, 16, 3);
  copy.kind = cudaMemcpyDeviceToHost;
  MUST(cudaMemcpy3D(&copy));
  return answer(out[1][2][3] == 23);
}

// FEATURE: device_variables: `__device__` variables and symbols
__device__ int factor = 3;
__global__ void show(int* out) { out[threadIdx.x] = factor * threadIdx.x; }

int main() {
  int* out = numbers();
  const int five = 5;
  MUST(cudaMemcpyToSymbol(factor, &five, sizeof(int)));
  show<<<1, 32>>>(out);
  wait();
  return answer(out[3] == 15);
}

// FEATURE: ipc: memory of another process (IPC)
int main() {
  int* x = nullptr;
  cudaIpcMemHandle_t handle;
  MUST(cudaMalloc(&x, 4));
  MUST(cudaIpcGetMemHandle(&handle, x));
  return answer(true);
}

// FEATURE: managed_memory: managed memory, prefetched and advised
__global__ void show(int* x) { x[threadIdx.x] += threadIdx.x; }

int main() {
  int* x = numbers();
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0};
  MUST(cudaMemAdvise(x, 4096, cudaMemAdviseSetPreferredLocation, device));
  MUST(cudaMemPrefetchAsync(x, 4096, device, 0, nullptr));
  show<<<1, 32>>>(x);
  wait();
  return answer(x[31] == 31);
}

// FEATURE: managed_variables: `__managed__` variables
__managed__ int counter = 1;
__global__ void show() { counter += 4; }

int main() {
  show<<<1, 1>>>();
  wait();
  return answer(counter == 5);
}

// FEATURE: mapped_memory: pinned and mapped host memory
__global__ void show(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
  int *x = nullptr, *d_x = nullptr;
  MUST(cudaHostAlloc(&x, 32 * sizeof(int), cudaHostAllocMapped));
  MUST(cudaHostGetDevicePointer(&d_x, x, 0));
  show<<<1, 32>>>(d_x);
  wait();
  return answer(x[31] == 31);
}

// FEATURE: memory_pools: `cudaMallocAsync` and memory pools
__global__ void show(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
  int *x = nullptr, h_x[32];
  cudaMemPool_t pool;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  MUST(cudaMemPoolCreate(&pool, &properties));
  MUST(cudaMallocFromPoolAsync(&x, sizeof(h_x), pool, nullptr));
  show<<<1, 32>>>(x);
  MUST(cudaMemcpyAsync(h_x, x, sizeof(h_x), cudaMemcpyDeviceToHost));
  MUST(cudaFreeAsync(x, nullptr));
  wait();
  MUST(cudaMemPoolDestroy(pool));
  return answer(h_x[31] == 31);
}

// FEATURE: peer_access: copies between devices, by `cudaMemcpyPeer`
int main() {
  int *a = nullptr, *b = nullptr, x = 7, y = 0;
  MUST(cudaMalloc(&a, 4));
  MUST(cudaMalloc(&b, 4));
  MUST(cudaMemcpy(a, &x, 4, cudaMemcpyHostToDevice));
  MUST(cudaMemcpyPeer(b, 0, a, 0, 4));
  MUST(cudaMemcpy(&y, b, 4, cudaMemcpyDeviceToHost));
  return answer(y == 7);
}

// FEATURE: pitched_memory: pitched memory and 2D copies
int main() {
  int *x = nullptr, in[3][5], out[3][5] = {};
  size_t pitch = 0;
  for (int i = 0; i < 15; ++i) in[i / 5][i % 5] = i;
  MUST(cudaMallocPitch(&x, &pitch, 5 * sizeof(int), 3));
  MUST(cudaMemcpy2D(x, pitch, in, 20, 20, 3, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy2D(out, 20, x, pitch, 20, 3, cudaMemcpyDeviceToHost));
  MUST(cudaFree(x));
  return answer(pitch >= 20 && out[2][4] == 14);
}

// FEATURE: pointer_attributes: `cudaPointerGetAttributes`
int main() {
  int* x = nullptr;
  cudaPointerAttributes attributes{};
  MUST(cudaMalloc(&x, 4));
  MUST(cudaPointerGetAttributes(&attributes, x));
  return answer(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
}

// FEATURE: registered_memory: `cudaHostRegister`
__global__ void show(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
  int x[64] = {}, *d_x = nullptr;
  MUST(cudaHostRegister(x, sizeof(x), cudaHostRegisterMapped));
  MUST(cudaHostGetDevicePointer(&d_x, x, 0));
  show<<<1, 32>>>(d_x);
  wait();
  MUST(cudaHostUnregister(x));
  return answer(x[31] == 31);
}

// FEATURE: shared_memory: shared memory, of fixed and of dynamic size
extern __shared__ int dynamic[];
__global__ void show(int* out) {
  __shared__ int fixed[32];
  fixed[threadIdx.x] = threadIdx.x;
  dynamic[threadIdx.x] = 100;
  __syncthreads();
  out[threadIdx.x] = fixed[31 - threadIdx.x] + dynamic[31 - threadIdx.x];
}

int main() {
  int* out = numbers();
  show<<<1, 32, 32 * sizeof(int)>>>(out);
  wait();
  return answer(out[0] == 131);
}

// FEATURE: shared_opt_in: more than 48 KiB of shared memory
extern __shared__ int dynamic[];
__global__ void show(int* out) {
  dynamic[16384 + threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = dynamic[16384 + threadIdx.x];
}

int main() {
  int* out = numbers();
  MUST(cudaFuncSetAttribute(show, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 * 1024));
  show<<<1, 32, 96 * 1024>>>(out);
  wait();
  return answer(out[31] == 31);
}

// FEATURE: virtual_memory: virtual memory by the driver API
// NVCC: -lcuda
#include <cuda.h>

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
