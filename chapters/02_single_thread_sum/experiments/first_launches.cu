// SPDX-License-Identifier: MIT
// How many launches does a kernel need before its time stays the same?
//
// launch=1, launch=2, ...   the time of that launch alone, by events, in a process that has
//                           launched nothing before it. All launches are timed; the rows show
//                           the first ones, and then fewer and fewer.
// The first time has the loading of the code in it; a GPU that was idle may also clock lower.

#include "../../../common/common.cuh"

__global__ void sum_squares(const int* x, std::size_t n, long long* sum) {
  long long all = 0;
  for (std::size_t i = 0; i < n; ++i) all += static_cast<long long>(x[i]) * x[i];
  *sum = all;
}

// The first launches, then fewer and fewer, and the last.
bool is_shown(std::size_t launch, std::size_t launches) {
  for (const std::size_t shown : {1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1000})
    if (launch == shown) return true;
  return launch == launches;
}

int main(int argc, char** argv) {
  std::size_t n = 4_Ki, launches = kOnGpu ? 200 : 5;
  const Options opt(argc, argv, "02_first_launches", "how many launches until the time stays?",
                    {{"n", &n, 1, 1_Gi, "ints to sum"},
                     {"launches", &launches, 1, 100000, "one after the other"}});
  ResultTable table(opt, n * sizeof(int));
  if (!table.wants("launches", "each launch alone, by events")) return table.finish();
  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const DeviceArray<int> d_x(x);
  const DeviceArray<long long> sum(1);
  EventTimer timer;
  std::vector<double> us;
  while (us.size() < launches) {
    timer.start();
    sum_squares<<<1, 1>>>(d_x, n, sum);
    CUDA_CHECK_LAUNCH();
    us.push_back(1e3 * timer.stop_ms());
  }
  for (std::size_t launch = 1; launch <= launches; ++launch)
    if (is_shown(launch, launches))
      table.measured(text("launch=", launch), us[launch - 1], "us", "launch ", launch, ": ",
                     us[launch - 1], " us");
  table.measured("median", median_of(us), "us", "median of all: ", median_of(us), " us");
  const long long expected = std::inner_product(x.begin(), x.end(), x.begin(), 0LL);
  const bool right = equals("sum", sum.download()[0], expected);
  return table.finish() == kExitOk && right ? kExitOk : kExitWrong;
}
