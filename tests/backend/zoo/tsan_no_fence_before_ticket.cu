// SPDX-License-Identifier: MIT
// The last block adds the partial sums of all. No fence stands between a partial sum and the
// ticket, so a block that sees the ticket need not see the partial sum. The blocks of this run came
// one after the other and the result is right; ThreadSanitizer, which is told what fences and
// atomics order, knows better.
// BUILD: cpu-tsan
// RUN: TSAN_OPTIONS=exitcode=66
// RUN: TSAN_OPTIONS=exitcode=66 CUDA_CPU_SCHEDULE=reverse
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{write}
// EXPECT: {file}:{read}

__global__ void sum_block_numbers(int* partial, unsigned* ticket, int* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = static_cast<int>(blockIdx.x);  // @write
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];  // @read
    *sum = total;
  }
}

int main() {
  constexpr unsigned kBlocks = 5;
  int* d_partial = nullptr;
  unsigned* d_ticket = nullptr;
  cudaMalloc(&d_partial, (kBlocks + 1) * sizeof(int));
  cudaMalloc(&d_ticket, sizeof(unsigned));
  cudaMemset(d_ticket, 0, sizeof(unsigned));
  sum_block_numbers<<<kBlocks, 64>>>(d_partial, d_ticket, d_partial + kBlocks);
  const bool good = cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(d_partial);
  cudaFree(d_ticket);
  return good ? 0 : 1;
}
