// SPDX-License-Identifier: MIT
// The last block adds the partial sums of all. The ticket acquires and releases, but only between
// the threads of one block: thread_scope_block. The blocks need thread_scope_device.
// BUILD: cpu-tsan
// RUN: TSAN_OPTIONS=exitcode=66
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=reverse
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{write}
// EXPECT: {file}:{read}
#include <cuda/atomic>

#include <cstdio>

__global__ void sum_block_numbers(int* partial, unsigned* ticket, int* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = static_cast<int>(blockIdx.x);  // @write
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> tickets(*ticket);
    last = tickets.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];  // @read
    *sum = total;
  }
}

int main() {
  constexpr unsigned kBlocks = 8;
  int *d_partial = nullptr, sum = 0;
  unsigned* d_ticket = nullptr;
  cudaMalloc(&d_partial, (kBlocks + 1) * sizeof(int));
  cudaMalloc(&d_ticket, sizeof(unsigned));
  cudaMemset(d_ticket, 0, sizeof(unsigned));
  sum_block_numbers<<<kBlocks, 64>>>(d_partial, d_ticket, d_partial + kBlocks);
  cudaMemcpy(&sum, d_partial + kBlocks, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("sum %d\n", sum);
  cudaFree(d_partial);
  cudaFree(d_ticket);
  return sum == 28 ? 0 : 1;
}
