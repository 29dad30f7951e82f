// SPDX-License-Identifier: MIT
// FEATURE: textures and surfaces: surface objects
#include "program.h"

__global__ void show(float* out, cudaSurfaceObject_t surface) {
  surf2Dwrite(9.0f, surface, 2 * sizeof(float), 1);
  out[0] = surf2Dread<float>(surface, 3 * sizeof(float), 1);
}

int main() {
  float* out = numbers<float>();
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  MUST(cudaMallocArray(&array, &format, 4, 2, cudaArraySurfaceLoadStore));
  const float texels[] = {0, 1, 2, 3, 4, 5, 6, 7};
  MUST(cudaMemcpy2DToArray(array, 0, 0, texels, 16, 16, 2, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  MUST(cudaCreateSurfaceObject(&surface, &resource));
  show<<<1, 1>>>(out, surface);
  wait();
  float back[8];
  MUST(cudaMemcpy2DFromArray(back, 16, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost));
  return answer(out[0] == 7 && back[6] == 9);
}
