// SPDX-License-Identifier: MIT
// Sizes of copies and fills that count elements, and such as count bytes.
//
// CASE: elements_for_bytes
// The copies say n where n * sizeof(float) is meant: a quarter of the results comes back. Of an
// array that comes back as a whole, a quarter went over; 100 bytes are no whole number of doubles.
// A fill with 1.0 stores no 1.0; one with 0.0 does what it says.
// EXPECT-STATUS: 0
// EXPECT: {file}:{to}: note: cudaMemcpy of 1000 bytes, and the allocation has 1000 elements of 4 bytes
// EXPECT: {file}:{from}: note: cudaMemcpy of 1000 bytes, and the allocation has 1000 elements of 4 bytes
// EXPECT: {file}:{fill}: note: cudaMemset of 100 bytes, and the allocation has 100 elements of 8 bytes
// EXPECT: {file}:{ones}: note: cudaMemset with 1: it fills with bytes, here with 0x01
// EXPECT-NOT: cudaMemset with 0
// EXPECT: a size counts bytes: multiply the number of elements by sizeof
//
// CASE: parts_of_arrays
// Copies of parts that are right: four quarters, one element, the first bytes of an array of bytes,
// and the sums of 32 blocks from an array with room for 128.
// EXPECT-STDOUT: done

#include <cstdio>
#include <vector>

#include "../../../common/check.cuh"
#include "cases.cuh"

__global__ void twice(float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] *= 2;
}

CASE(elements_for_bytes) {
  const int n = 1000;
  std::vector<float> x(n, 1.0f);
  float *d_x, *d_y;
  double* d_sums;
  CUDA_CHECK(cudaMalloc(&d_x, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_y, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_sums, 100 * sizeof(double)));
  CUDA_CHECK(cudaMemset(d_sums, 0, 100));  // @fill
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemset(d_y, 1.0f, n * sizeof(float)));  // @ones
  CUDA_CHECK(cudaMemset(d_y, 0.0f, n * sizeof(float)));
  twice<<<4, 256>>>(d_x, n);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(x.data(), d_x, n, cudaMemcpyDeviceToHost));  // @from
  CUDA_CHECK(cudaMemcpy(d_y, x.data(), n, cudaMemcpyHostToDevice));  // @to
  twice<<<4, 256>>>(d_y, n);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(x.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_y));
  CUDA_CHECK(cudaFree(d_sums));
}

__global__ void first_sums(int* sums) { sums[threadIdx.x] = 1; }

CASE(parts_of_arrays) {
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
