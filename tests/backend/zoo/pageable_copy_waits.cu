// SPDX-License-Identifier: MIT
// An asynchronous copy to pageable memory is not asynchronous: the call comes back when all before
// it in the stream has run and the bytes are there. To pinned memory it comes back at once.
// EXPECT-STATUS: 0
// EXPECT-STDOUT: after the call, pinned: -1, the stream is busy
// EXPECT-STDOUT: after the call, pageable: 7, the stream is idle

#include <cstdio>

#include "../../../common/check.cuh"

__global__ void take_your_time(int* x) {
  int v = 1;
  for (int i = 0; i < 20000000; ++i) v = v * 3 + i;
  *x = v == 0 ? 8 : 7;  // the loop's result is used, so it cannot be left out
}

void copy(int* result, int* d_x, const char* kind) {
  take_your_time<<<1, 1>>>(d_x);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpyAsync(result, d_x, sizeof(int), cudaMemcpyDeviceToHost));
  const int seen = *result;
  const bool busy = cudaStreamQuery(nullptr) == cudaErrorNotReady;
  cudaGetLastError();  // "not ready" counts as an error; asking clears it
  std::printf("after the call, %s: %d, the stream is %s\n", kind, seen, busy ? "busy" : "idle");
  CUDA_CHECK(cudaDeviceSynchronize());
}

int main() {
  int pageable = -1, *pinned, *d_x;
  CUDA_CHECK(cudaMallocHost(&pinned, sizeof(int)));
  CUDA_CHECK(cudaMalloc(&d_x, sizeof(int)));
  *pinned = -1;
  copy(pinned, d_x, "pinned");
  copy(&pageable, d_x, "pageable");
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFreeHost(pinned));
}
