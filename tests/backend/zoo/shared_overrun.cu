// SPDX-License-Identifier: MIT
// A stencil that forgot its halo: the last thread reads one element past the shared array.
// EXPECT: {file}:{read}: error: out-of-bounds read in kernel 'blur', block (0,0,0), thread (63,0,0)
// EXPECT: the __shared__ array 's'
// EXPECT: {file}:{array}: note: declared here

__global__ void blur(const float* x, float* y) {
  __shared__ float s[64];  // @array
  const int i = threadIdx.x;
  s[i] = x[i];
  __syncthreads();
  y[i] = s[i] + s[i + 1];  // @read
}

int main() {
  float* d_x = nullptr;
  cudaMalloc(&d_x, 128 * sizeof(float));
  blur<<<1, 64>>>(d_x, d_x + 64);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
