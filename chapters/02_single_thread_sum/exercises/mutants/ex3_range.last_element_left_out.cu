// SPDX-License-Identifier: MIT
// Exercise 3 of chapter 02, write the kernel: the smallest and the largest of n ints.
//
// One thread looks at all n ints (there is at least one) and leaves what it found in device_range,
// a variable in device memory. range_on_device launches it and fetches the result. It is called
// again and again, with other data each time.
// Check it: make lab CH=02 EX=3      A hint: make hint CH=02 EX=3
#include "common/common.cuh"

struct Range {
  int smallest, largest;
};

__device__ Range device_range;

__global__ void range_single_thread(const int* x, std::size_t n) {
  Range range = {x[0], x[0]};
  for (std::size_t i = 1; i + 1 < n; ++i) {
    range.smallest = min(range.smallest, x[i]);
    range.largest = max(range.largest, x[i]);
  }
  device_range = range;  // once, at the end: the loop works in registers
}

// d_x: n ints in device memory.
Range range_on_device(const int* d_x, std::size_t n) {
  Range range = {0, 0};
  range_single_thread<<<1, 1>>>(d_x, n);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpyFromSymbol(&range, device_range, sizeof range));  // waits for the kernel
  return range;
}
