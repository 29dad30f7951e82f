// SPDX-License-Identifier: MIT
// Chapter 10, the rows of --show. Included by atomics_last_block.cu: some of them use its kernels.
//
// loads    what makes last_block_wide fast, every combination: wide_loads.cuh
// sizes    the last version against CUB, from a thousandth of the data to all of it
// floats   eight ways to add floats: float_sums.cuh
// filter   one atomic for a warp, for a block, and what CUB makes of it: warp_filter.cuh
// atomics  every atomic operation, in shared and in global memory: atomic_operations.cuh
// races    what goes wrong without atomics, fences, or a ticket of one's own: races.cuh
// stress   every version again and again, each launch unlike the one before
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../../common/common.cuh"
#include "atomic_operations.cuh"
#include "float_sums.cuh"
#include "races.cuh"
#include "warp_filter.cuh"
#include "wide_loads.cuh"

namespace shows {

const std::vector<std::string> kAll = {"loads",   "sizes", "floats", "filter",
                                       "atomics", "races", "stress"};

void add_loads(ResultTable& table, const std::vector<int>& x, const SumMemory& memory) {
  const Sum expected = reference(x.data(), x.size());
  add_version_rows(
      table, wide_loads::kVersions, memory.sum, static_cast<double>(x.size()) * sizeof(int),
      [&] { memory.poison(); },
      [&](const char* version) { return check(version, memory, expected); });
}

void add_sizes(ResultTable& table, const Device& device, const std::vector<int>& x,
               const SumMemory& memory) {
  const auto& last_version = std::end(kVersions)[-1];
  for (const std::size_t part : {1024, 256, 64, 16, 4, 1}) {
    GridSum p = memory.sum;
    p.n = div_up(x.size(), part);
    p.grid = grid_for(device, p.n, p.block);
    const Sum expected = reference(x.data(), p.n);
    const std::string size = "n=" + std::to_string(p.n), name = "wide " + size;
    add_measured_row(
        table, name, static_cast<double>(p.n) * sizeof(int), [&] { memory.poison(); },
        [&] { last_version.launch(p); }, [&] { return check(name, memory, expected); });
    add_cub_row(table, table.options(), p.x, p.n, static_cast<long long>(expected), "cub " + size);
  }
}

// Each launch has another n, another grid, and the next place for its result.
void add_stress(ResultTable& table, const std::vector<int>& x, const SumMemory& memory) {
  const std::size_t launches = memory.results.size();
  std::vector<GridSum> sums(launches, memory.sum);
  std::vector<Sum> results, expected(launches);
  for (std::size_t k = 0; k < launches; ++k) {
    sums[k].n = 7 * k % std::min(x.size() + 1, 5_Ki);
    sums[k].grid = static_cast<unsigned>(1 + k % memory.sum.grid);
    sums[k].result += k;
    expected[k] = reference(x.data(), sums[k].n);
  }
  for (const auto& version : kVersions) {
    memory.results.poison();
    const Timing t = time_once([&] {
      for (const GridSum& sum : sums) version.launch(sum);
      CUDA_CHECK_LAUNCH();  // tells of any of them: the last error stays until it is read
      results = memory.results.download();
    });
    table.add(version.name, t, 0,
              all_equal(version.name, results.data(), expected.data(), launches));
  }
  table.note("a row's time is that of " + std::to_string(launches) + " launches");
}

// Prints the rows of one of them. Returns the exit status of the program.
int run(const std::string& show, ResultTable& table, const Device& device,
        const std::vector<int>& x, const SumMemory& memory) {
  const bool rated = show == "loads" || show == "sizes";
  if (kOnGpu && rated)
    table.rate_in_gbps("read", measure_yardstick(device, x.size() * sizeof(int)).read_gbps);
  if (show == "loads") add_loads(table, x, memory);
  if (show == "sizes") add_sizes(table, device, x, memory);
  if (show == "floats") float_sums::add_rows(table, x.size(), memory.sum.grid, memory.sum.block);
  if (show == "filter")
    warp_filter::add_rows(table, x, memory.x, memory.sum.grid, memory.sum.block);
  if (show == "atomics") atomic_operations::add_rows(table, memory.sum.grid, memory.sum.block);
  if (show == "races") races::add_rows(table, device, x, memory);
  if (show == "stress") add_stress(table, x, memory);
  return table.finish();
}

}  // namespace shows
