// SPDX-License-Identifier: MIT
// Nothing to report: volatile words in which each thread counts, or one block after the other,
// constants that kernels read, memory that another stream frees after an event. One thread that
// reads for longer than the timeout makes progress all the while. Right twins of plain races are in
// tests/xray/races.test.cu.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_TIMEOUT=0.3
// EXPECT-STDOUT: turns 4
#include <cstdio>

// One block after the other, each with a word for each thread.
__global__ void take_turns(volatile int* turn, volatile int* own) {
  volatile int* const mine = own + 32 * blockIdx.x + threadIdx.x;
  *mine = *mine + 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  while (*turn != static_cast<int>(blockIdx.x)) {
  }
  __threadfence();
  *turn = *turn + 1;
}

__constant__ int table[2];
__device__ int written;  // near the constants

__global__ void read_table(int* x) {
  x[threadIdx.x] = table[threadIdx.x % 2];
  if (threadIdx.x == 0) written = 1;
}

__global__ void read_all(const volatile int* x, int n, int* sum) {
  int mine = 0;
  for (int i = 0; i < n; ++i) mine += x[i];
  *sum = mine;
}

void read_for_long() {
  constexpr int kWords = 4 << 20;
  int *x = nullptr, sum = 0;
  cudaMalloc(&x, (kWords + 1) * sizeof(int));
  cudaMemset(x, 0, (kWords + 1) * sizeof(int));
  read_all<<<1, 1>>>(x, kWords, x + kWords);
  cudaMemcpy(&sum, x + kWords, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
}

void free_after_event() {
  cudaStream_t user, other;
  cudaStreamCreate(&user);
  cudaStreamCreate(&other);
  cudaEvent_t is_read;
  cudaEventCreate(&is_read);
  int *x = nullptr, *y = nullptr;
  cudaMallocAsync(&x, 32 * sizeof(int), user);
  cudaMallocAsync(&y, 32 * sizeof(int), user);
  read_table<<<1, 32, 0, user>>>(x);
  read_table<<<1, 32, 0, user>>>(y);
  cudaEventRecord(is_read, user);
  cudaFreeAsync(y, user);
  cudaStreamWaitEvent(other, is_read, 0);
  cudaFreeAsync(x, other);
  cudaDeviceSynchronize();
  cudaEventDestroy(is_read);
  cudaStreamDestroy(user);
  cudaStreamDestroy(other);
}

int main() {
  free_after_event();
  read_for_long();
  int *d_words = nullptr, turns = 0;
  cudaMalloc(&d_words, 129 * sizeof(int));
  cudaMemset(d_words, 0, 129 * sizeof(int));
  take_turns<<<4, 32>>>(d_words, d_words + 1);
  cudaMemcpy(&turns, d_words, sizeof turns, cudaMemcpyDeviceToHost);
  cudaFree(d_words);
  std::printf("turns %d\n", turns);
}
