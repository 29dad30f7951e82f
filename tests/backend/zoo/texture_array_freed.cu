// SPDX-License-Identifier: MIT
// The array under a texture is freed, and the object used once more.
// EXPECT: {file}:{fetch}: error: tex2D: the array was freed in kernel 'copy_row', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{alloc}: note: allocated here by cudaMallocArray
// EXPECT: {file}:{free}: note: freed here
// EXPECT: {file}:{create}: note: the object was created here

__global__ void copy_row(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f);  // @fetch
}

int main() {
  float* d_y = nullptr;
  cudaMalloc(&d_y, 32 * sizeof(float));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 32, 4);  // @alloc
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);  // @create
  cudaFreeArray(array);                                                 // @free
  copy_row<<<1, 32>>>(texture, d_y);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
  cudaFree(d_y);
  return 0;
}
