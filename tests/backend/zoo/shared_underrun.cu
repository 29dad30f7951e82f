// SPDX-License-Identifier: MIT
// The first thread writes before the shared array. No page ends there; the backend looks
// afterwards.
// EXPECT: {file}:{array}: error: out-of-bounds write before a __shared__ array in kernel 'shift_left'
// EXPECT: found when block (0,0,0) had ended: 's' has 128 bytes

__global__ void shift_left(float* x) {
  __shared__ float s[32];  // @array
  const int i = threadIdx.x;
  s[i - 1] = x[i];
  __syncthreads();
  x[i] = s[i];
}

int main() {
  float* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(float));
  cudaMemset(d_x, 0, 32 * sizeof(float));
  shift_left<<<1, 32>>>(d_x);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
