// SPDX-License-Identifier: MIT
// FEATURE: kernels: C++17 in device code
#include "program.h"

struct Pair {
  int first, second;
};
template <class T>
__device__ int size_of() {
  if constexpr (sizeof(T) == 8) {
    return 8;
  } else {
    return 4;
  }
}
__global__ void show(int* out) {
  auto [a, b] = Pair{int(threadIdx.x), 2};
  if (const int sum = a + b; sum > 0) out[threadIdx.x] = sum + size_of<double>();
}

int main() {
  int* out = numbers();
  show<<<1, 32>>>(out);
  wait();
  return answer(out[3] == 13);
}
