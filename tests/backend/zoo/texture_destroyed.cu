// SPDX-License-Identifier: MIT
// The object is destroyed before the kernel that uses it is launched.
// EXPECT: {file}:{fetch}: error: tex1Dfetch of an object that was destroyed in kernel 'copy_all', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{create}: note: the object was created here
// EXPECT: {file}:{destroy}: note: destroyed here

__global__ void copy_all(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);  // @fetch
}

int main() {
  float *d_x = nullptr, *d_y = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(float));
  cudaMalloc(&d_y, 32 * sizeof(float));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_x;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 32 * sizeof(float);
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);  // @create
  cudaDestroyTextureObject(texture);                                    // @destroy
  copy_all<<<1, 32>>>(texture, d_y);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  cudaFree(d_y);
  return 0;
}
