// SPDX-License-Identifier: MIT
// FEATURE: textures and surfaces: texture objects, filtered
#include "program.h"

__global__ void show(float* out, cudaTextureObject_t texture) {
  out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 1.0f, 0.5f);
}

int main() {
  float* out = numbers<float>();
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  MUST(cudaMallocArray(&array, &format, 4, 2));
  const float texels[] = {0, 1, 2, 3, 4, 5, 6, 7};
  MUST(cudaMemcpy2DToArray(array, 0, 0, texels, 16, 16, 2, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  description.filterMode = cudaFilterModeLinear;
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture;
  MUST(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  show<<<1, 4>>>(out, texture);
  wait();
  return answer(out[0] == 0.5f && out[2] == 2.5f && out[3] == 3.0f);
}
