// SPDX-License-Identifier: MIT
// How does the time of a product grow with its columns?
//
// whole_tiles=N   C has N columns: a block for each tile of 128 x 256
// small_tiles=N   tiles of 64 x 128
// even_shares=N   as many steps for each block (stream-K)
// cublas=N        the library
// N goes up by a column of large tiles, and by four more columns of C where these fill their waves.

#include "../../../common/common.cuh"
#include "../cublas_product.cuh"
#include "../shares.cuh"

// The first n columns of a product; of B and C that is a part of every row.
struct Columns {
  const MatrixProduct& all;
  unsigned n, sms;
  const DeviceArray<float>& sums;
  const DeviceArray<unsigned>& tickets;
  Matrix a = all.a;
  Matrix b{all.b.data, all.b.height, n, all.b.stride}, c{all.c.data, all.c.height, n, all.c.stride};

  template <class T>
  Shares shares(unsigned blocks) const {
    Shares s = divide_work(blocks_for(c.height, T::kRows), blocks_for(n, T::kColumns),
                           blocks_for(a.width, T::kDepth), blocks);
    s.partial_sums = sums;
    s.tickets = tickets;
    return s;
  }

  void poison() const { all.poison(); }

  // Only these columns are copied and compared.
  bool is_right(const std::string& version) const {
    std::vector<float> found(std::size_t{c.height} * n);
    const std::size_t row_bytes = n * sizeof(float);
    CUDA_CHECK(cudaMemcpy2D(found.data(), row_bytes, c.data, c.stride * sizeof(float), row_bytes,
                            c.height, cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t of_all = i / n * all.c.width + i % n;
      if (!is_close(found[i], all.expected[of_all], all.tolerance[of_all]))
        return report_wrong(version, " at [" + std::to_string(i) + "]", found[i],
                            all.expected[of_all]);
    }
    return true;
  }
};

template <class T>
void launch_tiles(const Columns& p) {
  const Shares s = p.shares<T>(1);
  CUDA_CHECK(cudaFuncSetAttribute(multiply_tiles<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  T::kBytes));
  multiply_tiles<T><<<s.tiles, T::kThreads, T::kBytes>>>(p.a, p.b, p.c, s.down, s.across);
}

void launch_even_shares(const Columns& p) {
  CUDA_CHECK(cudaFuncSetAttribute(multiply_shares<Large>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, Large::kBytes));
  const Shares s = p.shares<Large>(p.sms);
  multiply_shares<Large><<<s.blocks, Large::kThreads, Large::kBytes>>>(p.a, p.b, p.c, s, true);
}

const Version<Columns> kVersions[] = {
    {"whole_tiles", "a block for each tile of 128 x 256", launch_tiles<Large>},
    {"small_tiles", "tiles of 64 x 128", launch_tiles<Small>},
    {"even_shares", "as many steps for each block", launch_even_shares},
    kCublas<Columns>,
};

// All numbers of columns to be measured.
std::vector<unsigned> columns_up_to(unsigned most, unsigned down, unsigned sms) {
  std::vector<unsigned> all;
  for (unsigned n = Large::kColumns; n <= most; n += Large::kColumns) {
    all.push_back(n);
    const bool fills_waves = n / Large::kColumns * down % sms == 0;
    if (fills_waves && n + kWide <= most) all.push_back(n + kWide);
  }
  return all;
}

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 1536 : 40, n = kOnGpu ? 8448 : 516, k = kOnGpu ? 4096 : 50;
  const Options opt(argc, argv, "15_sawtooth", "how does the time grow with the columns?",
                    {{"m", &m, 1, kMostSide, "rows of A and C"},
                     {"n", &n, 256, kMostSide, "columns of C: the most of them"},
                     {"k", &k, 1, kMostSide, "columns of A, rows of B"}});
  ResultTable table(opt, (m * k + k * n + m * n) * sizeof(float), 0, {"columns", "tiles", "waves"});
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));
  table.without_speedup();
  if (opt.list) m = k = 1;  // nothing runs, so nothing has to be multiplied on the host
  const unsigned sms = multiprocessors(table.device);
  const unsigned rows_of_tiles = blocks_for(m, Large::kRows);
  const DeviceArray<float> sums(std::size_t{2} * sms * Large::kRows * Large::kColumns);
  const DeviceArray<unsigned> tickets(std::vector<unsigned>(std::size_t{2} * sms, 0));
  const MatrixProduct all(m, n, k, opt.seed);
  for (const unsigned columns : columns_up_to(static_cast<unsigned>(n), rows_of_tiles, sms)) {
    const Columns product{all, columns, sms, sums, tickets};
    table.each_launch_does(2.0 * m * columns * k);
    const unsigned tiles = product.shares<Large>(1).tiles;
    for (const auto& version : kVersions) {
      const std::string name = version.name + ("=" + std::to_string(columns));
      const auto is_right = [&] {
        table.next_row_has(columns, tiles, div_up(tiles, sms));
        return product.is_right(name);
      };
      table.add(
          name, product, [&] { version.launch(product); }, is_right, version.summary);
    }
  }
  return table.finish();
}
