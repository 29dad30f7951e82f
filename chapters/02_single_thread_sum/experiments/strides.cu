// SPDX-License-Identifier: MIT
// What does a load cost, by the distance to the load before?

#include "../../../common/common.cuh"

// What one launch leaves behind.
struct Result {
  long long sum;
  long long cycles;  // of the multiprocessor's clock, around the loop
};

// Without unrolling, the thread asks for one int, waits, adds, and asks for the next. With a stride
// of s it visits 0, s, 2s, ..., then 1, s+1, ...: every element still counts once.
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

// What the loop reads, and where it leaves its result.
struct StridedSum {
  const DeviceArray<int>& x;
  std::size_t stride;  // ints from one load to the next
  long long expected;
  DeviceArray<Result> result{1};
  mutable Result fetched{};  // what the host has seen of it

  double amount() const { return 0; }
  void poison() const { result.poison(); }
  bool is_right(const std::string& name) const {
    fetched = result.download()[0];
    return equals(name, fetched.sum, expected);
  }
  // Cycles per int, as the kernel counted them.
  std::vector<std::string> cells() const { return {digits_text(1.0 * fetched.cycles / x.size())}; }
};

int main(int argc, char** argv) {
  std::size_t n = 1_Mi;
  const Options opt(argc, argv, "02_strides", "what does a load cost, by distance?",
                    {{"n", &n, 1, 1_Gi, "ints to sum"}});
  ResultTable table(opt, n * sizeof(int), 0, {"cycles_per_int"});
  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const DeviceArray<int> d_x(x);
  const long long expected = std::inner_product(x.begin(), x.end(), x.begin(), 0LL);
  for (std::size_t stride = 1; stride <= 64; stride *= 2) {
    const StridedSum sum{d_x, stride, expected};
    const std::string name = "stride=" + std::to_string(stride);
    table.add(Version<StridedSum>{name.c_str(), "ints from one load to the next",
                                  [](const StridedSum& s) {
                                    sum_strided<<<1, 1>>>(s.x, s.x.size(), s.stride, s.result);
                                  }},
              sum);
  }
  return table.finish();
}
