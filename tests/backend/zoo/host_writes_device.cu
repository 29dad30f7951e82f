// SPDX-License-Identifier: MIT
// A library's function writes device memory: memcpy instead of cudaMemcpy.
// EXPECT-STATUS: 1
// EXPECT: {file}:{copy}: error: host code wrote device memory

#include <cstring>
#include <vector>

#include "../../../common/check.cuh"

int main() {
  std::vector<int> h_x(100000, 1);
  int* x;
  CUDA_CHECK(cudaMalloc(&x, h_x.size() * sizeof(int)));
  std::memcpy(x, h_x.data(), h_x.size() * sizeof(int));  // @copy
}
