// SPDX-License-Identifier: MIT
// The guard sends the last lanes away, but the mask still names them.
// EXPECT: {file}:{vote}: error: __ballot_sync waits for lanes that never come in kernel 'guarded_vote', block (0,0,0), thread (0,0,0)
// EXPECT: mask 0xffffffff of warp 0: missing are lanes 20-31
// EXPECT: {file}:{return}: note: threads 20-31 left the kernel here
// EXPECT: the mask must not name lanes that have left

__global__ void guarded_vote(unsigned* x, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;                        // @return
  x[i] = __ballot_sync(0xffffffffu, i % 2);  // @vote
}

int main() {
  unsigned* d_x = nullptr;
  cudaMalloc(&d_x, 20 * sizeof(unsigned));
  guarded_vote<<<1, 32>>>(d_x, 20);
  cudaDeviceSynchronize();
  cudaFree(d_x);
  return 0;
}
