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
