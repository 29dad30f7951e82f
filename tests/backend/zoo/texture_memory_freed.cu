// SPDX-License-Identifier: MIT
// Linear memory under a texture is freed before the kernel reads it.
// EXPECT: {file}:{fetch}: error: use after free
// EXPECT: in kernel 'copy_all', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{alloc}: note: allocated here by cudaMalloc
// EXPECT: {file}:{free}: note: freed here

__global__ void copy_all(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);  // @fetch
}

int main() {
  float *d_x = nullptr, *d_y = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(float));  // @alloc
  cudaMalloc(&d_y, 32 * sizeof(float));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_x;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 32 * sizeof(float);
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  cudaFree(d_x);  // @free
  copy_all<<<1, 32>>>(texture, d_y);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
  cudaFree(d_y);
  return 0;
}
