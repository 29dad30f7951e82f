// SPDX-License-Identifier: MIT
// What do lanes cost that load 1, 2, 3, ... 1024 elements apart?

#include "../../../common/common.cuh"
#include "load_walk.cuh"

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 16_Mi : 65000, block = 512, grid = 0, fetch = 0;
  const Options opt(argc, argv, "03_load_strides", "what do loads cost that lie apart?",
                    {{"n", &n, 1, 1_Gi, "loads"},
                     {"block", &block, 1, 1024, "threads per block"},
                     {"grid", &grid, 1, 2_Gi - 1, "blocks [what the device holds]"},
                     {"fetch", &fetch, 32, 128, "bytes that the L2 fetches at most: 32, 64, 128"}});
  open_device(opt);
  if (fetch > 0) CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, fetch));  // a hint
  if (grid == 0) grid = blocks_held(sum_walk, block);
  const std::size_t elements = most_elements(n);
  ResultTable table(opt, elements * sizeof(int), grid * block * sizeof(long long));
  table.rate_in("GB/s", "read", measured_read_gbps(std::max(2_Gi, n * sizeof(int))));
  const DeviceArray<int> x(opt.list ? 1 : elements);
  fill_with_digits<<<1024, 256>>>(x, x.size(), opt.seed);
  CUDA_CHECK_LAUNCH();
  for (const std::size_t stride : kStrides) {
    const LoadWalk walk{{n, 0, stride}, grid * block, opt.seed};
    add_walk(table, text("stride=", stride), walk, elements, "load",
             [&] { sum_walk<<<grid, block>>>(x, n, walk.next_first(), stride, walk.partial); });
  }
  return table.finish();
}
