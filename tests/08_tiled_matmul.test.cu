// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/08_tiled_matmul/tiled_matmul.cu"
#undef main

#include "matmul_testing.cuh"

#define main experiment_main
namespace without_a_tile {
#include "../chapters/08_tiled_matmul/experiments/without_a_tile.cu"
}
#undef main

template <class Check>
void for_every_version(const Operands& operands, Check check) {
  const MatrixProduct product = operands.product();
  const auto& last =
      kVersions[3];  // of tiles fetched ahead: the one that is tried at a large shape
  for (const auto& version : kVersions) {
    if (&version != &last) check(version, product);
  }
  for (const auto& version : without_a_tile::kVersions) check(version, product);
  check(last, product);
}

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
  const Operands operands({37, 41, 35}, 3);
  const MatrixProduct product = operands.product();
  check_tiles_of<1>(product);
  check_tiles_of<3>(product);
  check_tiles_of<31>(product);
  check_tiles_of<32>(product);
}

TEST_CASE("fetching ahead works for other tiles, and naive for other blocks") {
  const Operands operands({37, 41, 35}, 3);
  const MatrixProduct product = operands.product();
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

TEST_CASE("micro tiles, with tiles and without, write nothing where C has ended",
          "[without_a_tile]") {
  // Four blocks; one lies inside of C.
  const Operands operands({137, 141, 5}, 3);
  const MatrixProduct product = operands.product();
  const Matrix a = product.a, b = product.b, c = product.c;
  for (const auto kernel :
       {without_a_tile::multiply_micro_bare, without_a_tile::multiply_micro_unguarded,
        without_a_tile::multiply_micro_tile}) {
    check_blocks_of(product, dim3(16, 16), dim3(128, 128),
                    [&](dim3 grid, dim3 block) { kernel<<<grid, block>>>(a, b, c); });
  }
}
