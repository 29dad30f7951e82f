// SPDX-License-Identifier: MIT
// Copies run past an allocation, or the wrong way round: they return the toolkit's codes, and
// reports say why.
// EXPECT: {file}:{elements}: error: cudaMemcpy past the end of the destination
// EXPECT: 1024 bytes are asked for; the allocation has 256 from there to its end
// EXPECT: help: was the size multiplied by the size of an element twice, or not at all
// EXPECT: {file}:{offset}: error: cudaMemcpy past the end of the source
// EXPECT: {file}:{swapped}: error: cudaMemcpy: the destination is host memory
// EXPECT: which cudaMemcpyHostToDevice does not allow
// EXPECT: {file}:{from_host}: error: cudaMemcpy: the source is host memory
// EXPECT: {file}:{end}: error: cudaMemcpy: the destination
// EXPECT: {file}:{fill}: error: cudaMemset past the end of the destination
// EXPECT: {file}:{freed}: error: cudaMemcpy: the source was freed
// EXPECT: {file}:{null}: error: cudaMemcpy: the destination is a null pointer
// EXPECT: {file}:{heap}: error: cudaMemcpy: the source is what malloc in device code gave
// EXPECT-STDOUT: cudaErrorInvalidValue x9
// EXPECT: {file}:{overlap}: error: cudaMemcpy: source and destination overlap
// EXPECT: 128 bytes of the 192 are in both

#include <cstdio>
#include <vector>

#include "../../../common/check.cuh"

__device__ int* on_heap;

__global__ void take_from_heap() { on_heap = static_cast<int*>(malloc(64)); }
__global__ void give_back() { free(on_heap); }

int main() {
  const std::size_t n = 64, bytes = n * sizeof(float);
  std::vector<float> h_x(n * 4);
  float *x, *gone;
  CUDA_CHECK(cudaMalloc(&x, bytes));
  CUDA_CHECK(cudaMalloc(&gone, bytes));
  CUDA_CHECK(cudaFree(gone));
  int* heap = nullptr;
  take_from_heap<<<1, 1>>>();
  CUDA_CHECK(cudaMemcpyFromSymbol(&heap, on_heap, sizeof heap));
  const cudaError_t errors[] = {
      cudaMemcpy(x, h_x.data(), bytes * sizeof(float), cudaMemcpyHostToDevice),  // @elements
      cudaMemcpy(h_x.data(), x + 1, bytes, cudaMemcpyDeviceToHost),              // @offset
      cudaMemcpy(h_x.data(), x, bytes, cudaMemcpyHostToDevice),                  // @swapped
      cudaMemcpy(x, h_x.data(), bytes, cudaMemcpyDeviceToDevice),                // @from_host
      cudaMemcpy(x + n, h_x.data(), 4, cudaMemcpyHostToDevice),                  // @end
      cudaMemset(x, 0, bytes + 1),                                               // @fill
      cudaMemcpy(h_x.data(), gone, bytes, cudaMemcpyDeviceToHost),               // @freed
      cudaMemcpy(nullptr, h_x.data(), bytes, cudaMemcpyHostToDevice),            // @null
      cudaMemcpy(h_x.data(), heap, 64, cudaMemcpyDefault),                       // @heap
  };
  give_back<<<1, 1>>>();
  int invalid = 0;
  for (const cudaError_t error : errors) invalid += error == cudaErrorInvalidValue;
  std::printf("%s x%d\n", cudaGetErrorName(cudaGetLastError()), invalid);
  CUDA_CHECK(cudaMemcpy(x, x + n / 2, bytes / 2, cudaMemcpyDeviceToDevice));
  CUDA_CHECK(cudaMemcpy(x + 16, x, 3 * bytes / 4, cudaMemcpyDeviceToDevice));  // @overlap
  CUDA_CHECK(cudaFree(x));
}
