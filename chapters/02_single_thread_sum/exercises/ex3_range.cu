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
  // TODO: find the smallest and the largest element, leave them in device_range.
  (void)x, (void)n;  // not used yet
  // end of TODO
}

// d_x: n ints in device memory.
Range range_on_device(const int* d_x, std::size_t n) {
  Range range = {0, 0};
  // TODO: launch one thread, check the launch, copy device_range to range.
  (void)d_x, (void)n;  // not used yet
  // end of TODO
  return range;
}
