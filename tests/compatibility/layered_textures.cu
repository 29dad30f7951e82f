// SPDX-License-Identifier: MIT
// FEATURE: textures and surfaces: layered textures
#include "program.h"

__global__ void show(float* out, cudaTextureObject_t texture) {
  out[threadIdx.x] = tex2DLayered<float>(texture, 0.5f, 0.5f, threadIdx.x);
}

int main() {
  float* out = numbers<float>();
  float texels[] = {1, 2, 3};
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  MUST(cudaMalloc3DArray(&array, &format, make_cudaExtent(1, 1, 3), cudaArrayLayered));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(texels, 4, 1, 1);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(1, 1, 3);
  copy.kind = cudaMemcpyHostToDevice;
  MUST(cudaMemcpy3D(&copy));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureDesc description{};
  cudaTextureObject_t texture;
  MUST(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  show<<<1, 3>>>(out, texture);
  wait();
  return answer(out[0] == 1 && out[2] == 3);
}
