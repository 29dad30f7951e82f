// SPDX-License-Identifier: MIT
// Copies of parts that are right: four quarters, one element, the first bytes of an array of bytes,
// and the sums of 32 blocks from an array with room for 128.
// EXPECT-STDOUT: done

#include <cstdio>
#include <vector>

#include "../../../common/check.cuh"

__global__ void first_sums(int* sums) { sums[threadIdx.x] = 1; }

int main() {
  std::vector<float> x(1024, 1.0f);
  float *d_x, *d_few;
  char* d_bytes;
  CUDA_CHECK(cudaMalloc(&d_x, 1024 * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_few, 4 * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_bytes, 1024));
  CUDA_CHECK(cudaMemset(d_x, 0, 1024 * sizeof(float)));
  for (int part = 0; part < 4; ++part) {
    CUDA_CHECK(
        cudaMemcpy(d_x + 256 * part, &x[256 * part], 256 * sizeof(float), cudaMemcpyHostToDevice));
  }
  CUDA_CHECK(cudaMemcpy(x.data(), d_x, 1024 * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemset(d_few, 0, 4 * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(x.data(), d_few, sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemset(d_bytes, 0, 1024));
  CUDA_CHECK(cudaMemcpy(x.data(), d_bytes, 1024, cudaMemcpyDeviceToHost));
  int *d_sums, sums[64];
  CUDA_CHECK(cudaMalloc(&d_sums, 128 * sizeof(int)));
  first_sums<<<1, 32>>>(d_sums);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(sums, d_sums, 32 * sizeof(int), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(d_sums));
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_few));
  CUDA_CHECK(cudaFree(d_bytes));
  std::printf("done\n");
}
