// SPDX-License-Identifier: MIT
// How do you build an atomic that CUDA does not have?
//
// max_by_cas  the largest of n floats: there is no atomicMax for them, but compare-and-swap

#include "../../../common/common.cuh"
#include "grid_walk.cuh"

// Any update of one word can be made from compare-and-swap: compute from what was seen, and store
// only if that is still there; else look again.
__device__ void atomic_max(float* address, float value) {
  auto* word = reinterpret_cast<int*>(address);
  int seen = __float_as_int(-INFINITY);  // a guess; the first swap tells what is really there
  while (__int_as_float(seen) < value) {
    const int before = atomicCAS(word, seen, __float_as_int(value));
    if (before == seen) return;  // nobody came between: the value is in place
    seen = before;
  }
}

__global__ void max_by_cas(const int* x, std::size_t n, float* result) {
  float largest = 0;  // all values are above
  for (std::size_t i = first_index(); i < n; i += stride()) {
    largest = fmaxf(largest, static_cast<float>(x[i]));
  }
  atomic_max(result, largest);
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 4_Mi : 256_Ki, block = 512;
  const Options opt(argc, argv, "10_max_by_cas", "how is an atomic built that CUDA does not have?",
                    {{"n", &n, 1, 1_Gi, "ints"}, {"block", &block, 1, 1024, "threads per block"}});
  ResultTable table(opt, n * sizeof(int));
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const unsigned grid = std::min(blocks_for(n, 16 * block), blocks_held(max_by_cas, block));
  const std::vector<int> values = random_ints(n, 1, 200000, opt.seed);  // exact in a float
  const float largest = *std::max_element(values.begin(), values.end());
  const DeviceArray<int> x(values);
  const DeviceArray<float> result(1);
  table.add(
      "max_by_cas", result,
      [&] {
        CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float)));
        max_by_cas<<<grid, block>>>(x, n, result);
      },
      [&] { return equals("max_by_cas", result.download()[0], largest); },
      "each thread brings the largest of its share");
  return table.finish();
}
