// SPDX-License-Identifier: MIT
// Warp matrix functions: half of a warp leaves out the product; lanes name different matrices; a
// tile begins at no multiple of 32 bytes; rows are no multiple of 16 bytes apart; a warp is not
// whole; a tile reaches past the end.
// EXPECT: {file}:{half}: error: mma_sync waits for lanes that never come in kernel 'half_a_warp'
// EXPECT: missing are lanes 16-31
// EXPECT: {file}:{lanes}: error: lanes of a warp name different matrices in kernel 'own_rows'
// EXPECT: {file}:{aligned}: error: a matrix must begin at a multiple of 32 bytes in kernel 'load'
// EXPECT: {file}:{aligned}: error: rows of a matrix must be a multiple of 16 bytes apart in kernel 'load'
// EXPECT: load_matrix_sync: ldm is 20 elements of 2 bytes
// EXPECT: {file}:{aligned}: error: a matrix operation of a warp that is not whole in kernel 'load'
// EXPECT: load_matrix_sync: this warp has 16 threads
// EXPECT: {file}:{aligned}: error: out-of-bounds read in kernel 'load'
// EXPECT-STDOUT: 6 failed
#include <mma.h>

#include <cstdio>
#include <vector>

namespace wmma = nvcuda::wmma;
using A = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using B = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__global__ void half_a_warp(float* c) {
  A a;
  B b;
  Sum sum;
  wmma::fill_fragment(a, 1.0f);
  wmma::fill_fragment(b, 1.0f);
  wmma::fill_fragment(sum, 0.0f);
  if (threadIdx.x < 16) {
    wmma::mma_sync(sum, a, b, sum);  // @half
  }
  c[threadIdx.x] = sum.x[0];
}

__global__ void own_rows(const __half* x, float* c) {
  A a;
  wmma::load_matrix_sync(a, x + 16 * threadIdx.x, 16);  // @lanes
  c[threadIdx.x] = a.x[0];
}

__global__ void load(const __half* x, unsigned ldm, float* c) {
  A a;
  wmma::load_matrix_sync(a, x, ldm);  // @aligned
  c[threadIdx.x] = a.x[0];
}

int main() {
  const std::vector<void (*)(const __half*, float*)> launches = {
      [](const __half*, float* c) { half_a_warp<<<1, 32>>>(c); },
      [](const __half* x, float* c) { own_rows<<<1, 32>>>(x, c); },
      [](const __half* x, float* c) { load<<<1, 32>>>(x + 8, 16, c); },
      [](const __half* x, float* c) { load<<<1, 32>>>(x, 20, c); },
      [](const __half* x, float* c) { load<<<1, 16>>>(x, 16, c); },
      [](const __half* x, float* c) { load<<<1, 32>>>(x, 24, c); }};
  int failed = 0;
  for (const auto launch : launches) {
    __half* x;
    float* c;
    cudaMalloc(&x, 16 * 16 * sizeof(__half));
    cudaMemset(x, 0, 16 * 16 * sizeof(__half));
    cudaMalloc(&c, 64 * sizeof(float));
    launch(x, c);
    failed += cudaDeviceSynchronize() != cudaSuccess;
    cudaDeviceReset();
  }
  std::printf("%d failed\n", failed);
}
