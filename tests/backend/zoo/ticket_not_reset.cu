// SPDX-License-Identifier: MIT
// The last block is the one that draws the last ticket, but nobody puts the counter back. The first
// launch is right; in the second no block is the last one, and the result does not change.
// EXPECT-STATUS: 1
// EXPECT: launch 2: expected 10, got -1
// EXPECT-NOT: launch 1
#include <cstdio>

__global__ void sum_block_numbers(int* partial, unsigned* ticket, int* sum) {
  partial[blockIdx.x] = static_cast<int>(blockIdx.x);
  __threadfence();
  const bool last = atomicAdd(ticket, 1u) == gridDim.x - 1;  // atomicInc would wrap to 0
  __threadfence();
  if (!last) return;
  int total = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
  *sum = total;
}

int main() {
  constexpr int kBlocks = 5;
  int* d_partial = nullptr;
  unsigned* d_ticket = nullptr;
  cudaMalloc(&d_partial, (kBlocks + 1) * sizeof(int));
  cudaMalloc(&d_ticket, sizeof(unsigned));
  cudaMemset(d_ticket, 0, sizeof(unsigned));
  bool good = true;
  for (int launch = 1; launch <= 2; ++launch) {
    int sum = 0;
    cudaMemset(d_partial, 0xff, (kBlocks + 1) * sizeof(int));  // poison: an old result is no result
    sum_block_numbers<<<kBlocks, 1>>>(d_partial, d_ticket, d_partial + kBlocks);
    cudaMemcpy(&sum, d_partial + kBlocks, sizeof(int), cudaMemcpyDeviceToHost);
    if (sum != 10) std::fprintf(stderr, "launch %d: expected 10, got %d\n", launch, sum);
    good = good && sum == 10;
  }
  cudaFree(d_partial);
  cudaFree(d_ticket);
  return good ? 0 : 1;
}
