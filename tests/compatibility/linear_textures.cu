// SPDX-License-Identifier: MIT
// FEATURE: textures and surfaces: textures over linear memory
#include "program.h"

__global__ void show(float* out, cudaTextureObject_t texture) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, 3 - threadIdx.x);
}

int main() {
  float *out = numbers<float>(), *x = nullptr;
  const float texels[] = {1, 2, 3, 4};
  MUST(cudaMalloc(&x, sizeof(texels)));
  MUST(cudaMemcpy(x, texels, sizeof(texels), cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = x;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = sizeof(texels);
  const cudaTextureDesc description{};
  cudaTextureObject_t texture;
  MUST(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  show<<<1, 4>>>(out, texture);
  wait();
  return answer(out[0] == 4 && out[3] == 1);
}
