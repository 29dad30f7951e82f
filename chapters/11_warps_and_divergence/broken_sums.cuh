// SPDX-License-Identifier: MIT
// Chapter 11, the sums that are wrong, shown on purpose: their rows say how many are. Included by
// warps_and_divergence.cu. make sanitize leaves these rows out: it would rightly call them races.
#pragma once

// tree_volatile once more, in a warp whose lanes come one after the other: each has waited up to
// three times, depending on its value. Nothing brings them together again.
__global__ void sum_tree_late(const int* x, std::size_t n, int* sums) {
  __shared__ volatile int partial[kMaxBlock];
  const int value = element_or_zero(x, n);
  for (int k = 0; k < (value & 3); ++k) __nanosleep(20);
  const int sum = volatile_tree(partial, value);
  if (lane_number() == 0) sums[warp_number()] = sum;
}

namespace broken_sums {

const Version<Sums> kVersions[] = {
    {"tree_bare", "shared memory, nothing between the levels: wrong",
     [](const Sums& d) { sum_tree_bare<<<d.grid, d.block>>>(d.x.get(), d.n, d.of_warps.get()); }},
    {"tree_volatile", "the same with volatile: right by luck",
     [](const Sums& d) {
       sum_tree_volatile<<<d.grid, d.block>>>(d.x.get(), d.n, d.of_warps.get());
     }},
    {"tree_late", "tree_volatile, whose lanes come at different times: wrong",
     [](const Sums& d) { sum_tree_late<<<d.grid, d.block>>>(d.x.get(), d.n, d.of_warps.get()); }},
};

// How many of the warps' sums are wrong.
std::size_t count_wrong(const Sums& d, const std::vector<int>& expected) {
  const std::vector<int> sums = d.of_warps.download();
  std::size_t wrong = 0;
  for (std::size_t w = 0; w < sums.size(); ++w) wrong += sums[w] != expected[w];
  return wrong;
}

// No result of theirs fails the program: nothing is promised of them.
void add_rows(ResultTable& table, const Sums& d, const std::vector<int>& expected) {
  const auto bytes = static_cast<double>(d.x.bytes());
  for (const Version<Sums>& v : kVersions) {
    if (!table.options().wants(v.name)) continue;
    const Measured m = measure_checked(
        table.options().sampling(), [&] { d.poison(); }, [&] { v.launch(d); }, [] { return true; });
    const std::size_t wrong = count_wrong(d, expected);
    const double rate = m.time.median_ms > 0 ? bytes / m.time.median_ms / 1e6 : 0;
    table.add_with_rate(v.name, m.time, rate, true, wrong > 0 ? "wrong" : "by luck");
    table.measured(v.name, static_cast<double>(wrong), "wrong sums",
                   std::string(v.name) + ": " + std::to_string(wrong) + " of " +
                       std::to_string(expected.size()) + " sums wrong");
  }
}

}  // namespace broken_sums
