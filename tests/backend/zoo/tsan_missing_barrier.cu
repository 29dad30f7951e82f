// SPDX-License-Identifier: MIT
// A tree reduction lacks the barrier in its loop. The order of the schedule may hide it;
// ThreadSanitizer, which sees every CUDA thread as a thread, does not.
// BUILD: cpu-tsan
// RUN: TSAN_OPTIONS=exitcode=66
// EXPECT-STATUS: 66
// EXPECT: WARNING: ThreadSanitizer: data race
// EXPECT: {file}:{step}

__global__ void sum_tree(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (unsigned half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];  // @step
  }
  if (threadIdx.x == 0) x[0] = s[0];
}

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 64 * sizeof(int));
  cudaMemset(d_x, 0, 64 * sizeof(int));
  sum_tree<<<1, 64>>>(d_x);
  const bool good = cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(d_x);
  return good ? 0 : 1;
}
