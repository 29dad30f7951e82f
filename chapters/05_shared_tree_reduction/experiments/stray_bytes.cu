// SPDX-License-Identifier: MIT
// Does anything notice a shared array that is too small?
//
// Not always: bytes that a launch asks for besides can hide it.

#include "../../../common/common.cuh"
#include "squares.cuh"

constexpr unsigned kBlocks = 8, kThreads = 64;

// A bug that was published: the array has a slot per block of the launch, and a block has 64
// threads, each of which needs one.
__global__ void sum_in_eight_slots(const int* x, long long* sums) {
  __shared__ long long partial[kBlocks];  // wrong: kThreads
  partial[threadIdx.x] = static_cast<long long>(x[global_index()]) * x[global_index()];
  __syncthreads();  // thread 0 is about to read every slot
  if (threadIdx.x == 0) {
    long long sum = 0;
    for (unsigned k = 0; k < blockDim.x; ++k) sum += partial[k];
    sums[blockIdx.x] = sum;
  }
}

// Launches it with so many bytes of dynamic shared memory, which the kernel does not use. Prints
// the outcome; true if the bug showed.
bool is_noticed(std::size_t dynamic_bytes) {
  const std::vector<int> x = random_ints(kBlocks * kThreads, 0, 9, 1);
  const DeviceArray<int> d_x(x);
  const DeviceArray<long long> d_sums(kBlocks);
  std::vector<long long> sums(kBlocks, -1);
  sum_in_eight_slots<<<kBlocks, kThreads, dynamic_bytes>>>(d_x, d_sums);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess)
    status = cudaMemcpy(sums.data(), d_sums, d_sums.bytes(), cudaMemcpyDeviceToHost);
  const bool right = std::accumulate(sums.begin(), sums.end(), 0LL) ==
                     std::inner_product(x.begin(), x.end(), x.begin(), 0LL);
  const char* const sums_are = status != cudaSuccess ? "no sums"
                               : right               ? "sums right"
                                                     : "sums wrong";
  std::printf("%u slots for %u threads, %zu stray bytes: %s, %s\n", kBlocks, kThreads,
              dynamic_bytes, cudaGetErrorName(status), sums_are);
  return status != cudaSuccess || !right;
}

// The launch with stray bytes comes first: after an error the device is of no more use.
int main(int argc, char** argv) {
  const Options opt(argc, argv, "05_stray_bytes", "does anything notice an array too small?", {});
  opt.expect_no_versions();
  open_device(opt);
  const bool noticed = is_noticed(kThreads * sizeof(long long)) || is_noticed(0);
  std::printf(noticed ? "noticed\n" : "not noticed: the array is too small all the same\n");
  return noticed ? kExitWrong : kExitOk;
}
