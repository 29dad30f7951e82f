// SPDX-License-Identifier: MIT
// One kernel writes through a surface what the next one fetches: no race.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// EXPECT-STDOUT: sum 1984

#include <cstdio>

__global__ void fill(cudaSurfaceObject_t surface, int width, int height) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x >= width || y >= height) return;
  surf2Dwrite(static_cast<float>(x), surface, x * static_cast<int>(sizeof(float)), y);
}

__global__ void add_rows(cudaTextureObject_t image, cudaTextureObject_t weights, float* sums,
                         int width, int height) {
  const int x = threadIdx.x;
  if (x >= width) return;
  float sum = 0;
  for (int y = 0; y < height; ++y) {
    sum += tex2D<float>(image, x + 0.5f, y + 0.5f) * tex1Dfetch<float>(weights, y);
  }
  sums[x] = sum;
}

int main() {
  constexpr int kWidth = 32, kHeight = 4;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  cudaCreateSurfaceObject(&surface, &resource);
  cudaTextureDesc description{};
  cudaTextureObject_t image = 0, weights = 0;
  cudaCreateTextureObject(&image, &resource, &description, nullptr);

  float *d_weights = nullptr, *d_sums = nullptr, h_weights[kHeight] = {1, 1, 1, 1};
  float h_sums[kWidth];
  cudaMalloc(&d_weights, sizeof(h_weights));
  cudaMalloc(&d_sums, sizeof(h_sums));
  cudaMemcpy(d_weights, h_weights, sizeof(h_weights), cudaMemcpyHostToDevice);
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = d_weights;
  linear.res.linear.desc = format;
  linear.res.linear.sizeInBytes = sizeof(h_weights);
  cudaCreateTextureObject(&weights, &linear, &description, nullptr);

  fill<<<kHeight, 64>>>(surface, kWidth, kHeight);
  add_rows<<<1, 64>>>(image, weights, d_sums, kWidth, kHeight);
  cudaMemcpy(h_sums, d_sums, sizeof(h_sums), cudaMemcpyDeviceToHost);
  float sum = 0;
  for (const float s : h_sums) sum += s;
  std::printf("sum %g\n", sum);

  cudaDestroyTextureObject(image);
  cudaDestroyTextureObject(weights);
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(array);
  cudaFree(d_weights);
  cudaFree(d_sums);
}
