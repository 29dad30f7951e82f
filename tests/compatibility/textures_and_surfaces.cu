// SPDX-License-Identifier: MIT
// GROUP: textures and surfaces
#include "program.h"

// FEATURE: layered_textures: layered textures
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

// FEATURE: linear_textures: textures over linear memory
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

// FEATURE: mipmaps: mipmapped arrays
int main() {
  cudaMipmappedArray_t mipmaps;
  cudaArray_t level;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  MUST(cudaMallocMipmappedArray(&mipmaps, &format, make_cudaExtent(8, 8, 0), 3));
  MUST(cudaGetMipmappedArrayLevel(&level, mipmaps, 1));
  cudaExtent extent;
  MUST(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
  return answer(extent.width == 4 && extent.height == 4);
}

// FEATURE: surfaces: surface objects
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

// FEATURE: texture_objects: texture objects, filtered
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
