// SPDX-License-Identifier: MIT
// A structure holds the host's pointer beside the device's, and comes back: nobody follows the
// wrong one. A table of functions and a table of device pointers hold no pointers to the host.
// EXPECT-STDOUT: 2.0 1 9 1

#include <cstdio>
#include <vector>

#include "../../../common/check.cuh"

struct Both {
  float* host;
  float* device;
};
typedef int (*Function)(int);
__device__ int square(int x) { return x * x; }
__device__ Function function = square;

struct Work {
  Function f;
  const char* name;
};

__global__ void run(Both* both, float** table, const Work* work, float* out) {
  if (both->host != nullptr && table[0] == both->device) out[0] = 2 * *both->device;
  out[1] = static_cast<float>(work->f(3));
}

int main() {
  std::vector<float> values(1, 1.0f);
  float *d_values, *d_out, out[2];
  CUDA_CHECK(cudaMalloc(&d_values, sizeof(float)));
  CUDA_CHECK(cudaMalloc(&d_out, sizeof(out)));
  CUDA_CHECK(cudaMemcpy(d_values, values.data(), sizeof(float), cudaMemcpyHostToDevice));
  const Both both{values.data(), d_values};
  Both *d_both, back;
  CUDA_CHECK(cudaMalloc(&d_both, sizeof(both)));
  CUDA_CHECK(cudaMemcpy(d_both, &both, sizeof(both), cudaMemcpyHostToDevice));
  float* table[2] = {d_values, nullptr};
  float** d_table;
  CUDA_CHECK(cudaMalloc(&d_table, sizeof(table)));
  CUDA_CHECK(cudaMemcpy(d_table, table, sizeof(table), cudaMemcpyHostToDevice));
  Work work{nullptr, "a literal"};
  CUDA_CHECK(cudaMemcpyFromSymbol(&work.f, function, sizeof(Function)));
  Work* d_work;
  CUDA_CHECK(cudaMalloc(&d_work, sizeof(work)));
  CUDA_CHECK(cudaMemcpy(d_work, &work, sizeof(work), cudaMemcpyHostToDevice));
  run<<<1, 1>>>(d_both, d_table, d_work, d_out);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(&back, d_both, sizeof(back), cudaMemcpyDeviceToHost));
  std::printf("%.1f %d %g %d\n", static_cast<double>(out[0]), back.host == both.host,
              static_cast<double>(out[1]), back.device == both.device);
  for (void* pointer :
       {(void*)d_values, (void*)d_out, (void*)d_both, (void*)d_table, (void*)d_work}) {
    CUDA_CHECK(cudaFree(pointer));
  }
}
