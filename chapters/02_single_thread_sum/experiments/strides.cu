// SPDX-License-Identifier: MIT
// What does a load cost, by the distance to the load before?

#include "../../../common/common.cuh"

// What one launch leaves behind.
struct Result {
  long long sum;
  long long cycles;  // of the multiprocessor's clock, around the loop
};

// The thread asks for one int, waits, adds, and asks for the next. With a stride of s it visits 0,
// s, 2s, ..., then 1, s+1, ...: every element still counts once.
__global__ void sum_strided(const int* x, std::size_t n, std::size_t stride, Result* result) {
  const long long begin = clock64();
  long long sum = 0;
  for (std::size_t first = 0; first < stride; ++first) {
#pragma unroll 1
    for (std::size_t i = first; i < n; i += stride) {
      sum += static_cast<long long>(x[i]) * x[i];
    }
  }
  result->sum = sum;
  result->cycles = clock64() - begin;
}

int main(int argc, char** argv) {
  std::size_t n = 1_Mi;
  const Options opt(argc, argv, "02_strides", "what does a load cost, by distance?",
                    {{"n", &n, 1, 1_Gi, "ints to sum"}});
  ResultTable table(opt, n * sizeof(int), 0, {"cycles_per_int"});
  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const DeviceArray<int> d_x(x);
  const DeviceArray<Result> result(1);
  const long long expected = std::inner_product(x.begin(), x.end(), x.begin(), 0LL);
  for (std::size_t stride = 1; stride <= 64; stride *= 2) {
    const std::string name = text("stride=", stride);
    table.add(
        name, result, [&] { sum_strided<<<1, 1>>>(d_x, n, stride, result); },
        [&] {
          const Result found = result.download()[0];
          table.next_row_has(1.0 * found.cycles / n);
          return equals(name, found.sum, expected);
        },
        "ints from one load to the next");
  }
  return table.finish();
}
