// SPDX-License-Identifier: MIT
// A macro stands for a barrier and is used in both branches. Votes are barriers too.
// EXPECT: {file}:{both}: error: threads of one block wait at different barriers in kernel 'two_votes', block (0,0,0), thread (0,0,0)
// EXPECT: they stand on one line of the source, and are two barriers
// EXPECT: {file}:{both}: note: threads 0-31 waiting here in __syncthreads
// EXPECT: {file}:{both}: note: threads 32-63 waiting here in __syncthreads

#define VOTE(x) __syncthreads_count(x)

__global__ void two_votes(int* count) {
  *count = threadIdx.x < 32 ? VOTE(1) : VOTE(0);  // @both
}

int main() {
  int* d_count = nullptr;
  cudaMalloc(&d_count, sizeof(int));
  two_votes<<<1, 64>>>(d_count);
  cudaDeviceSynchronize();
  cudaFree(d_count);
  return 0;
}
