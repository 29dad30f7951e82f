// SPDX-License-Identifier: MIT
// The third launch argument counts elements where it should count bytes.
// EXPECT: {file}:{write}: error: out-of-bounds write in kernel 'stage', block (0,0,0), thread (64,0,0)
// EXPECT: the __shared__ array 's'
// EXPECT: {file}:{array}: note: declared here

__global__ void stage(float* x) {
  extern __shared__ float s[];      // @array
  s[threadIdx.x] = x[threadIdx.x];  // @write
  __syncthreads();
  x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

int main() {
  constexpr int n = 256;
  float* d_x = nullptr;
  cudaMalloc(&d_x, n * sizeof(float));
  stage<<<1, n, n>>>(d_x);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
