// SPDX-License-Identifier: MIT
// Which ways lead from the host to a variable of the device, and do they end at one place?

#include "../../../common/common.cuh"

// Variables in device memory, alive as long as the program. Kernels use them by their names. The
// host must not, except for the managed one: on its side the names stand for places.
constexpr unsigned kPlaces = 4, kPlace = 2;
__device__ long long device_sum;
__device__ long long device_sums[kPlaces];
__device__ long long* device_pointer;
__device__ unsigned launches = 0;  // when the code is loaded; no launch sets it back
__device__ __managed__ long long managed_sum;

__device__ long long sum_of_squares(const int* x, std::size_t n) {
  long long sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<long long>(x[i]) * x[i];
  return sum;
}

__global__ void sum_into_variables(const int* x, std::size_t n) {
  device_sum = sum_of_squares(x, n);
  device_sums[kPlace] = device_sum + 1;
  *device_pointer = device_sum + 2;
  managed_sum = device_sum + 3;
  ++launches;
}

// Each result with a number of its own after it, so that none is taken for another.
struct Ways {
  long long by_symbol, by_address, by_offset, by_pointer, by_name;
};

// The host copies to a variable by its name, and from it. Each copy waits for the kernel.
void poison_variables(long long* pointed_to) {
  const long long poisoned[kPlaces] = {-1, -1, -1, -1};
  CUDA_CHECK(cudaMemcpyToSymbol(device_sum, poisoned, sizeof device_sum));
  CUDA_CHECK(cudaMemcpyToSymbol(device_sums, poisoned, sizeof device_sums));
  CUDA_CHECK(cudaMemcpyToSymbol(device_pointer, &pointed_to, sizeof pointed_to));
  CUDA_CHECK(cudaMemset(pointed_to, 0xff, sizeof *pointed_to));
  CUDA_CHECK(cudaDeviceSynchronize());  // no kernel uses the managed variable any more
  managed_sum = -1;
}

Ways fetch_variables(const long long* pointed_to) {
  Ways w{};
  CUDA_CHECK(cudaMemcpyFromSymbol(&w.by_symbol, device_sum, sizeof w.by_symbol));
  void* address = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&address, device_sum));
  CUDA_CHECK(cudaMemcpy(&w.by_address, address, sizeof w.by_address, cudaMemcpyDeviceToHost));
  const std::size_t offset = kPlace * sizeof w.by_offset;  // bytes
  CUDA_CHECK(cudaMemcpyFromSymbol(&w.by_offset, device_sums, sizeof w.by_offset, offset));
  CUDA_CHECK(cudaMemcpy(&w.by_pointer, pointed_to, sizeof w.by_pointer, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaDeviceSynchronize());  // nothing is copied, so the host has to wait by itself
  w.by_name = managed_sum;
  return w;
}

// How often the kernel ran. The host has written nothing to this variable.
unsigned launches_counted() {
  unsigned count = 0;
  CUDA_CHECK(cudaMemcpyFromSymbol(&count, launches, sizeof count));
  return count;
}

bool are_right(const Ways& w, long long sum) {
  return equals("by symbol", w.by_symbol, sum) && equals("by address", w.by_address, sum) &&
         equals("by offset", w.by_offset, sum + 1) && equals("by pointer", w.by_pointer, sum + 2) &&
         equals("by name", w.by_name, sum + 3);
}

int main(int argc, char** argv) {
  std::size_t n = 1000;
  const Options opt(argc, argv, "02_ways_to_a_variable", "which ways lead to a variable?",
                    {{"n", &n, 1, 1_Gi, "ints to sum"}});
  opt.expect_no_versions();
  open_device(opt);
  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const DeviceArray<int> d_x(x);
  const DeviceArray<long long> pointed_to(1);
  poison_variables(pointed_to);
  sum_into_variables<<<1, 1>>>(d_x, n);
  CUDA_CHECK_LAUNCH();
  const Ways w = fetch_variables(pointed_to);
  std::printf("cudaMemcpyFromSymbol %lld, cudaGetSymbolAddress %lld\n", w.by_symbol, w.by_address);
  std::printf("with an offset       %lld\n", w.by_offset);
  std::printf("through a pointer    %lld\n", w.by_pointer);
  std::printf("by a managed name    %lld\n", w.by_name);
  std::printf("launches counted     %u\n", launches_counted());
  const bool right = are_right(w, std::inner_product(x.begin(), x.end(), x.begin(), 0LL)) &&
                     equals("launches", launches_counted(), 1u);
  std::printf(right ? "all of them right\n" : "WRONG\n");
  return right ? kExitOk : kExitWrong;
}
