// SPDX-License-Identifier: MIT
// What if every block gets as many steps along k as every other?
//
// serpentine   a block per tile, as in the chapter's program: the last round is not full
// even_shares  the same tiles in even shares of steps: no multiprocessor is without work

#include "../../../common/common.cuh"
#include "../work_shares.cuh"

// A block computes one tile of C.
template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    multiply_tiles(Matrix a, Matrix b, Matrix c) {
  extern __shared__ __align__(128) float4 dynamic[];  // where copies land, in whole sectors
  float* const slices = reinterpret_cast<float*>(dynamic);
  const Place corner =
      corner_in_groups<T>(blockIdx.y * gridDim.x + blockIdx.x, gridDim.y, gridDim.x);
  const unsigned steps = (a.width + T::kDepth - 1) / T::kDepth;
  Sums<T> sums;
  walk_guarding_edges<T>(sums, slices, a, b, corner, place_of_thread<T>(), 0, steps);
  sums.store(c, corner, place_of_thread<T>(), true);
}

// C = A * B, and what even shares need besides.
struct SharedProduct : MatrixProduct {
  EvenShares<Turning> shares{};
};

void launch_tiles(const SharedProduct& p) {
  constexpr unsigned kBytes = Turning::kStages * Turning::kSliceBytes;
  const dim3 grid(blocks_for(p.c.width, Turning::kColumns), blocks_for(p.c.height, Turning::kRows));
  CUDA_CHECK(cudaFuncSetAttribute(multiply_tiles<Turning>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  multiply_tiles<Turning><<<grid, Turning::kThreads, kBytes>>>(p.a, p.b, p.c);
}

const Version<SharedProduct> kVersions[] = {
    {"serpentine", "a block per tile", launch_tiles},
    {"even_shares", "every block gets as many steps as every other",
     [](const SharedProduct& p) { p.shares.launch(p.a, p.b, p.c); }},
};

int main(int argc, char** argv) {
  std::size_t m = kOnGpu ? 4096 : 100, n = m, k = m;
  const Options opt(argc, argv, "14_even_shares", "what if every block gets as many steps?",
                    {{"m", &m, 1, kMostSide, "rows of A and C"},
                     {"n", &n, 1, kMostSide, "columns of B and C"},
                     {"k", &k, 1, kMostSide, "columns of A, rows of B"}});
  ResultTable table(opt, (m * k + k * n + m * n) * sizeof(float));
  table.rate_in("GFLOP/s", "peak", peak_fp32_gflops(table.device));
  if (opt.list) m = n = k = 1;  // nothing runs, so nothing has to be multiplied on the host

  const SharedProduct product{{m, n, k, opt.seed}};
  table.each_launch_does(product.amount());
  for (const auto& version : kVersions) table.add(version, product);
  const Shares s = product.shares.of(product.a, product.c);
  table.note(s.tiles, " tiles of ", s.steps, " steps on ", s.blocks, " blocks; ", s.tiles - s.dealt,
             " of them are shared");
  return table.finish();
}
