// SPDX-License-Identifier: MIT
// What nobody wrote reads as NaN, so that it cannot pass for a result.
//
// CASE: memory
// Memory that nobody wrote reads as NaN, so that it cannot pass for a result.
// EXPECT-STATUS: 0
// EXPECT-STDOUT: sum nan, first int -1
//
// CASE: shared_slots
// Nobody sets some slots of a shared array, because the input ends earlier: they read NaN, in each
// block anew.
// EXPECT-STATUS: 0
// EXPECT-STDOUT: block 0: 64
// EXPECT-STDOUT: block 1: nan

#include <cmath>
#include <cstdio>

#include "../../../common/check.cuh"
#include "cases.cuh"

namespace memory {

__global__ void sum(const float* x, int n, float* total) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += x[i];
  *total = s;
}

int program() {
  float *x, *total, h_total = 0;
  int first = 0;
  CUDA_CHECK(cudaMalloc(&x, 100 * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&total, sizeof(float)));
  sum<<<1, 1>>>(x, 100, total);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(&h_total, total, sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(&first, x, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("sum %s, first int %d\n", std::isnan(h_total) ? "nan" : "a number", first);
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(total));
  return 0;
}

}  // namespace memory

namespace shared_slots {

__global__ void sum(const float* x, float* sums, int n) {
  __shared__ float s[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) s[threadIdx.x] = x[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int k = 0; k < 64; ++k) total += s[k];
    sums[blockIdx.x] = total;
  }
}

int program() {
  constexpr int n = 100;
  float x[n], sums[2];
  for (float& v : x) v = 1.0f;
  float *d_x = nullptr, *d_sums = nullptr;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_sums, sizeof(sums));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  sum<<<2, 64>>>(d_x, d_sums, n);
  cudaMemcpy(sums, d_sums, sizeof(sums), cudaMemcpyDeviceToHost);
  for (int b = 0; b < 2; ++b) {
    if (std::isnan(sums[b])) {
      std::printf("block %d: nan\n", b);
    } else {
      std::printf("block %d: %g\n", b, sums[b]);
    }
  }
  cudaFree(d_x);
  cudaFree(d_sums);
  return 0;
}

}  // namespace shared_slots

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"memory", memory::program}, {"shared_slots", shared_slots::program}});
}
