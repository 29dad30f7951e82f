// SPDX-License-Identifier: MIT
// The same early return counts as an arrival on request. Current GPUs count it so, though the CUDA
// guide does not promise it.
// RUN: CUDA_CPU_EARLY_RETURN=allow CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_EARLY_RETURN=allow CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_EARLY_RETURN=allow CUDA_CPU_SCHEDULE=random:5
// EXPECT-STATUS: 0
// EXPECT-STDOUT: sum 66 votes 12
// EXPECT-NOT: error
#include <cstdio>

__global__ void sum_first(int* x, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  __shared__ int s[64];
  s[i] = i;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += s[k];
  const unsigned votes = __ballot_sync(0xffffffffu, 1);
  if (i == 0) {
    x[0] = sum;
    x[1] = __popc(votes);
  }
}

int main() {
  int* d_x = nullptr;
  int x[2];
  cudaMalloc(&d_x, sizeof(x));
  sum_first<<<1, 64>>>(d_x, 12);
  cudaMemcpy(x, d_x, sizeof(x), cudaMemcpyDeviceToHost);
  std::printf("sum %d votes %d\n", x[0], x[1]);
  cudaFree(d_x);
  return 0;
}
