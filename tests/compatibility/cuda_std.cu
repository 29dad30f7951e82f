// SPDX-License-Identifier: MIT
// FEATURE: libraries: `cuda::std`
#include <cuda/std/array>
#include <cuda/std/utility>

#include "program.h"

__global__ void show(int* out) {
  cuda::std::array<int, 4> x{1, 2, 3, 4};
  const cuda::std::pair<int, int> y(5, 6);
  out[0] = x[3] + y.second;
}

int main() {
  int* out = numbers();
  show<<<1, 1>>>(out);
  wait();
  return answer(out[0] == 10);
}
