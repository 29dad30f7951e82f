// SPDX-License-Identifier: MIT
// Host code uses memory that it may not use.
//
// CASE: host_reads_device
// The host follows a device pointer.
// EXPECT-STATUS: 1
// EXPECT: {file}:{read}: error: host code read device memory
// EXPECT: the address is byte 12 of an allocation of 16 elements of 4 bytes
// EXPECT: {file}:{host_reads_device_alloc}: note: allocated here by cudaMalloc
// EXPECT: help: a device pointer means nothing on the host; copy with cudaMemcpy
//
// CASE: host_writes_device
// A library's function writes device memory: memcpy instead of cudaMemcpy.
// EXPECT-STATUS: 1
// EXPECT: {file}:{copy}: error: host code wrote device memory
//
// CASE: host_prints_device_string
// printf follows the pointer: the library's code faults, but the report names the program's line.
// EXPECT-STATUS: 1
// EXPECT: {file}:{print}: error: host code read device memory
//
// CASE: pinned_overrun
// The host runs past the end of pinned memory.
// EXPECT-STATUS: 1
// EXPECT: {file}:{write}: error: out-of-bounds write by host code
// EXPECT: the address is right after the end of pinned host memory (1024 elements of 4 bytes)
// EXPECT: {file}:{pinned_overrun_alloc}: note: allocated here by cudaMallocHost

#include <cstdio>
#include <cstring>
#include <vector>

#include "../../../common/check.cuh"
#include "cases.cuh"

namespace host_reads_device {

int program() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 16 * sizeof(int)));  // @host_reads_device_alloc
  CUDA_CHECK(cudaMemset(x, 0, 16 * sizeof(int)));
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("%d\n", x[3]);  // @read
  return 0;
}

}  // namespace host_reads_device

namespace host_writes_device {

int program() {
  std::vector<int> h_x(100000, 1);
  int* x;
  CUDA_CHECK(cudaMalloc(&x, h_x.size() * sizeof(int)));
  std::memcpy(x, h_x.data(), h_x.size() * sizeof(int));  // @copy
  return 0;
}

}  // namespace host_writes_device

namespace host_prints_device_string {

int program() {
  char* text;
  CUDA_CHECK(cudaMalloc(&text, 64));
  CUDA_CHECK(cudaMemset(text, 0, 64));
  std::printf("[%s]\n", text);  // @print
  return 0;
}

}  // namespace host_prints_device_string

namespace pinned_overrun {

int program() {
  const int n = 1024;
  int* x;
  CUDA_CHECK(cudaMallocHost(&x, n * sizeof(int)));  // @pinned_overrun_alloc
  for (volatile int i = 0; i <= n; i = i + 1) {
    x[i] = 0;  // @write
  }
  return 0;
}

}  // namespace pinned_overrun

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {
                      {"host_reads_device", host_reads_device::program},
                      {"host_writes_device", host_writes_device::program},
                      {"host_prints_device_string", host_prints_device_string::program},
                      {"pinned_overrun", pinned_overrun::program},
                  });
}
