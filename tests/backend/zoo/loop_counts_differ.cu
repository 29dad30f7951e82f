// SPDX-License-Identifier: MIT
// A barrier stands in a loop that some threads leave sooner: they wait at the next one.
// EXPECT: {file}:{behind}: error: threads of one block wait at different barriers in kernel 'uneven_loop', block (0,0,0), thread (0,0,0)
// EXPECT: {file}:{inside}: note: threads 1-3 waiting here in __syncthreads
// EXPECT: {file}:{behind}: note: thread 0 waiting here in __syncthreads

__global__ void uneven_loop(int* x) {
  for (int i = 0; i < 2 + (threadIdx.x > 0); ++i) {
    x[threadIdx.x] = i;
    __syncthreads();  // @inside
  }
  __syncthreads();  // @behind
}

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 4 * sizeof(int));
  uneven_loop<<<1, 4>>>(d_x);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
