// SPDX-License-Identifier: MIT
// Casts that are right: aligned, not followed, undone, or copied with memcpy. Products and sizes
// look like casts to a reader in a hurry.
// EXPECT-STDOUT: 7 7 1 21 12 3 1 4

#include <cstdint>
#include <cstdio>

#include "../../../common/check.cuh"

struct Pair {
  int a, b;
};

__device__ int first(const int* p) { return *p; }

__global__ void look(char* bytes, int* out, int n) {
  *reinterpret_cast<int*>(bytes + 4) = 7;
  out[0] = *(int*)(bytes + 4);
  out[1] = ((Pair*)bytes)->b;
  auto* const wide = reinterpret_cast<const float4*>(bytes + 4);  // may be misaligned
  if (reinterpret_cast<std::uintptr_t>(wide) % 16 == 0) out[2] = static_cast<int>(wide->x);
  out[2] = *reinterpret_cast<const char*>(wide) == 7 && *(const short*)wide == 7;
  int unpacked;
  bytes[9] = 21, bytes[10] = bytes[11] = bytes[12] = 0;
  memcpy(&unpacked, reinterpret_cast<const int*>(reinterpret_cast<const char*>(bytes) + 8) + 0, 4);
  memcpy(&unpacked, bytes + 9, 4);
  out[3] = unpacked;
  const int sizeof_sum = static_cast<int>(sizeof(int*) + sizeof(int));
  out[4] = sizeof_sum;
  out[5] = (n) * (n) / (n)*n / n;
  int& alias = reinterpret_cast<int&>(bytes[16]);
  alias = 1;
  atomicAdd((int*)(void*)&alias, 3);
  out[6] = (const char*)&alias == bytes + 16;
  out[7] = first((const int*)(std::uintptr_t)(bytes + 16));
}

int main() {
  int out[8] = {};
  char* d_bytes;
  int* d_out;
  CUDA_CHECK(cudaMalloc(&d_bytes, 256));
  CUDA_CHECK(cudaMalloc(&d_out, sizeof(out)));
  CUDA_CHECK(cudaMemset(d_bytes, 0, 256));
  look<<<1, 1>>>(d_bytes, d_out, 3);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  for (const int value : out) std::printf("%d ", value);
  std::printf("\n");
  CUDA_CHECK(cudaFree(d_bytes));
  CUDA_CHECK(cudaFree(d_out));
}
