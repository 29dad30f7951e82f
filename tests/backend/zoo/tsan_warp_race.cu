// SPDX-License-Identifier: MIT
// Lanes exchange values through shared memory, with a shuffle between write and read. A shuffle
// waits, but it orders no memory accesses. __syncwarp does.
// BUILD: cpu-tsan
// RUN: TSAN_OPTIONS=exitcode=66
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{read}

__global__ void swap_neighbours(int* x) {
  __shared__ int s[32];
  const int i = threadIdx.x;
  s[i] = x[i];
  const int lane = __shfl_sync(0xffffffffu, i ^ 1, i);
  x[i] = s[lane];  // @read
}

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaMemset(d_x, 0, 32 * sizeof(int));
  swap_neighbours<<<1, 32>>>(d_x);
  const bool good = cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(d_x);
  return good ? 0 : 1;
}
