// SPDX-License-Identifier: MIT
// The source of an asynchronous copy is filled again before the copy has run: both copies bring the
// second filling. With one buffer per copy, or a wait between, each brings its own.
// EXPECT-STATUS: 0
// EXPECT-STDOUT: pinned: 2 2
// EXPECT-STDOUT: waited: 1 2

#include <cstdio>

#include "../../../common/check.cuh"

int main() {
  int *pinned, *d_x;
  CUDA_CHECK(cudaMallocHost(&pinned, sizeof(int)));
  CUDA_CHECK(cudaMalloc(&d_x, 2 * sizeof(int)));
  for (const bool wait : {false, true}) {
    for (int k = 0; k < 2; ++k) {
      *pinned = k + 1;
      CUDA_CHECK(cudaMemcpyAsync(d_x + k, pinned, sizeof(int), cudaMemcpyHostToDevice));
      if (wait) CUDA_CHECK(cudaStreamSynchronize(nullptr));
    }
    int x[2];
    CUDA_CHECK(cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost));
    std::printf("%s: %d %d\n", wait ? "waited" : "pinned", x[0], x[1]);
  }
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFreeHost(pinned));
}
