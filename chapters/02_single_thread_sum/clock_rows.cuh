// SPDX-License-Identifier: MIT
// Chapter 02, the table. Three clocks fill its rows: the multiprocessor's, which a kernel reads
// itself and which counts cycles; the events', which count time; the host's. Included by
// single_thread_sum.cu, whose versions it measures.
#pragma once

#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "fetched_results.cuh"

// The competitor: one core of the CPU, a plain loop, which the host compiler may unroll and
// vectorise.
long long sum_on_cpu_core(const int* x, std::size_t n) {
  long long sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<long long>(x[i]) * x[i];
  return sum;
}

// Whether a kernel's own count of cycles can be true of its loop over n ints: it fits the time by
// events, and no thread adds more than 64 ints in a cycle.
bool cycles_are_plausible(long long cycles, std::size_t n, double ms) {
  const auto count = static_cast<double>(cycles);
  return cycles_fit(count, ms) && count >= static_cast<double>(n) / 64;
}

// One row: the time by events, and the cycles per int that the kernel counted.
void add_row(ResultTable& table, const std::string& name, const Version<OneThreadSum>& version,
             const OneThreadSum& s, long long expected) {
  const Measured m = measure_checked(
      table.options().samples, [&] { poison(s); }, [&] { version.launch(s); },
      [&] { return check(version.name, s, expected); });
  const long long cycles = fetch(version.name, s).cycles;
  const bool ok = m.ok && cycles_are_plausible(cycles, s.n, m.time.max_ms);
  const double cycles_per_int = static_cast<double>(cycles) / static_cast<double>(s.n);
  const bool overflow =
      version.name == std::string("narrow_accumulator") && expected != low_32_bits(expected);
  table.add_with_rate(name, m.time, cycles_per_int, ok, overflow ? "overflow" : "ok");
  if (overflow) {
    table.note(name + ": the sum is " + std::to_string(expected) + ", its low 32 bits as an int " +
               std::to_string(low_32_bits(expected)));
  }
}

// The rows of --sweep stride.
void add_stride_rows(ResultTable& table, OneThreadSum s, long long expected) {
  for (const auto& version : kVersions) {
    if (version.name != std::string("one_load_at_a_time")) continue;
    for (s.stride = 1; s.stride <= 64; s.stride *= 2) {
      add_row(table, "stride=" + std::to_string(s.stride), version, s, expected);
    }
  }
}

// One launch seen by two clocks. The multiprocessor counted cycles, the events took the time; the
// quotient is the frequency it really ran at.
void compare_clocks(ResultTable& table, const Device& device, const OneThreadSum& s) {
  EventTimer timer;
  timer.start();
  sum_single_thread<<<1, 1>>>(s.x, s.n, s.result);
  CUDA_CHECK_LAUNCH();
  const double ms = timer.stop_ms();
  const auto cycles = static_cast<double>(fetch("single_thread", s).cycles);
  const double ghz = cycles / ms / 1e6;
  table.measured("core_clock", ghz, "GHz",
                 digits_text(cycles) + " cycles by clock64() in " + digits_text(ms) +
                     " ms by events: " + digits_text(ghz) + " GHz; the clock rate attribute says " +
                     digits_text(device.core_khz / 1e6) + " GHz");
}

// Host time from just before a launch to the return of that call, and to the end of the kernel.
void time_launch_call(ResultTable& table, const OneThreadSum& s) {
  std::vector<double> returned_us, ended_us;
  for (std::size_t i = 0; i < table.options().samples; ++i) {
    CUDA_CHECK(cudaDeviceSynchronize());  // an idle device: the launch queues behind nothing
    const double begin = host_ms();
    sum_single_thread<<<1, 1>>>(s.x, s.n, s.result);
    returned_us.push_back(1e3 * (host_ms() - begin));
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());  // only here does the host wait
    ended_us.push_back(1e3 * (host_ms() - begin));
  }
  const double returned = median_of(returned_us), ended = median_of(ended_us);
  table.measured("launch_returned", returned, "us",
                 "a launch of single_thread returned after " + digits_text(returned) + " us");
  table.measured("kernel_ended", ended, "us",
                 "the kernel it started ended after " + digits_text(ended) + " us");
}

// All rows: the versions, the same sum of `x` by one core of the CPU and by CUB, and what two
// clocks and the host saw of a launch.
void add_rows(ResultTable& table, const Device& device, const OneThreadSum& s,
              const std::vector<int>& x) {
  const Options& opt = table.options();
  const long long expected = reference(x);
  for (const auto& version : kVersions) {
    if (opt.wants(version.name)) add_row(table, version.name, version, s, expected);
  }
  if (opt.wants("cpu_core")) {
    long long sum = 0;
    const Timing t = time_on_host(opt.samples, [&] { sum = sum_on_cpu_core(x.data(), x.size()); });
    table.add("cpu_core", t, 0, equals("cpu_core", sum, expected));
  }
  add_cub_row(table, opt, s.x, s.n, expected);
  if (opt.wants("single_thread")) {
    if (kOnGpu) compare_clocks(table, device, s);
    time_launch_call(table, s);
  }
}
