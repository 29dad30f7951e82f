// SPDX-License-Identifier: MIT
// FEATURE: numbers: `nvcuda::wmma`
#include <cuda_fp16.h>
#include <mma.h>

#include "program.h"

using namespace nvcuda;

__global__ void show(const __half* a, const __half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main() {
  __half *a = numbers<__half>(), *b = numbers<__half>();
  float* c = numbers<float>();
  for (int i = 0; i < 256; ++i) {
    a[i] = __float2half(i % 16);
    b[i] = __float2half(i / 16);
  }
  show<<<1, 32>>>(a, b, c);
  wait();
  return answer(c[0] == 1 && c[3] == 361 && c[255] == 1801);
}
