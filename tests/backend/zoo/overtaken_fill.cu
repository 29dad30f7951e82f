// SPDX-License-Identifier: MIT
// A fill in the default stream, then a kernel in a stream of its own. A blocking stream waits for
// the fill. A non-blocking one does not: the fill comes last and wipes the result out.
// EXPECT-STATUS: 0
// EXPECT-STDOUT: blocking stream: 7
// EXPECT-STDOUT: non-blocking stream: -1

#include <cstdio>

#include "../../../common/check.cuh"

__global__ void produce(int* x) { *x = 7; }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, sizeof(int)));
  for (const unsigned flags : {cudaStreamDefault, cudaStreamNonBlocking}) {
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, flags));
    CUDA_CHECK(cudaMemset(x, 0xff, sizeof(int)));  // on the device: the call does not wait for it
    produce<<<1, 1, 0, stream>>>(x);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaStreamSynchronize(stream));
    int result;
    CUDA_CHECK(cudaMemcpy(&result, x, sizeof(int), cudaMemcpyDeviceToHost));
    std::printf("%s stream: %d\n", flags == cudaStreamDefault ? "blocking" : "non-blocking",
                result);
    CUDA_CHECK(cudaStreamDestroy(stream));
  }
  CUDA_CHECK(cudaFree(x));
}
