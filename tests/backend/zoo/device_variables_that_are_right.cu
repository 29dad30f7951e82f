// SPDX-License-Identifier: MIT
// Host code that sets and reads __device__ and __constant__ variables as it must. Its wrong twins
// do not compile: "host code may not name device variables" in tests/backend/prepass.test.cpp.
// EXPECT-STATUS: 0
// EXPECT-NOT: error
// EXPECT-STDOUT: 42 20 20
#include <cstdio>

#include "../../../common/check.cuh"

__device__ int total;
__device__ int list[4];
__constant__ int factors[4];
__managed__ int product;

__global__ void multiply() {
  for (int i = 0; i < 4; ++i) total += list[i] * factors[i];
  product = factors[3] * list[3];
}

// A function that takes a variable by reference, whatever its type.
template <class T>
void upload(T& variable, const T& values) {
  CUDA_CHECK(cudaMemcpyToSymbol(variable, values, sizeof variable));
}

int main() {
  const int values[] = {1, 2, 3, 4}, by[] = {3, 4, 3, 5}, start = 2;
  upload(list, values);
  CUDA_CHECK(cudaMemcpyToSymbol(factors, by, sizeof(factors)));
  CUDA_CHECK(cudaMemcpyToSymbol(total, &start, sizeof total));
  multiply<<<1, 1>>>();
  CUDA_CHECK_LAUNCH();
  int sum = 0, last = 0;
  CUDA_CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof(sum)));
  void* address = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&address, list));
  CUDA_CHECK(cudaMemcpy(&last, static_cast<int*>(address) + 3, sizeof last, cudaMemcpyDefault));
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("%d %d %d\n", sum, product, 5 * last);
}
