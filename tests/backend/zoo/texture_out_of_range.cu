// SPDX-License-Identifier: MIT
// A kernel without a guard fetches past the end of linear memory. A GPU returns 0 there.
// EXPECT: {file}:{fetch}: error: tex1Dfetch out of range in kernel 'copy_all', block (3,0,0), thread (4,0,0)
// EXPECT: texel 100 is asked for; the texture has 100
// EXPECT: {file}:{create}: note: the object was created here
// EXPECT: help: a GPU returns 0 there and says nothing; guard the index

__global__ void copy_all(cudaTextureObject_t texture, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = tex1Dfetch<float>(texture, i);  // @fetch
}

int main() {
  float *d_x = nullptr, *d_y = nullptr;
  cudaMalloc(&d_x, 128 * sizeof(float));
  cudaMalloc(&d_y, 128 * sizeof(float));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_x;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 100 * sizeof(float);
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);  // @create
  copy_all<<<4, 32>>>(texture, d_y);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
  cudaFree(d_x);
  cudaFree(d_y);
  return 0;
}
