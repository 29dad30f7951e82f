// SPDX-License-Identifier: MIT
// How fast is one core of the CPU beside one thread of the GPU, and the whole GPU beside both?

#include "../../../common/common.cuh"

__global__ void sum_by_one_thread(const int* x, std::size_t n, long long* result) {
  long long sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<long long>(x[i]) * x[i];
  *result = sum;
}

// A plain loop, which the host's compiler may unroll and vectorise.
long long sum_on_cpu_core(const int* x, std::size_t n) {
  long long sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<long long>(x[i]) * x[i];
  return sum;
}

// n ints in device memory, and their sum.
struct WholeSum {
  DeviceArray<int> x;
  long long expected;
  DeviceArray<long long> sum{1};
  DeviceArray<char> scratch{1_Mi};  // for CUB: what it wants for itself, and more

  void poison() const { sum.poison(); }
  bool is_right(const std::string& name) const { return equals(name, sum.download()[0], expected); }
};

// CUB, NVIDIA's library: for GPUs only, and from CUDA 12.4 on with what is used here.
#if !defined(__CUDA_CPU__) && CUDART_VERSION >= 12040
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

struct SquareOf {
  __device__ long long operator()(int v) const { return static_cast<long long>(v) * v; }
};

void sum_by_cub(const WholeSum& s) {
  std::size_t bytes = s.scratch.bytes();
  CUDA_CHECK(cub::DeviceReduce::TransformReduce(s.scratch.get(), bytes, s.x.get(), s.sum.get(),
                                                s.x.size(), cuda::std::plus<>{}, SquareOf{}, 0LL));
}
#endif

const Version<WholeSum> kVersions[] = {
    {"single_thread", "one thread of the GPU",
     [](const WholeSum& s) { sum_by_one_thread<<<1, 1>>>(s.x, s.x.size(), s.sum); }},
#ifdef CUB_VERSION  // its header is there
    {"cub", "the same sum by cub::DeviceReduce, the whole GPU", sum_by_cub},
#endif
};

int main(int argc, char** argv) {
  std::size_t n = 1_Mi, low = 0;
  const Options opt(argc, argv, "02_beside_a_cpu_core", "how fast is one core of the CPU?",
                    {{"n", &n, 1, 4_Gi, "ints to sum, at random"},
                     {"low", &low, 0, 9, "the smallest of them; the largest is 9"}});
  ResultTable table(opt, n * sizeof(int));
  const std::vector<int> x = random_ints(n, low, 9, opt.seed);
  const WholeSum whole{DeviceArray<int>(x), std::inner_product(x.begin(), x.end(), x.begin(), 0LL)};
  for (const auto& version : kVersions) table.add(version, whole);
  if (table.wants("cpu_core", "one core of the CPU")) {
    long long sum = 0;
    const Timing t = time_on_host(opt.samples, [&] { sum = sum_on_cpu_core(x.data(), n); });
    table.row("cpu_core", t, 0, equals("cpu_core", sum, whole.expected));
  }
  return table.finish();
}
