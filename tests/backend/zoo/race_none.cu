// SPDX-License-Identifier: MIT
// The right twins of race_sum.cu, and of its cure without atomics: nothing to report. Nor is there
// of a volatile flag between blocks that is polled before it is raised, with fences, of volatile
// words in which each thread counts, or one block after the other, of an object with virtual
// functions in shared memory, of constants that kernels read, nor of memory that another stream
// frees after an event. One thread that reads for longer than the timeout makes progress all the
// while. CI builds it with clang++ as well, of which this is the only program.
// BUILD: cpu-xray
// RUN: CUDA_CPU_RACES=1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_SCHEDULE=random:1
// RUN: CUDA_CPU_RACES=1 CUDA_CPU_TIMEOUT=0.3
// EXPECT-STDOUT: sums 64 64, handed over 5, twice 42, turns 4
#include <cstdio>
#include <new>

__global__ void count_threads(int* sums) {
  __shared__ int ones[64];
  atomicAdd(&sums[0], 1);
  ones[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int one : ones) sums[1] += one;
  }
}

__device__ volatile int flag;

__global__ void hand_over(volatile int* data, int* received) {
  if (blockIdx.x == gridDim.x - 1) {
    *data = 5;
    __threadfence();
    flag = 1;
  } else if (blockIdx.x == 0) {
    while (flag == 0) {
    }
    __threadfence();
    *received = *data;
  }
}

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

struct Number {
  int value;
  __device__ explicit Number(int v) : value(v) {}
  __device__ virtual int get() const { return value; }
};
struct Twice : Number {
  __device__ explicit Twice(int v) : Number(v) {}
  __device__ int get() const override { return 2 * value; }
};

__global__ void call_virtual(int* result) {
  __shared__ alignas(Twice) char room[sizeof(Twice)];
  if (threadIdx.x == 0) new (room) Twice(21);
  __syncthreads();
  result[threadIdx.x] = reinterpret_cast<const Number*>(room)->get();
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
  int *d_sums = nullptr, *d_words = nullptr, sums[2] = {0, 0}, words[163] = {};
  cudaMalloc(&d_words, sizeof(words));
  hand_over<<<4, 1>>>(d_words, d_words + 1);
  call_virtual<<<1, 32>>>(d_words + 2);
  cudaMemset(d_words + 34, 0, 129 * sizeof(int));
  take_turns<<<4, 32>>>(d_words + 34, d_words + 35);
  cudaMemcpy(words, d_words, sizeof(words), cudaMemcpyDeviceToHost);
  cudaFree(d_words);
  cudaMalloc(&d_sums, sizeof(sums));
  cudaMemset(d_sums, 0, sizeof(sums));
  count_threads<<<1, 64>>>(d_sums);
  cudaMemcpy(sums, d_sums, sizeof(sums), cudaMemcpyDeviceToHost);
  cudaFree(d_sums);
  std::printf("sums %d %d, handed over %d, twice %d, turns %d\n", sums[0], sums[1], words[1],
              words[33], words[34]);
}
