// SPDX-License-Identifier: MIT
// A .cu that includes every standard header gets the system's, with <cuda_runtime.h> before them.
#include "standard_headers.h"

#include "../catch.hpp"

namespace {

__global__ void copy_words(const int* from, int* to, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  assert(n > 0);
  if (i < n) memcpy(&to[i], &from[i], sizeof(int));
}

}  // namespace

TEST_CASE("a kernel runs in a file that includes every standard header") {
  const std::vector<int> sent{3, 1, 4, 1, 5};
  std::vector<int> received(sent.size());
  const std::size_t bytes = sent.size() * sizeof(int);
  int *from = nullptr, *to = nullptr;
  REQUIRE(cudaMalloc(&from, bytes) == cudaSuccess);
  REQUIRE(cudaMalloc(&to, bytes) == cudaSuccess);
  REQUIRE(cudaMemcpy(from, sent.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
  copy_words<<<1, 32>>>(from, to, static_cast<int>(sent.size()));
  REQUIRE(cudaMemcpy(received.data(), to, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(received == sent);
  CHECK(cudaFree(from) == cudaSuccess);
  CHECK(cudaFree(to) == cudaSuccess);
}

// assert.h may be included again, and looks at NDEBUG each time.
#define NDEBUG
#include <assert.h>

TEST_CASE("assert says nothing under NDEBUG") { assert(std::string("said").empty()); }
