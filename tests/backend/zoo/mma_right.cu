// SPDX-License-Identifier: MIT
// The right twin of mma_wrong.cu: two warps multiply tiles that they bring to shared memory, the
// last warp of the block takes no part, and nothing is to be reported.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// EXPECT-STDOUT: 1024 of 1024 are right
#include <mma.h>

#include <cstdio>

namespace wmma = nvcuda::wmma;

constexpr unsigned n = 32;

// Each of two warps computes 16 rows of C = A * A, of 32 x 32 elements.
__global__ void multiply(const __half* a, float* c) {
  __shared__ alignas(32) __half of_a[2][256], of_b[256];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned column = 0; column < n; column += 16) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (unsigned first = 0; first < n; first += 16) {
      for (unsigned i = lane; i < 256; i += 32) {
        if (warp < 2) of_a[warp][i] = a[(warp * 16 + i / 16) * n + first + i % 16];
        if (warp == 2) of_b[i] = a[(first + i / 16) * n + column + i % 16];
      }
      __syncthreads();
      if (warp < 2) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right;
        wmma::load_matrix_sync(left, of_a[warp], 16);
        wmma::load_matrix_sync(right, of_b, 16);
        wmma::mma_sync(sum, left, right, sum);
      }
      __syncthreads();
    }
    if (warp < 2) {
      wmma::store_matrix_sync(c + warp * 16 * n + column, sum, n, wmma::mem_row_major);
    }
  }
}

int main() {
  __half h_a[n * n], *a;
  float h_c[n * n], *c;
  for (unsigned i = 0; i < n * n; ++i) h_a[i] = static_cast<float>(i * 7 % 13);
  cudaMalloc(&a, sizeof(h_a));
  cudaMalloc(&c, sizeof(h_c));
  cudaMemcpy(a, h_a, sizeof(h_a), cudaMemcpyHostToDevice);
  multiply<<<1, 96>>>(a, c);
  cudaMemcpy(h_c, c, sizeof(h_c), cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(c);
  int right = 0;
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned j = 0; j < n; ++j) {
      float sum = 0;
      for (unsigned l = 0; l < n; ++l) sum += __half2float(h_a[i * n + l] * h_a[l * n + j]);
      right += h_c[i * n + j] == sum;
    }
  }
  std::printf("%d of %u are right\n", right, n * n);
}
