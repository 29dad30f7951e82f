// SPDX-License-Identifier: MIT
// FEATURE: libraries: CUB over the device
#include <cub/device/device_reduce.cuh>

#include "program.h"

int main() {
  int* x = numbers();
  for (int i = 0; i < 100; ++i) x[i + 1] = i;
  void* storage = nullptr;
  size_t bytes = 0;
  MUST(cub::DeviceReduce::Sum(storage, bytes, x + 1, x, 100));
  MUST(cudaMalloc(&storage, bytes));
  MUST(cub::DeviceReduce::Sum(storage, bytes, x + 1, x, 100));
  wait();
  return answer(x[0] == 4950);
}
