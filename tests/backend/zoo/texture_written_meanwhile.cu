// SPDX-License-Identifier: MIT
// A kernel stores to the memory that it fetches from: what a fetch returns is then undefined, since
// the texture unit may have the old texel in its cache.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// EXPECT: race
// EXPECT: in kernel 'smooth'
// EXPECT: {file}:{fetch}
// EXPECT: {file}:{store}

__global__ void smooth(cudaTextureObject_t texture, float* x, int n) {
  const int i = threadIdx.x;
  if (i >= n - 1) return;
  const float right = tex1Dfetch<float>(texture, i + 1);  // @fetch
  x[i] = right;                                           // @store
}

int main() {
  constexpr int n = 64;
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
  smooth<<<1, n>>>(texture, d_x, n);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
  cudaFree(d_x);
  return 0;
}
