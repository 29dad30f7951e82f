// SPDX-License-Identifier: MIT
// The third launch argument is missing altogether.
// EXPECT: {file}:{write}: error: out-of-bounds write in kernel 'stage', block (0,0,0), thread (0,0,0)
// EXPECT: the __shared__ array 's' (0 bytes)

__global__ void stage(float* x) {
  extern __shared__ float s[];
  s[threadIdx.x] = x[threadIdx.x];  // @write
  __syncthreads();
  x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

int main() {
  constexpr int n = 256;
  float* d_x = nullptr;
  cudaMalloc(&d_x, n * sizeof(float));
  stage<<<1, n>>>(d_x);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
