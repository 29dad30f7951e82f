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
