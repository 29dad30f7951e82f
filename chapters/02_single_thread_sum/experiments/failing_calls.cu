// SPDX-License-Identifier: MIT
// Which check sees which error: the one after the launch, or the call that waits?
//
// Run: make run CH=02 EXPERIMENT=failing_calls, and again with ARGS="--in-kernel 1"

#include "../../../common/common.cuh"

__global__ void sum_plainly(const int* x, std::size_t n, long long* result) {
  long long sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<long long>(x[i]) * x[i];
  *result = sum;
}

// A block has at most 1024 threads: the launch is refused, and nothing runs.
void launch_with_too_many_threads(const int* x, std::size_t n, long long* result) {
  sum_plainly<<<1, 2048>>>(x, n, result);
}

// The launch is accepted and queued. The kernel fails at its first load, from address 0.
void launch_with_a_null_pointer(std::size_t n, long long* result) {
  sum_plainly<<<1, 1>>>(nullptr, n, result);
}

// The program ends at the check that notices.
int main(int argc, char** argv) {
  std::size_t n = 1000, in_kernel = 0;
  const Options opt(argc, argv, "02_failing_calls", "which check sees which error?",
                    {{"n", &n, 1, 1_Mi, "ints to sum"},
                     {"in-kernel", &in_kernel, 0, 1, "0: the launch fails, 1: the kernel fails"}});
  open_device(opt);
  const DeviceArray<int> x(random_ints(n, 0, 9, opt.seed));
  const DeviceArray<long long> result(1);
  if (in_kernel == 0) launch_with_too_many_threads(x, n, result);
  if (in_kernel == 1) launch_with_a_null_pointer(n, result);
  std::printf("right after the launch the last error is %s\n",
              cudaGetErrorName(cudaPeekAtLastError()));
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  return kExitWrong;
}
