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
  int before = 0;
  CUDA_CHECK(cudaGetDevice(&before));
  for (std::size_t r = 0; r < devices.size(); ++r) {
    const std::size_t each = n / devices.size(), longer = n % devices.size();
    Part& part = parts[r];
    part = {devices[r], r * each + std::min(r, longer), each + (r < longer), nullptr};
    if (part.count == 0) continue;
    const std::size_t bytes = part.count * sizeof(int);
    CUDA_CHECK(cudaSetDevice(part.device));
    CUDA_CHECK(cudaMalloc(&part.x, bytes));
    CUDA_CHECK(cudaMemcpyPeer(part.x, part.device, d_x + part.first, devices[0], bytes));
  }
  CUDA_CHECK(cudaSetDevice(before));
  return parts;
}

void scale(const std::vector<Part>& parts, int factor) {
  int before = 0;
  CUDA_CHECK(cudaGetDevice(&before));
  for (const Part& part : parts) {
    if (part.count == 0) continue;
    CUDA_CHECK(cudaSetDevice(part.device));
    scale_each<<<blocks_for(part.count, 256), 256>>>(part.x, part.count, factor);
    CUDA_CHECK_LAUNCH();
  }
  CUDA_CHECK(cudaSetDevice(before));
}

void gather(const std::vector<Part>& parts, int* d_x) {
  for (const Part& part : parts) {
    if (part.count == 0) continue;
    const std::size_t bytes = part.count * sizeof(int);
    CUDA_CHECK(cudaMemcpyPeer(d_x + part.first, parts[0].device, part.x, part.device, bytes));
    CUDA_CHECK(cudaFree(part.x));
  }
}
