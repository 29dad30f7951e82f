// SPDX-License-Identifier: MIT
// GROUP: kernels
#include "program.h"

// FEATURE: clusters: clusters of blocks, and the shared memory of another block
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) show(int* out) {
  __shared__ int mine;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = cluster.block_rank() + 10;
  cluster.sync();
  const int* const other = cluster.map_shared_rank(&mine, 1 - cluster.block_rank());
  if (threadIdx.x == 0) out[blockIdx.x] = *other;
  cluster.sync();
}

int main() {
  int* out = numbers();
  show<<<2, 32>>>(out);
  wait();
  return answer(out[0] == 11 && out[1] == 10);
}

// FEATURE: dependent_launch: programmatic dependent launch
__global__ void show(int* out) {
  cudaGridDependencySynchronize();
  out[threadIdx.x] = threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[31] == 31);
}

// FEATURE: dynamic_parallelism: kernels that launch kernels
// NVCC: -rdc=true -lcudadevrt
__global__ void child(int* out) { out[threadIdx.x] = threadIdx.x + 1; }
__global__ void show(int* out) {
  if (threadIdx.x == 0) child<<<1, 32>>>(out);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[31] == 32);
}

// FEATURE: extended_lambdas: `__device__` lambdas as arguments
// NVCC: --extended-lambda
template <class F>
__global__ void show(int* out, F f) {
  out[threadIdx.x] = f(threadIdx.x);
}

int main() {
  int* out = numbers();
  const int offset = 7;
  show<<<1, 32>>>(out, [offset] __device__(int i) { return i + offset; });
  wait();
  return answer(out[31] == 38);
}

// FEATURE: grid_constant: `__grid_constant__` parameters
struct Many {
  int x[64];
};

__global__ void show(int* out, const __grid_constant__ Many many) {
  const int* const x = many.x;
  out[threadIdx.x] = x[threadIdx.x];
}

int main() {
  int* out = numbers();
  Many many{};
  many.x[5] = 6;
  show<<<1, 32>>>(out, many);
  wait();
  return answer(out[5] == 6);
}

// FEATURE: launch_attributes: `cudaLaunchKernelEx` with attributes
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

// FEATURE: launch_bounds: `__launch_bounds__`
__global__ void __launch_bounds__(128, 2) show(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
  int* out = numbers();
  show<<<1, 128>>>(out);
  wait();
  return answer(out[127] == 127);
}

// FEATURE: launch_by_address: `cudaLaunchKernel`
__global__ void show(int* out, int add) { out[threadIdx.x] = threadIdx.x + add; }

int main() {
  int *out = numbers(), add = 4;
  void* arguments[] = {&out, &add};
  MUST(cudaLaunchKernel((void*)show, dim3(1), dim3(32), arguments, 0, nullptr));
  wait();
  return answer(out[31] == 35);
}

// FEATURE: occupancy: the occupancy API
__global__ void show(int* out) { out[threadIdx.x] = 1; }

int main() {
  int blocks = 0, grid = 0, block = 0;
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, show, 256, 0));
  MUST(cudaOccupancyMaxPotentialBlockSize(&grid, &block, show));
  cudaFuncAttributes attributes;
  MUST(cudaFuncGetAttributes(&attributes, show));
  return answer(blocks > 0 && grid > 0 && block > 0 && attributes.maxThreadsPerBlock > 0);
}

// FEATURE: templates: templates of kernels
template <class T, int kFactor>
__global__ void show(T* out) {
  out[threadIdx.x] = kFactor * threadIdx.x;
}

int main() {
  int* out = numbers();
  show<int, 3><<<1, 32>>>(out);
  wait();
  return answer(out[31] == 93);
}

// FEATURE: variadic_templates: kernels with any number of arguments
template <class... T>
__global__ void show(int* out, T... x) {
  out[threadIdx.x] = (x + ... + 0);
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out, 1, 2L, short{3});
  wait();
  return answer(out[31] == 6);
}
