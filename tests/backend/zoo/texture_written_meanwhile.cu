// SPDX-License-Identifier: MIT
// A kernel stores to the memory that it fetches from. What such a fetch returns is undefined: an
// H200 gives even the thread that stored the old value, which the unit still has in its cache.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// EXPECT: {file}:{own}: error: race: a texture fetch
// EXPECT: in kernel 'count_up'
// EXPECT: {file}:{store}: error: race: a write in kernel 'smooth'
// EXPECT: {file}:{fetch}: note: a texture fetch by thread
// EXPECT: {file}:{tex}: error: race: a texture fetch
// EXPECT: in kernel 'through_surface'
// EXPECT: help: a texture fetch may return what was there before the launch

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

int main() {
  constexpr int n = 32;
  float* d_x = nullptr;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMemset(d_x, 0, n * sizeof(float));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_x;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = n * sizeof(float);
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  count_up<<<1, n>>>(texture, d_x);
  smooth<<<1, n>>>(texture, d_x, n);

  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &resource.res.linear.desc, n, 0, cudaArraySurfaceLoadStore);
  cudaResourceDesc of_array{};
  of_array.resType = cudaResourceTypeArray;
  of_array.res.array.array = array;
  cudaTextureObject_t image = 0;
  cudaSurfaceObject_t surface = 0;
  cudaCreateTextureObject(&image, &of_array, &description, nullptr);
  cudaCreateSurfaceObject(&surface, &of_array);
  through_surface<<<1, n>>>(image, surface, d_x);
  cudaDeviceSynchronize();

  cudaDestroyTextureObject(texture);
  cudaDestroyTextureObject(image);
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(array);
  cudaFree(d_x);
  return 0;
}
