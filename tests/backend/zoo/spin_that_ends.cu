// SPDX-License-Identifier: MIT
// No bug: a volatile flag of another thread and of another block, and a hand-made barrier of the
// grid; blocks that poll, with barriers or warp votes in the loop, for the block before (all fit on
// one multiprocessor, so they are promised to get on); a host that waits for a callback and for a
// word of mapped memory. All of it spins, and all of it must come to an end under every schedule.
// RUN: CUDA_CPU_SCHEDULE=forward
// RUN: CUDA_CPU_SCHEDULE=reverse
// RUN: CUDA_CPU_SCHEDULE=random:3
// RUN: CUDA_CPU_SCHEDULE=forward CUDA_CPU_WORKERS=1
// RUN: CUDA_CPU_SCHEDULE=reverse CUDA_CPU_WORKERS=1
// EXPECT-STDOUT: seen 7 7, behind the barrier 16
// EXPECT-STDOUT: relayed 8 8
// EXPECT-STDOUT: the host has heard
#include <cstdio>

// Nothing in these loops is a call.
__global__ void spin_on_volatile(volatile int* flags, int* seen) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    while (flags[0] == 0)
      ;
    seen[0] = flags[0];
    for (;;) {
      if (flags[1] != 0) break;
    }
    seen[1] = flags[1];
  }
  if (blockIdx.x == 0 && threadIdx.x == 40) flags[0] = 7;
  if (blockIdx.x == gridDim.x - 1) flags[1] = 7;
}

__device__ int arrived;
__device__ volatile int generation;

__device__ void meet_the_grid() {
  __syncthreads();
  if (threadIdx.x == 0) {
    const int before = generation;
    __threadfence();
    if (atomicAdd(&arrived, 1) == static_cast<int>(gridDim.x) - 1) {
      arrived = 0;
      __threadfence();
      generation = before + 1;
    } else {
      do {
      } while (generation == before);
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void add_all_blocks(int* x, int* sum) {
  if (threadIdx.x == 0) x[blockIdx.x] = 1;
  meet_the_grid();
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  for (unsigned i = 0; i < gridDim.x; ++i) *sum += x[i];
}

__device__ int by_barrier[9], by_vote[9];

__global__ void relay() {
  const int b = blockIdx.x;
  if (b == 0 && threadIdx.x == 0) by_barrier[0] = by_vote[0] = 1;
  int value = 0;
  while (__syncthreads_or(value != 0) == 0) {
    if (threadIdx.x == 0) value = atomicAdd(&by_barrier[b], 0);
  }
  if (threadIdx.x == 0) atomicAdd(&by_barrier[b + 1], value + (b < 7 ? 1 : 0));
  value = 0;
  while (__any_sync(0xffffffffu, value != 0) == 0) {
    value = atomicAdd(&by_vote[b], 0);
  }
  value = atomicAdd(&by_vote[b], 0);  // the lane that saw it first may have been another one
  if (threadIdx.x == 0) atomicAdd(&by_vote[b + 1], value + (b < 7 ? 1 : 0));
}

__global__ void raise(volatile int* word) { *word = 1; }

volatile bool called = false;
void call_back(void*) { called = true; }

bool spin_on_the_host() {
  int *word = nullptr, *d_word = nullptr;
  if (cudaHostAlloc(&word, sizeof(int), cudaHostAllocMapped) != cudaSuccess) return false;
  *word = 0;
  cudaHostGetDevicePointer(&d_word, word, 0);
  cudaLaunchHostFunc(nullptr, call_back, nullptr);
  while (!called) {
  }
  raise<<<1, 1>>>(d_word);
  const volatile int* const polled = word;
  while (*polled == 0) {
  }
  return cudaDeviceSynchronize() == cudaSuccess && cudaFreeHost(word) == cudaSuccess;
}

int main() {
  int *flags = nullptr, *x = nullptr, results[3] = {};
  cudaMalloc(&flags, 5 * sizeof(int));
  cudaMalloc(&x, 16 * sizeof(int));
  cudaMemset(flags, 0, 5 * sizeof(int));
  spin_on_volatile<<<8, 64>>>(flags, flags + 2);
  add_all_blocks<<<16, 64>>>(x, flags + 4);
  cudaMemcpy(results, flags + 2, sizeof results, cudaMemcpyDeviceToHost);
  std::printf("seen %d %d, behind the barrier %d\n", results[0], results[1], results[2]);
  cudaFree(flags);
  cudaFree(x);

  relay<<<8, 64>>>();
  int barrier[9] = {}, vote[9] = {};
  cudaMemcpyFromSymbol(barrier, by_barrier, sizeof(barrier));
  cudaMemcpyFromSymbol(vote, by_vote, sizeof(vote));
  std::printf("relayed %d %d\n", barrier[8], vote[8]);
  if (spin_on_the_host()) std::printf("the host has heard\n");
  return 0;
}
