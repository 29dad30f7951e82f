// SPDX-License-Identifier: MIT
// The first thread of each block adds to one sum without an atomic. Blocks come one after the other
// here, so the result is right; ThreadSanitizer knows that nothing orders them.
// BUILD: cpu-tsan
// RUN: TSAN_OPTIONS=exitcode=66
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{add}

__global__ void add_block_numbers(int* sum) {
  __shared__ int number;
  if (threadIdx.x == 0) number = blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) *sum += number;  // @add
}

int main() {
  int* d_sum = nullptr;
  cudaMalloc(&d_sum, sizeof(int));
  cudaMemset(d_sum, 0, sizeof(int));
  add_block_numbers<<<3, 64>>>(d_sum);
  const bool good = cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(d_sum);
  return good ? 0 : 1;
}
