// SPDX-License-Identifier: MIT
// Texels of four bytes are read as floats, without asking for normalized floats.
// EXPECT: {file}:{fetch}: error: tex2D with a type that the texture does not hold in kernel 'copy_row', block (0,0,0), thread (0,0,0)
// EXPECT: the texture returns integers, the program reads floats
// EXPECT: a texel has 4 components: 8-bit unsigned integers

__global__ void copy_row(cudaTextureObject_t texture, float4* y) {
  y[threadIdx.x] = tex2D<float4>(texture, threadIdx.x + 0.5f, 0.5f);  // @fetch
}

int main() {
  float4* d_y = nullptr;
  cudaMalloc(&d_y, 32 * sizeof(float4));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 32, 4);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  copy_row<<<1, 32>>>(texture, d_y);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
  cudaFreeArray(array);
  cudaFree(d_y);
  return 0;
}
