// SPDX-License-Identifier: MIT
// A flag that is a cuda::atomic: with release and acquire it hands over what was written before,
// relaxed it hands over nothing but itself.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// EXPECT: {file}:{relaxed}: error: race: a read in kernel 'hand_over<true>'
// EXPECT: {file}:{write}: note: a write by
// EXPECT-NOT: hand_over<false>
#include <cuda_runtime.h>

#include <cuda/atomic>

template <bool kRelaxed>
__global__ void hand_over(int* data, cuda::atomic<int, cuda::thread_scope_device>* flag) {
  if (blockIdx.x == 0) {
    data[0] = 42;  // @write
    flag->store(1, kRelaxed ? cuda::memory_order_relaxed : cuda::memory_order_release);
  } else {
    flag->wait(0, kRelaxed ? cuda::memory_order_relaxed : cuda::memory_order_acquire);
    data[1] = data[0];  // @relaxed
  }
}

__device__ cuda::atomic<int, cuda::thread_scope_device> flags[2];

int main() {
  int* data;
  cuda::atomic<int, cuda::thread_scope_device>* d_flags;
  cudaMalloc(&data, 2 * sizeof(int));
  cudaGetSymbolAddress((void**)&d_flags, flags);
  hand_over<false><<<2, 1>>>(data, d_flags);
  hand_over<true><<<2, 1>>>(data, d_flags + 1);
  cudaDeviceSynchronize();
  cudaFree(data);
}
