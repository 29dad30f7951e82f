// SPDX-License-Identifier: MIT
// Structures that are passed by value hold the host's pointers beside the device's, and nobody
// follows the wrong ones; numbers that read like addresses stay what they are; pinned and managed
// memory, functions and constants of the program may be used.
// EXPECT-STDOUT: 3 7 9 1 1 1

#include <cstdint>
#include <cstdio>
#include <vector>

#include "../../../common/check.cuh"

typedef int (*Function)(int);
__device__ int square(int x) { return x * x; }
__device__ Function function = square;

struct Inner {
  int n;
  const int* pinned;
};
struct Both {
  const int* host;
  const int* device;
  Inner inner[2];
  Function call;
};
struct Numbers {
  std::uintptr_t address;
  double weight;
  int parts[6];
  bool flag : 1;
};

__global__ void run(Both both, Numbers numbers, long long* out, const int** kept) {
  out[0] = both.host != nullptr ? *both.device : 0;
  out[1] = *both.inner[1].pinned;
  out[2] = both.call(3);
  out[3] = static_cast<long long>(numbers.address);
  out[4] = numbers.parts[1];
  *kept = both.host;
}

int main() {
  std::vector<int> values(1, 3);
  int *d_values, *pinned;
  long long *d_out, out[5];
  const int **d_kept, *kept;
  CUDA_CHECK(cudaMalloc(&d_values, sizeof(int)));
  CUDA_CHECK(cudaMalloc(&d_out, sizeof(out)));
  CUDA_CHECK(cudaMalloc(&d_kept, sizeof(kept)));
  CUDA_CHECK(cudaMallocHost(&pinned, sizeof(int)));
  CUDA_CHECK(cudaMemcpy(d_values, values.data(), sizeof(int), cudaMemcpyHostToDevice));
  *pinned = 7;
  const auto address = reinterpret_cast<std::uintptr_t>(values.data());
  Both both{values.data(), d_values, {{1, nullptr}, {2, pinned}}, nullptr};
  CUDA_CHECK(cudaMemcpyFromSymbol(&both.call, function, sizeof(Function)));
  Numbers numbers{address, 0.5, {}, true};
  numbers.parts[0] = static_cast<int>(address);
  numbers.parts[1] = static_cast<int>(address >> 32);
  run<<<1, 1>>>(both, numbers, d_out, d_kept);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(&kept, d_kept, sizeof(kept), cudaMemcpyDeviceToHost));
  std::printf("%lld %lld %lld %d %d %d\n", out[0], out[1], out[2],
              out[3] == static_cast<long long>(address), out[4] == numbers.parts[1],
              kept == values.data());
  CUDA_CHECK(cudaFree(d_values));
  CUDA_CHECK(cudaFree(d_out));
  CUDA_CHECK(cudaFree(d_kept));
  CUDA_CHECK(cudaFreeHost(pinned));
}
