// SPDX-License-Identifier: MIT
// How many threads should a block have, when the chip holds as many blocks as fit?

#include "../../../common/common.cuh"
#include "grid_stride.cuh"

constexpr unsigned kBlocks[] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024};  // of threads

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000;
  const Options opt(argc, argv, "04_block_sizes", "how many threads should a block have?",
                    {{"n", &n, 1, 16_Gi, "ints"}});
  ResultTable table(opt, n * sizeof(int), 16_Mi);
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const std::vector<int> values = random_ints(n, 0, 9, opt.seed);
  const long long expected = std::inner_product(values.begin(), values.end(), values.begin(), 0LL);
  const DeviceArray<int> x(values);
  for (const unsigned loads : {1u, kInFlight}) {
    const auto kernel = loads == 1 ? sum_grid_stride : sum_four_in_flight;
    for (const unsigned block : kBlocks) {
      const unsigned grid = blocks_held(sum_grid_stride, block);  // one wave
      const DeviceArray<long long> partial(grid * block);
      const std::string name = text("block=", block, " loads=", loads);
      table.add(
          name, partial, [&] { kernel<<<grid, block>>>(x, n, partial); },
          [&] { return adds_up(name, partial.download(), expected); });
    }
  }
  return table.finish();
}
