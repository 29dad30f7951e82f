// SPDX-License-Identifier: MIT
// The last block reads the partial sums with __ldg, which is for data that no thread writes while
// the kernel runs: on a GPU it may return what a cache held before. Here it returns the right
// values; ThreadSanitizer is told what __ldg promises, and reports the broken promise.
// BUILD: cpu-tsan
// RUN: TSAN_OPTIONS=exitcode=66
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=reverse
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{write}
// EXPECT: {file}:{read}

__global__ void sum_block_numbers(const int* x, int* partial, unsigned* ticket, int* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = __ldg(&x[blockIdx.x]);  // @write
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += __ldg(&partial[b]);  // @read
    *sum = total;
  }
}

int main() {
  constexpr unsigned kBlocks = 5;
  int *d_x = nullptr, *d_partial = nullptr;
  unsigned* d_ticket = nullptr;
  cudaMalloc(&d_x, kBlocks * sizeof(int));
  cudaMalloc(&d_partial, (kBlocks + 1) * sizeof(int));
  cudaMalloc(&d_ticket, sizeof(unsigned));
  cudaMemset(d_x, 0, kBlocks * sizeof(int));
  cudaMemset(d_ticket, 0, sizeof(unsigned));
  sum_block_numbers<<<kBlocks, 64>>>(d_x, d_partial, d_ticket, d_partial + kBlocks);
  const bool good = cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(d_x);
  cudaFree(d_partial);
  cudaFree(d_ticket);
  return good ? 0 : 1;
}
