// SPDX-License-Identifier: MIT
// Copies to device variables: past the end, in a direction that makes no sense, and to an ordinary
// variable.
// EXPECT-STATUS: 0
// EXPECT: {file}:{past}: error: cudaMemcpyToSymbol past the end of 'coefficients'
// EXPECT: 32 bytes at offset 16; the variable has 32 bytes
// EXPECT: {file}:{none}: error: cudaMemcpyToSymbol: this is no __device__, __constant__
// EXPECT-STDOUT: cudaErrorInvalidValue
// EXPECT-STDOUT: cudaErrorInvalidMemcpyDirection
// EXPECT-STDOUT: cudaErrorInvalidSymbol

#include <cstdio>

#include "../../../common/check.cuh"

__constant__ float coefficients[8];

int main() {
  float values[8] = {}, ordinary[8] = {};
  const char* const past =
      cudaGetErrorName(cudaMemcpyToSymbol(coefficients, values, sizeof(values), 16));  // @past
  const char* const direction = cudaGetErrorName(
      cudaMemcpyToSymbol(coefficients, values, sizeof(values), 0, cudaMemcpyDeviceToHost));
  const char* const none =
      cudaGetErrorName(cudaMemcpyToSymbol(ordinary, values, sizeof(values)));  // @none
  std::printf("%s %s %s\n", past, direction, none);
  cudaGetLastError();
}
