// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/07_naive_matmul/naive_matmul.cu"
#undef main

#include <cublas_v2.h>

#include <fstream>

#include "../chapters/07_naive_matmul/experiments/naive.cuh"
#include "matmul_testing.cuh"

#define main experiment_main
namespace atomic_terms {
#include "../chapters/07_naive_matmul/experiments/atomic_terms.cu"
}
namespace beside_cublas {
#include "../chapters/07_naive_matmul/experiments/beside_cublas.cu"
}
namespace by_hand {
#include "../chapters/07_naive_matmul/experiments/by_hand.cu"
}
namespace serial_loop {
#include "../chapters/07_naive_matmul/experiments/serial_loop.cu"
}
#undef main

template <class Check>
void for_every_version(const Operands& operands, Check check) {
  const ProductInBlocks product{operands.product(), dim3(kWarp, 8)};
  for (const auto& version : kVersions) {
    if (&version != &kVersions[2]) check(version, product);
  }
  const MatrixProduct plain = operands.product();
  for (const auto& version : beside_cublas::kVersions) check(version, plain);
  for (const auto& version : atomic_terms::kVersions) check(version, plain);
  check(serial_loop::kKernel, plain);
  check(kVersions[2], product);  // the last one is tried at a large shape
}

TEST_CASE("every version works with every block size that is a multiple of a warp") {
  for (const unsigned rows : {1u, 3u, 32u}) {
    INFO("blocks of 32 x " << rows);
    check_all(kVersions, ProductInBlocks{{50, 41, 37, kSeed}, dim3(kWarp, rows)});
  }
}

TEST_CASE("the kernels need no certain block: one thread, no whole warp, flat, tall") {
  const Operands operands({37, 41, 19}, 3);
  const MatrixProduct product = operands.product();
  const Matrix a = product.a, b = product.b, c = product.c;
  for (const dim3 block : {dim3(1, 1), dim3(5, 3), dim3(33, 1), dim3(1, 33), dim3(1024, 1)}) {
    check_blocks_of(product, block, block, [&](dim3 grid, dim3 threads) {
      multiply_columns_along_x<<<grid, threads>>>(a, b, c);
    });
    check_blocks_of(product, block, block,
                    [&](dim3 grid, dim3 threads) { multiply_naive<<<grid, threads>>>(a, b, c); });
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
  const Operands operands({5, 7, 33}, 3);
  const MatrixProduct product = operands.product();
  for (const unsigned warps : {1u, 3u, 32u}) {
    check_blocks_of(product, warps * kWarp, dim3(1, 1), [&](dim3 grid, dim3 threads) {
      multiply_split_inner_loop<<<grid.x * grid.y, threads>>>(product.a, product.b, product.c);
    });
  }
}

TEST_CASE("cuBLAS multiplies the same matrices, gaps included", "[beside_cublas]") {
  for (const Sides s : {Sides{33, 47, 20}, Sides{1, 67, 1}}) {
    const Operands operands(s, 5);
    const MatrixProduct product = operands.product();
    INFO(text_of(s));
    CHECK(runs_right(beside_cublas::kVersions[1], product));
    CHECK(gaps_are_untouched(product.c));
  }
}

TEST_CASE("slices of any length cover a row of A, also one that they do not divide",
          "[atomic_terms]") {
  for (const unsigned k : {1u, 7u, 8u, 9u, 31u, 32u, 33u, 65u}) {
    const Operands operands({5, 35, k}, 3);
    const MatrixProduct product = operands.product();
    for (const auto& version : atomic_terms::kVersions) {
      INFO(version.name << ", k = " << k);
      CHECK(runs_right(version, product));
      CHECK(gaps_are_untouched(product.c));
    }
  }
}

TEST_CASE("the host's loops multiply any shape, gaps included, and write nothing else",
          "[serial_loop]") {
  for (const Sides s : awkward_shapes()) {
    const unsigned gap = 3;
    Operands operands(s, gap);
    std::vector<float> a = operands.a.download(), b = operands.b.download();
    const MatrixProduct product = operands.product();
    for (const auto multiply :
         {serial_loop::multiply_serial, serial_loop::multiply_serial_in_rows}) {
      std::vector<float> c(operands.c.size(), std::nanf(""));
      multiply({a.data(), s.m, s.k, s.k + gap}, {b.data(), s.k, s.n, s.n + gap},
               {c.data(), s.m, s.n, s.n + gap});
      CUDA_CHECK(cudaMemcpy(operands.c, c.data(), operands.c.bytes(), cudaMemcpyHostToDevice));
      INFO((multiply == serial_loop::multiply_serial ? "serial, " : "in rows, ") << text_of(s));
      CHECK(product.is_right("the host's loop"));
      CHECK(gaps_are_untouched(product.c));
    }
  }
}

TEST_CASE("the product written out multiplies any shape and gives all memory back", "[by_hand]") {
  for (const Sides s : awkward_shapes()) {
    INFO(text_of(s));
    by_hand::HostProduct product(s.m, s.n, s.k, kSeed);
    CHECK(product.expected == Operands(s).product().expected);
    std::size_t free_before = 0, free_after = 0, all = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_before, &all));
    for (int trip = 0; trip < 2; ++trip) {
      std::array<double, by_hand::kSteps> step_ms{};
      product.multiply(step_ms);
      CHECK(product.is_right("by hand"));
      for (const double ms : step_ms) CHECK(ms > 0);
    }
    CUDA_CHECK(cudaMemGetInfo(&free_after, &all));
    CHECK(free_after == free_before);
  }
}

TEST_CASE("a trip that brings nothing back, or too little, is not taken for right", "[by_hand]") {
  by_hand::HostProduct product(5, 7, 3, kSeed);
  std::fill(product.c_values.begin(), product.c_values.end(), NAN);
  CHECK_FALSE(product.is_right("nothing ran"));
  std::array<double, by_hand::kSteps> step_ms{};
  product.multiply(step_ms);
  REQUIRE(product.is_right("by hand"));
  product.c_values.back() = NAN;
  CHECK_FALSE(product.is_right("the last element is missing"));
}
