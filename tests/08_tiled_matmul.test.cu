// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/08_tiled_matmul/tiled_matmul.cu"
#undef main

namespace {

constexpr const char* kVersionForLargeShape = "tiled_32_ahead";

template <class... Arguments>
MatrixProduct product_of(const Arguments&... arguments) {
  return {arguments...};
}

}  // namespace

#include "matmul_testing.cuh"

namespace {

// A product on which every kernel for tiles of kTile x kTile is tried with tiles of that side.
template <unsigned kTile>
void check_tiles_of(const MatrixProduct& p) {
  const dim3 tile(kTile, kTile);
  const Matrix a = p.a, b = p.b, c = p.c;
  check_blocks_of(p, tile, tile,
                  [&](dim3 grid, dim3 block) { multiply_tiled<kTile><<<grid, block>>>(a, b, c); });
  check_blocks_of(p, tile, tile, [&](dim3 grid, dim3 block) {
    multiply_transposed_tile<kTile, 0><<<grid, block>>>(a, b, c);
  });
  check_blocks_of(p, tile, tile, [&](dim3 grid, dim3 block) {
    multiply_transposed_tile<kTile, 3><<<grid, block>>>(a, b, c);
  });
  check_blocks_of(p, tile, tile, [&](dim3 grid, dim3 block) {
    multiply_tiled_dynamic<<<grid, block, 2 * kTile * kTile * sizeof(float)>>>(a, b, c);
  });
}

}  // namespace

TEST_CASE("tiles may have any side from one element to the largest block") {
  const MatrixProduct product(ProductShape{37, 41, 35}, kSeed, 3);
  check_tiles_of<1>(product);
  check_tiles_of<3>(product);
  check_tiles_of<31>(product);
  check_tiles_of<32>(product);
}

TEST_CASE("fetching ahead works for other tiles, and naive for other blocks") {
  const MatrixProduct product(ProductShape{37, 41, 35}, kSeed, 3);
  const Matrix a = product.a, b = product.b, c = product.c;
  check_blocks_of(product, dim3(8, 8), dim3(8, 8), [&](dim3 grid, dim3 block) {
    multiply_tiled_ahead<8><<<grid, block>>>(a, b, c);
  });
  check_blocks_of(product, dim3(16, 16), dim3(16, 16), [&](dim3 grid, dim3 block) {
    multiply_tiled_ahead<16><<<grid, block>>>(a, b, c);
  });
  for (const dim3 threads : {dim3(1, 1), dim3(5, 3), dim3(32, 32)}) {
    check_blocks_of(product, threads, threads,
                    [&](dim3 grid, dim3 block) { multiply_naive<<<grid, block>>>(a, b, c); });
  }
}
