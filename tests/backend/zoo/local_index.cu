// SPDX-License-Identifier: MIT
// A thread counts into an array of its own, and one value needs a fifth counter. A negative index
// and a row that is too long are found as well. (clang does not look at ++counts[4].)
// EXPECT: {file}:{count}: error: out-of-bounds index in kernel 'histogram', block (1,0,0), thread (3,0,0)
// EXPECT: index 4 of 'counts', int [4]
// EXPECT: valid are 0 to 3
// EXPECT: {file}:{turn}: error: out-of-bounds index in kernel 'rotate', block (0,0,0), thread (0,0,0)
// EXPECT: index -1 of 'm', float [3]
// EXPECT-STDOUT: cudaErrorIllegalAddress cudaErrorIllegalAddress
#include <cstdio>

__global__ void histogram(const int* x, int* out) {
  int counts[4] = {};
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < 4; ++k) {
    counts[x[4 * i + k]] += 1;  // @count
  }
  for (int k = 0; k < 4; ++k) out[4 * i + k] = counts[k];
}

__global__ void rotate(float* out, int by) {
  float m[2][3] = {{1, 2, 3}, {4, 5, 6}};
  m[1][0] = out[0];
  out[1] = m[1][by];  // @turn
}

int main() {
  int x[64] = {};
  x[31] = 4;
  int *d_x, *d_out;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_out, sizeof(x));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  histogram<<<4, 4>>>(d_x, d_out);
  const cudaError_t first = cudaDeviceSynchronize();
  cudaDeviceReset();
  float* d_y;
  cudaMalloc(&d_y, 2 * sizeof(float));
  rotate<<<1, 1>>>(d_y, -1);
  std::printf("%s %s\n", cudaGetErrorName(first), cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
