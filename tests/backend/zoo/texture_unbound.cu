// SPDX-License-Identifier: MIT
// The object is passed to the kernel before it was made. A GPU reads 0 and says nothing.
// EXPECT: {file}:{fetch}: error: tex2D of a texture object that was never made in kernel 'copy_row', block (0,0,0), thread (0,0,0)
// EXPECT: the object is 0: no texture is bound to it
// EXPECT: help: did cudaCreateTextureObject fail, or come later?
// EXPECT: {file}:{launch}: note: kernel launched here

__global__ void copy_row(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f);  // @fetch
}

int main() {
  float* d_y = nullptr;
  cudaMalloc(&d_y, 32 * sizeof(float));
  cudaTextureObject_t texture = 0;
  copy_row<<<1, 32>>>(texture, d_y);  // @launch
  cudaDeviceSynchronize();
  cudaFree(d_y);
  return 0;
}
