// SPDX-License-Identifier: MIT
// When does a launch return, and what do three clocks say of the kernel?

#include "../../../common/common.cuh"

// What one launch leaves behind.
struct Result {
  long long sum;
  long long cycles;  // of the multiprocessor's clock, around the loop
};

__global__ void sum_timed(const int* x, std::size_t n, Result* result) {
  const long long begin = clock64();
  long long sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<long long>(x[i]) * x[i];
  result->sum = sum;
  result->cycles = clock64() - begin;
}

// One launch seen by two clocks. The multiprocessor counts cycles, the events take the time; the
// quotient is the frequency it really ran at.
void compare_clocks(ResultTable& table, const DeviceArray<int>& x,
                    const DeviceArray<Result>& result) {
  EventTimer timer;
  timer.start();
  sum_timed<<<1, 1>>>(x, x.size(), result);
  CUDA_CHECK_LAUNCH();
  const double ms = timer.stop_ms();
  const double cycles = result.download()[0].cycles;
  const double ghz = cycles / ms / 1e6;
  table.measured("core_clock", ghz, "GHz", cycles, " cycles by clock64() in ", ms,
                 " ms by events: ", ghz, " GHz; the clock rate attribute says ",
                 table.device.core_khz / 1e6, " GHz");
}

// The host's time from just before a launch to the return of that call, and to the kernel's end.
void time_launch_call(ResultTable& table, std::size_t samples, const DeviceArray<int>& x,
                      const DeviceArray<Result>& result) {
  std::vector<double> returned_us;
  const Timing whole = time_on_host(samples, [&] {
    const double begin = host_ms();
    sum_timed<<<1, 1>>>(x, x.size(), result);
    returned_us.push_back(1e3 * (host_ms() - begin));
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());  // only here does the host wait: the next finds all idle
  });
  const double returned = median_of(returned_us), ended = 1e3 * whole.median_ms;
  table.measured("launch_returned", returned, "us", "a launch of single_thread returned after ",
                 returned, " us");
  table.measured("kernel_ended", ended, "us", "the kernel it started ended after ", ended, " us");
}

int main(int argc, char** argv) {
  std::size_t n = 1_Mi;
  const Options opt(argc, argv, "02_launch_and_clocks", "when does a launch return?",
                    {{"n", &n, 1, 1_Gi, "ints to sum"}});
  ResultTable table(opt, n * sizeof(int));
  if (!table.wants("clocks", "a launch by two clocks, and by the host's")) return table.finish();
  const std::vector<int> x = random_ints(n, 0, 9, opt.seed);
  const DeviceArray<int> d_x(x);
  const DeviceArray<Result> result(1);
  time_launch_call(table, opt.samples, d_x, result);
  if (kOnGpu) compare_clocks(table, d_x, result);
  const long long expected = std::inner_product(x.begin(), x.end(), x.begin(), 0LL);
  const bool right = equals("clocks", result.download()[0].sum, expected);
  return table.finish() == kExitOk && right ? kExitOk : kExitWrong;
}
