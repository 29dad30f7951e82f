// SPDX-License-Identifier: MIT
// CUDA_CPU_RACES=1 for a program whose accesses nobody hears of says so; it does not find nothing.
// RUN: CUDA_CPU_RACES=1
// EXPECT: CUDA CPU backend: CUDA_CPU_RACES=1: this program is not built to look for races
// EXPECT-NOT: error: race

__global__ void nothing() {}

int main() {
  nothing<<<1, 1>>>();
  return cudaDeviceSynchronize();
}
