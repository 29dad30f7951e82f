// SPDX-License-Identifier: MIT
// An integer division by zero; a GPU gives a meaningless result and says nothing.
// EXPECT: {file}:{divide}: error: integer division by zero in kernel 'average'
// EXPECT: block (0,0,0), thread (3,0,0)
// ARCH: x86_64

#include "../../../common/check.cuh"

__global__ void average(const int* sum, const int* count, int* mean) {
  const unsigned i = threadIdx.x;
  mean[i] = sum[i] / count[i];  // @divide
}

int main() {
  const int h_sum[4] = {4, 4, 4, 4}, h_count[4] = {1, 2, 4, 0};
  int *sum, *count, *mean;
  CUDA_CHECK(cudaMalloc(&sum, sizeof(h_sum)));
  CUDA_CHECK(cudaMalloc(&count, sizeof(h_count)));
  CUDA_CHECK(cudaMalloc(&mean, sizeof(h_sum)));
  CUDA_CHECK(cudaMemcpy(sum, h_sum, sizeof(h_sum), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(count, h_count, sizeof(h_count), cudaMemcpyHostToDevice));
  average<<<1, 4>>>(sum, count, mean);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}
