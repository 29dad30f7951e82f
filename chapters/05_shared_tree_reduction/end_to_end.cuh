// SPDX-License-Identifier: MIT
// Chapter 05, --show end_to_end: the sum as a program needs it, from data in the host's memory to
// an answer there, by the host's clock. Included by shared_tree_reduction.cu, whose kernels it
// uses.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "../../common/common.cuh"

namespace end_to_end {

// The four parts of the way.
struct Trip {
  const std::vector<int>& x;
  const BlockSums& d;
  std::vector<long long> sums = std::vector<long long>(d.grid);
  long long sum = -1;

  // From ordinary (pageable) memory of the host; chapter 09 has faster ways.
  void copy_in() const {
    CUDA_CHECK(cudaMemcpy(d.x.get(), x.data(), d.x.bytes(), cudaMemcpyHostToDevice));
  }
  void tree() const {
    sum_shared_sequential<<<d.grid, d.block>>>(d.x.get(), d.n, d.sums.get());
    CUDA_CHECK_LAUNCH();
  }
  void eight() const {
    sum_wide_loads<<<eight_each::grid_of(d), d.block>>>(d.x.get(), d.n, d.sums.get());
    CUDA_CHECK_LAUNCH();
  }
  void sums_out(std::size_t count) {
    CUDA_CHECK(
        cudaMemcpy(sums.data(), d.sums.get(), count * sizeof(long long), cudaMemcpyDeviceToHost));
  }
  void host_adds(std::size_t count) {
    sum = std::accumulate(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(count), 0LL);
  }

  void poison() {
    d.x.poison();
    d.sums.poison();
    sums.assign(sums.size(), -1);
    sum = -1;
  }
};

constexpr const char* kRows[][2] = {
    {"whole", "all of it: data in, kernel, sums out, host adds"},
    {"copy_in", "its first part: the ints to the device, from pageable memory"},
    {"kernel", "its second part: shared_sequential, until it is done"},
    {"sums_out", "its third part: a sum per block to the host"},
    {"host_adds", "its last part: the host adds them"},
    {"whole_eight", "all of it again, with wide_loads for the kernel"},
    {"host_alone", "the host adds the squares itself, with one thread"},
};

void name_rows(Options& opt) {
  for (const auto& [name, summary] : kRows) opt.version(name, summary);
}

// Prints the rows. Each part is checked by the answer that the parts after it come to. Returns the
// exit status of the program.
int run(ResultTable& table, const std::vector<int>& x, const BlockSums& d) {
  if (kOnGpu) table.rate_in("% of whole");
  table.without_speedup();
  Trip trip{x, d};
  const long long expected = reference(x);
  const unsigned few = eight_each::grid_of(d);
  double whole_ms = 0;
  const auto add_row = [&](const std::string& name, auto&& before, auto&& work, auto&& after) {
    if (!table.options().wants(name)) return;
    const auto is_right = [&] {
      after();
      return equals(name, trip.sum, expected);
    };
    trip.poison();
    before();
    work();
    bool ok = is_right();
    const Timing t = time_until_done(table.options().samples, work);
    ok &= is_right();
    if (name == "whole") whole_ms = t.median_ms;
    table.add_with_rate(name, t, whole_ms > 0 ? 100 * t.median_ms / whole_ms : 0, ok);
  };
  const auto nothing = [] {};
  const auto copy_in = [&] { trip.copy_in(); };
  const auto kernel = [&] { trip.tree(); };
  const auto sums_out = [&] { trip.sums_out(d.grid); };
  const auto host_adds = [&] { trip.host_adds(d.grid); };
  add_row(
      "whole", nothing, [&] { copy_in(), kernel(), sums_out(), host_adds(); }, nothing);
  add_row("copy_in", nothing, copy_in, [&] { kernel(), sums_out(), host_adds(); });
  add_row("kernel", copy_in, kernel, [&] { sums_out(), host_adds(); });
  add_row(
      "sums_out", [&] { copy_in(), kernel(); }, sums_out, host_adds);
  add_row(
      "host_adds", [&] { copy_in(), kernel(), sums_out(); }, host_adds, nothing);
  add_row(
      "whole_eight", nothing,
      [&] { copy_in(), trip.eight(), trip.sums_out(few), trip.host_adds(few); }, nothing);
  add_row(
      "host_alone", nothing, [&] { trip.sum = reference(x); }, nothing);
  return table.finish();
}

}  // namespace end_to_end
