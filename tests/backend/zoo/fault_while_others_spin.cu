// SPDX-License-Identifier: MIT
// One block faults, and another waits for ever for the result. The report must not wait for the
// watchdog.
// RUN: CUDA_CPU_WORKERS=2 CUDA_CPU_TIMEOUT=50
// RUN: CUDA_CPU_WORKERS=2 CUDA_CPU_TIMEOUT=50 CUDA_CPU_SCHEDULE=reverse
// EXPECT: {file}:{write}: error: out-of-bounds write in kernel 'hand_over', block (1,0,0), thread (0,0,0)

__global__ void hand_over(volatile int* x, int n) {
  if (blockIdx.x == 0) {
    while (x[0] != 1) {
    }
  } else {
    x[n] = 1;  // @write
    x[0] = 1;
  }
}

int main() {
  constexpr int n = 1024;
  int* d_x = nullptr;
  cudaMalloc(&d_x, n * sizeof(int));
  hand_over<<<2, 1>>>(d_x, n);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
