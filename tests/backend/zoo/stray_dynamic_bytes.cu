// SPDX-License-Identifier: MIT
// An array with a slot per block where each thread needs one. The launch asks for dynamic bytes
// that the kernel does not use: on a GPU they lie behind the array, take the overrun, and hide it.
// EXPECT: {file}:{write}: error: out-of-bounds write in kernel 'sum_of_block', block (0,0,0), thread (8,0,0)
// EXPECT: the end of the __shared__ array 'partial' (64 bytes)
// EXPECT: {file}:{array}: note: declared here

constexpr unsigned kBlocks = 8, kThreads = 64;

__global__ void sum_of_block(long long* sums) {
  __shared__ long long partial[kBlocks];  // @array
  partial[threadIdx.x] = threadIdx.x;     // @write
  __syncthreads();
  if (threadIdx.x == 0) {
    long long sum = 0;
    for (unsigned k = 0; k < kThreads; ++k) sum += partial[k];
    sums[blockIdx.x] = sum;
  }
}

int main() {
  long long* d_sums = nullptr;
  cudaMalloc(&d_sums, kBlocks * sizeof(long long));
  sum_of_block<<<1, kThreads, kThreads * sizeof(long long)>>>(d_sums);
  cudaDeviceSynchronize();
  cudaFree(d_sums);
  return 0;
}
