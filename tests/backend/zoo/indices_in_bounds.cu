// SPDX-License-Identifier: MIT
// The last element, the address just past it, and a shared array used as a flat one: nothing is
// wrong.
// EXPECT-STDOUT: 15 36

#include <cstdio>

#include "../../../common/check.cuh"

__constant__ int table[4] = {1, 2, 4, 8};

__global__ void sum(int* out, int n) {
  __shared__ int tile[2][4];
  const int* const end = &table[n];
  int total = 0;
  for (const int* p = table; p != end; ++p) total += *p;
  for (int k = 0; k < 2 * n; ++k) tile[0][k] = k + 1;
  int flat = 0;
  for (int k = 0; k < 2 * n; ++k) flat += tile[k / n][k % n];
  out[0] = total;
  out[1] = flat;
}

int main() {
  int out[2] = {};
  int* d_out;
  CUDA_CHECK(cudaMalloc(&d_out, sizeof(out)));
  sum<<<1, 1>>>(d_out, 4);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  std::printf("%d %d\n", out[0], out[1]);
  CUDA_CHECK(cudaFree(d_out));
}
