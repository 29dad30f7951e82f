// SPDX-License-Identifier: MIT
// How many blocks are enough, with one load per thread in flight and with four?

#include "../../../common/common.cuh"
#include "grid_stride.cuh"

// 1, 2, 4, ... blocks; from one per SM on, twice as many each time; then one, two and four waves. A
// wave is as many blocks as the chip holds at once: what is more than that waits for a place.
std::vector<unsigned> grids(unsigned sms, unsigned wave) {
  std::vector<unsigned> blocks;
  for (unsigned grid = 1; grid < sms; grid *= 2) blocks.push_back(grid);
  for (unsigned grid = sms; grid < wave; grid *= 2) blocks.push_back(grid);
  blocks.insert(blocks.end(), {wave, 2 * wave, 4 * wave});
  return blocks;
}

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 250000, block = 256;
  const Options opt(argc, argv, "04_grid_sizes", "how many blocks are enough?",
                    {{"n", &n, 1, 16_Gi, "ints"}, {"block", &block, 1, 1024, "threads per block"}});
  ResultTable table(opt, n * sizeof(int), 16_Mi);
  table.rate_in("GB/s", "read", measured_read_gbps(n * sizeof(int)));
  const std::vector<int> values = random_ints(n, 0, 9, opt.seed);
  const long long expected = std::inner_product(values.begin(), values.end(), values.begin(), 0LL);
  const DeviceArray<int> x(values);
  const unsigned sms = table.device.multiProcessorCount, wave = blocks_held(sum_grid_stride, block);
  for (const unsigned loads : {1u, kInFlight}) {
    const auto kernel = loads == 1 ? sum_grid_stride : sum_four_in_flight;
    for (const unsigned grid : grids(sms, wave)) {
      const DeviceArray<long long> partial(grid * block);
      const std::string name = text("grid=", grid, " loads=", loads);
      table.add(
          name, partial, [&] { kernel<<<grid, block>>>(x, n, partial); },
          [&] { return adds_up(name, partial.download(), expected); });
    }
  }
  return table.finish();
}
