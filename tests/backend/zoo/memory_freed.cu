// SPDX-License-Identifier: MIT
// Freed at the end, by hand or by an object that outlives main; and pinned memory, which is not the
// device's. Or all is wanted so: CUDA_CPU_LEAKS=ignore.
// EXPECT-STDOUT: done
// RUN: KEEP=0
// RUN: KEEP=1 CUDA_CPU_LEAKS=ignore

#include <cstdio>
#include <cstdlib>

#include "../../../common/check.cuh"

struct Owner {
  int* d_x = nullptr;
  ~Owner() { cudaFree(d_x); }
};
Owner owner;

int main() {
  float *d_x, *pinned;
  CUDA_CHECK(cudaMalloc(&owner.d_x, 400));
  CUDA_CHECK(cudaMalloc(&d_x, 400));
  CUDA_CHECK(cudaMallocHost(&pinned, 400));
  if (std::getenv("KEEP")[0] == '0') CUDA_CHECK(cudaFree(d_x));
  std::printf("done\n");
}
