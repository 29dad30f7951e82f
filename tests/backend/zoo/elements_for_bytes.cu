// SPDX-License-Identifier: MIT
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

#include <vector>

#include "../../../common/check.cuh"

__global__ void twice(float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] *= 2;
}

int main() {
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
