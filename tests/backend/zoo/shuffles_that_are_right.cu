// SPDX-License-Identifier: MIT
// A value that is undefined may be read and thrown away, or end in a lane whose sum nobody reads:
// trees in 16 lanes and in 20, one after the other, and a scan of the upper half.
// EXPECT-STDOUT: 120 120 190 31 376

#include <cstdio>

#include "../../../common/check.cuh"

__global__ void trees(int* out) {
  const unsigned lane = threadIdx.x;
  if (lane < 16) {
    for (int turn = 0; turn < 2; ++turn) {
      int v = static_cast<int>(lane);
      for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0x0000ffffu, v, d);
      if (lane == 0) out[turn] = v;
    }
  }
  if (lane < 20) {
    int v = static_cast<int>(lane);
    for (unsigned d = 16; d > 0; d /= 2) {
      const int other = __shfl_down_sync(0x000fffffu, v, d);
      if (lane + d < 20) v += other;
    }
    if (lane == 0) out[2] = v;
  }
  if (lane >= 16) {
    int v = static_cast<int>(lane);
    const int last = __shfl_sync(0xffff0000u, v, 31);
    for (unsigned d = 1; d < 16; d *= 2) {
      const int other = __shfl_up_sync(0xffff0000u, v, d);
      if (lane % 16 >= d) v += other;
    }
    if (lane == 31) out[3] = last, out[4] = v;
  }
}

int main() {
  int out[5] = {};
  int* d_out;
  CUDA_CHECK(cudaMalloc(&d_out, sizeof(out)));
  trees<<<1, 32>>>(d_out);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  std::printf("%d %d %d %d %d\n", out[0], out[1], out[2], out[3], out[4]);
  CUDA_CHECK(cudaFree(d_out));
}
