// SPDX-License-Identifier: MIT
// Nobody gives the lock back: all but one thread spin for ever on the compare-and-swap.
// RUN: CUDA_CPU_TIMEOUT=0.5
// EXPECT: {file}:{spin}: error: no progress for 0.5 s in kernel 'take_lock', block (0,0,0)
// EXPECT: {file}:{spin}: note: threads 1-7 spinning here
// EXPECT: {file}:{end}: note: thread 0 left the kernel here

__global__ void take_lock(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {  // @spin
  }
  *count += 1;
}  // @end

int main() {
  int* d_lock = nullptr;
  cudaMalloc(&d_lock, 2 * sizeof(int));
  cudaMemset(d_lock, 0, 2 * sizeof(int));
  take_lock<<<1, 8>>>(d_lock, d_lock + 1);
  cudaDeviceSynchronize();
  cudaFree(d_lock);
  return 0;
}
