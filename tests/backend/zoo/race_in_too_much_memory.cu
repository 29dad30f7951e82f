// SPDX-License-Identifier: MIT
// Looking for races takes about as much memory as is used, or up to 13 times that. Where that may
// not be, it says from when on it is blind; what was used before is watched still.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_RACES_MIB=1
// EXPECT: note: looking for races takes 1 MiB now, as much as it may
// EXPECT: CUDA_CPU_RACES_MIB=2
// EXPECT: {file}:{counted}: error: race
// EXPECT-NOT: {file}:{blind}: error

__global__ void count(int* counter) {
  ++*counter;  // @counted
}

__global__ void fill(int* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = i;
}

__global__ void count_late(int* counter) {
  ++*counter;  // @blind
}

int main() {
  constexpr int n = 1 << 20;  // 4 MiB, of which about one is watched
  int *counter, *x;
  cudaMalloc(&counter, sizeof(int));
  cudaMalloc(&x, n * sizeof(int));
  cudaMemset(counter, 0, sizeof(int));
  count<<<1, 1>>>(counter);
  fill<<<1, 32>>>(x, n);
  count_late<<<1, 2>>>(x + n - 1);
  count<<<1, 2>>>(counter);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(counter);
}
