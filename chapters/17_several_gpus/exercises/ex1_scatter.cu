// SPDX-License-Identifier: MIT
// Exercise 1 of chapter 17, write the code: a vector on several devices.
//
// scatter() cuts the n elements at d_x, memory of the first device, into a part for each device and
// copies each to memory that it allocates on that device. scale() multiplies them, by one launch on
// each device that has elements. gather() copies all parts back to d_x and frees their memory.
// Elements are copied from device to device, each of them once. Whichever device was current is
// current afterwards.
// Check it: make lab CH=17 EX=1      A hint: make hint CH=17 EX=1
#include "common/common.cuh"

struct Part {
  int device;
  std::size_t first, count;  // of the n elements
  int* x;                    // `count` elements in memory of the device
};

__global__ void scale_each(int* x, std::size_t n, int factor) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

// The parts follow each other, in the order of the devices. No part is more than one element longer
// than another, and the longer ones are first.
std::vector<Part> scatter(const std::vector<int>& devices, const int* d_x, std::size_t n) {
  std::vector<Part> parts(devices.size());
  // TODO: a part for each device, in memory of that device
  (void)d_x, (void)n;
  // end of TODO
  return parts;
}

void scale(const std::vector<Part>& parts, int factor) {
  // TODO: each device multiplies its part
  (void)parts, (void)factor;
  // end of TODO
}

void gather(const std::vector<Part>& parts, int* d_x) {
  // TODO: back to the first device
  (void)parts, (void)d_x;
  // end of TODO
}
