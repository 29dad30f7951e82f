// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/07_naive_matmul/naive_matmul.cu"
#undef main

namespace {

constexpr const char* kVersionForLargeShape = "columns_along_x";

template <class... Arguments>
ProductInBlocks product_of(const Arguments&... arguments) {
  return {{arguments...}, 256};
}

}  // namespace

#include "matmul_testing.cuh"

TEST_CASE("every version works with every block size that is a multiple of a warp") {
  for (const unsigned block : {32u, 96u, 1024u}) {
    const ProductInBlocks product{{{50, 41, 37}, kSeed}, block};
    for (const auto& version : kVersions) {
      INFO(version.name << ", block " << block);
      CHECK(runs_right(version, product));
    }
  }
}

TEST_CASE("the kernels need no certain block: one thread, no whole warp, flat, tall") {
  const ProductInBlocks product{{ProductShape{37, 41, 19}, kSeed, 3}, 256};
  const Matrix a = product.a, b = product.b, c = product.c;
  for (const dim3 block : {dim3(1, 1), dim3(5, 3), dim3(33, 1), dim3(1, 33), dim3(1024, 1)}) {
    check_blocks_of(product, block, block, [&](dim3 grid, dim3 threads) {
      multiply_columns_along_x<<<grid, threads>>>(a, b, c);
    });
    // Here x counts rows and y counts columns.
    check_blocks_of(product, block, dim3(block.y, block.x), [&](dim3 grid, dim3 threads) {
      multiply_rows_along_x<<<dim3(grid.y, grid.x), threads>>>(a, b, c);
    });
  }
  for (const unsigned block : awkward_blocks()) {
    check_blocks_of(product, block, dim3(c.width, block), [&](dim3 grid, dim3 threads) {
      multiply_row_per_thread<<<grid.y, threads>>>(a, b, c);
    });
  }
}

TEST_CASE("warps that have no element of C leave, also those of whole blocks") {
  const ProductInBlocks product{{ProductShape{5, 7, 33}, kSeed, 3}, 256};
  for (const unsigned warps : {1u, 3u, 32u}) {
    check_blocks_of(product, warps * kWarp, dim3(1, 1), [&](dim3 grid, dim3 threads) {
      multiply_split_inner_loop<<<grid.x * grid.y, threads>>>(product.a, product.b, product.c);
    });
  }
}
