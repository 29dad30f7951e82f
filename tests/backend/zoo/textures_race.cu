// SPDX-License-Identifier: MIT
// Fetches from memory that kernels store to.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
//
// CASE: stored_meanwhile
// A kernel stores to the memory that it fetches from. What such a fetch returns is undefined: an
// H200 gives even the thread that stored the old value, which the unit still has in its cache.
// EXPECT: {file}:{own}: error: race: a texture fetch
// EXPECT: in kernel 'count_up'
// EXPECT: {file}:{store}: error: race: a write in kernel 'smooth'
// EXPECT: {file}:{fetch}: note: a texture fetch by thread
// EXPECT: {file}:{tex}: error: race: a texture fetch
// EXPECT: in kernel 'through_surface'
// EXPECT: help: a texture fetch may return what was there before the launch
//
// CASE: stored_by_the_kernel_before
// EXPECT-STDOUT: sum 1984

#include <cstdio>

#include "cases.cuh"

constexpr int kWidth = 32, kRows = 4;

cudaTextureObject_t texture_of(const cudaResourceDesc& resource) {
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  return texture;
}

cudaTextureObject_t texture_over(float* memory, int n) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = static_cast<std::size_t>(n) * sizeof(float);
  return texture_of(resource);
}

/// An array of floats that is a texture and a surface; of one dimension with 0 rows.
struct Image {
  explicit Image(int rows) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, kWidth, static_cast<std::size_t>(rows),
                    cudaArraySurfaceLoadStore);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    texture = texture_of(resource);
    cudaCreateSurfaceObject(&surface, &resource);
  }
  ~Image() {
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
  }
  cudaArray_t array = nullptr;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
};

__global__ void count_up(cudaTextureObject_t texture, float* x) {
  x[threadIdx.x] += 1;
  x[threadIdx.x] = 2 * tex1Dfetch<float>(texture, threadIdx.x);  // @own
}

__global__ void smooth(cudaTextureObject_t texture, float* x, int n) {
  const int i = threadIdx.x;
  if (i >= n - 1) return;
  const float right = tex1Dfetch<float>(texture, i + 1);  // @fetch
  x[i] = right;                                           // @store
}

__global__ void through_surface(cudaTextureObject_t texture, cudaSurfaceObject_t surface,
                                float* y) {
  const int i = threadIdx.x;
  surf1Dwrite(1.0f, surface, i * static_cast<int>(sizeof(float)));
  y[i] = tex1D<float>(texture, i + 0.5f);  // @tex
}

CASE(stored_meanwhile) {
  run_on<float>(kWidth, [](float* x) {
    const cudaTextureObject_t texture = texture_over(x, kWidth);
    count_up<<<1, kWidth>>>(texture, x);
    smooth<<<1, kWidth>>>(texture, x, kWidth);
    const Image image(0);
    through_surface<<<1, kWidth>>>(image.texture, image.surface, x);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(texture);
  });
}

__global__ void fill(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x;
  surf2Dwrite(static_cast<float>(x), surface, x * static_cast<int>(sizeof(float)), blockIdx.x);
}

__global__ void add_rows(cudaTextureObject_t image, cudaTextureObject_t weights, float* sums,
                         int rows) {
  float sum = 0;
  for (int y = 0; y < rows; ++y) {
    sum += tex2D<float>(image, threadIdx.x + 0.5f, y + 0.5f) * tex1Dfetch<float>(weights, y);
  }
  sums[threadIdx.x] = sum;
}

CASE(stored_by_the_kernel_before) {
  run_on<float>(kRows + kWidth, [](float* weights) {
    const float ones[kRows] = {1, 1, 1, 1};
    float sums[kWidth], *const d_sums = weights + kRows, sum = 0;
    cudaMemcpy(weights, ones, sizeof(ones), cudaMemcpyHostToDevice);
    const cudaTextureObject_t texture = texture_over(weights, kRows);
    const Image image(kRows);
    fill<<<kRows, kWidth>>>(image.surface);
    add_rows<<<1, kWidth>>>(image.texture, texture, d_sums, kRows);
    cudaMemcpy(sums, d_sums, sizeof(sums), cudaMemcpyDeviceToHost);
    for (const float s : sums) sum += s;
    std::printf("sum %g\n", sum);
    cudaDestroyTextureObject(texture);
  });
}
