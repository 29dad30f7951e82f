// SPDX-License-Identifier: MIT
// What does it cost when all lanes are moved by 0, 1, ... 32 elements?

#include "../../../common/common.cuh"
#include "load_walk.cuh"

constexpr std::size_t kMostOffset = 32;  // elements

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 16_Mi : 65000, block = 512, grid = 0;
  const Options opt(argc, argv, "03_load_offsets", "what does it cost to begin elsewhere?",
                    {{"n", &n, 1, 1_Gi, "loads"},
                     {"block", &block, 1, 1024, "threads per block"},
                     {"grid", &grid, 1, 2_Gi - 1, "blocks [what the device holds]"}});
  open_device(opt);
  if (grid == 0) grid = blocks_held(sum_walk, block);
  const std::size_t elements = kMostOffset + elements_of(n, 1);
  ResultTable table(opt, elements * sizeof(int), grid * block * sizeof(long long));
  table.rate_in("GB/s", "read", measured_read_gbps(std::max(2_Gi, n * sizeof(int))));
  const DeviceArray<int> x(opt.list ? 1 : elements);
  fill_with_digits<<<1024, 256>>>(x, x.size(), opt.seed);
  CUDA_CHECK_LAUNCH();
  for (std::size_t offset = 0; offset <= kMostOffset; ++offset) {
    const LoadWalk walk{{n, offset, 1}, grid * block, opt.seed};
    add_walk(table, text("offset=", offset), walk, elements, "load",
             [&] { sum_walk<<<grid, block>>>(x, n, walk.next_first(), 1, walk.partial); });
  }
  return table.finish();
}
