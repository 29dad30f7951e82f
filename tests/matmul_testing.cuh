// SPDX-License-Identifier: MIT
// The tests that every chapter on matrix products passes. Include it behind the chapter's program,
// whose kVersions it runs, and behind the two names that differ from chapter to chapter:
//
//   product_of(...)        the chapter's product, made from the arguments of a MatrixProduct
//   kVersionForLargeShape  the one that the CPU backend tries at a large shape
#pragma once

#include "kernel_testing.cuh"

constexpr std::uint64_t kSeed = 5;

/// One element, one row, one column, primes, one more than tiles of 16, 32 and 128, wide and tall.
inline std::vector<ProductShape> awkward_shapes() {
  std::vector<ProductShape> shapes = {{1, 1, 1},    {1, 67, 1},   {67, 1, 1},   {1, 1, 67},
                                      {31, 32, 33}, {16, 16, 16}, {37, 53, 29}, {3, 200, 17}};
  // One past every tile, also of 128: in both directions, or under checkers in one at a time.
  const std::vector<ProductShape> large = {{129, 257, 65}, {200, 3, 300}};
  const std::vector<ProductShape> small = {{129, 17, 33}, {17, 129, 33}, {70, 3, 130}};
  for (const ProductShape s : small_sizes() ? small : large) shapes.push_back(s);
  return shapes;
}

/// The matrix whose product with anything is that: index errors cannot hide behind it.
inline std::vector<float> identity_matrix(std::size_t side) {
  std::vector<float> one(side * side, 0.0f);
  for (std::size_t i = 0; i < side; ++i) one[i * side + i] = 1.0f;
  return one;
}

/// Poisons C, launches the version and compares.
template <class Product>
bool runs_right(const Version<Product>& version, const Product& product) {
  product.poison();
  version.launch(product);
  CUDA_CHECK_LAUNCH();
  return product.is_right(version.name);
}

/// Whether what lies between the rows of C is still what poison() left there.
template <class Product>
bool gaps_are_untouched(const Product& product) {
  std::vector<float> c(product.c.elements());
  CUDA_CHECK(
      cudaMemcpy(c.data(), product.c.data, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (std::size_t row = 0; row < product.c.height; ++row) {
    for (std::size_t column = product.c.width; column < product.c.stride; ++column)
      if (!std::isnan(c[row * product.c.stride + column])) return false;
  }
  return true;
}

/// Launches kernels that the versions' list does not name so, and checks each. `launch(grid,
/// block)` is given a grid that covers C with blocks of that shape and, the second time, one that
/// reaches a block further in both directions: blocks that have no element must write nothing.
template <class Product, class Launch>
void check_blocks_of(const Product& product, dim3 block, dim3 elements, Launch launch) {
  for (const unsigned spare : {0u, 1u}) {
    const dim3 grid(static_cast<unsigned>(div_up(product.c.width, elements.x)) + spare,
                    static_cast<unsigned>(div_up(product.c.height, elements.y)) + spare);
    product.poison();
    launch(grid, block);
    CUDA_CHECK_LAUNCH();
    INFO("blocks of " << block.x << " x " << block.y << ", " << spare << " to spare");
    CHECK(product.is_right("blocks of another shape"));
    CHECK(gaps_are_untouched(product));
  }
}

TEST_CASE(
    "every version multiplies matrices of awkward shapes, within the bound of a dot product") {
  for (const ProductShape s : awkward_shapes()) {
    const auto product = product_of(s, kSeed);
    for (const auto& version : kVersions) {
      INFO(version.name << ", " << s.text());
      CHECK(runs_right(version, product));
    }
  }
}

TEST_CASE(
    "every version respects a stride that is wider than the matrix, and leaves the gap alone") {
  const auto product = product_of(ProductShape{33, 47, 20}, kSeed, std::size_t{5});
  for (const auto& version : kVersions) {
    INFO(version.name);
    CHECK(runs_right(version, product));
    CHECK(gaps_are_untouched(product));
  }
}

TEST_CASE("the row of cuBLAS multiplies the same matrices, gaps included") {
  const CublasMultiplier cublas;
  for (const ProductShape s : {ProductShape{33, 47, 20}, ProductShape{1, 67, 1}}) {
    const auto product = product_of(s, kSeed, std::size_t{5});
    product.poison();
    cublas.multiply(product);
    CUDA_CHECK_LAUNCH();
    INFO(s.text());
    CHECK(product.is_right("cublas"));
    CHECK(gaps_are_untouched(product));
  }
}

TEST_CASE("the rates are computed from two operations per term, the memory from three matrices") {
  const ProductShape shape{2, 3, 5};
  CHECK(shape.flop() == 2.0 * 2 * 3 * 5);
  CHECK(shape.bytes() == (2 * 5 + 5 * 3 + 2 * 3) * sizeof(float));
  CHECK(shape.text() == "m x n x k = 2 x 3 x 5");
  const ProductShape largest{256_Ki, 256_Ki, 256_Ki};  // in 32 bits all of it would wrap
  CHECK(largest.flop() == std::ldexp(1.0, 55));
  CHECK(largest.bytes() == 3 * (std::size_t{1} << 38));
}

TEST_CASE("multiplying by the identity gives every element back exactly, on either side") {
  const std::size_t side = 45;
  std::vector<float> x(side * side);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);  // no two elements alike
  for (const bool left : {true, false}) {
    const auto product = product_of(ProductShape::square(side), left ? identity_matrix(side) : x,
                                    left ? x : identity_matrix(side));
    for (const auto& version : kVersions) {
      INFO(version.name << (left ? ", identity left" : ", identity right"));
      REQUIRE(runs_right(version, product));
      CHECK(product.download() == x);
    }
  }
}

TEST_CASE("launches one after the other give the same result") {
  const auto product = product_of(ProductShape{70, 40, 50}, kSeed);
  for (const auto& version : kVersions) {
    product.poison();
    for (int repeat = 0; repeat < 5; ++repeat) version.launch(product);
    CUDA_CHECK_LAUNCH();
    INFO(version.name);
    CHECK(product.is_right(version.name));
  }
}

TEST_CASE("the checker rejects a kernel that does nothing, a NaN, and one wrong element") {
  const auto product = product_of(ProductShape{33, 34, 35}, kSeed);
  CHECK_FALSE(product.is_right("nothing ran"));
  REQUIRE(runs_right(kVersions[0], product));
  const std::vector<float> c = product.download();
  for (const float wrong : {c[500] + 0.01f, std::nanf("")}) {
    std::vector<float> other = c;
    other[500] = wrong;
    CUDA_CHECK(cudaMemcpy(product.c.data, other.data(), other.size() * sizeof(float),
                          cudaMemcpyHostToDevice));
    CHECK_FALSE(product.is_right("one wrong element"));
  }
  product.poison();
  CHECK_FALSE(product.is_right("poisoned"));
}

TEST_CASE("the error bound is as wide as theory says and no wider") {
  const std::vector<float> ones(64, 1.0f);
  const double u = std::ldexp(1.0, -24);
  // Of two terms no error is larger than two roundings; of 64 it is taken to be 3 * sqrt(64).
  const DotProductBound certain(ones, ones, 1, 1, 2), probable(ones, ones, 1, 1, 64);
  CHECK(is_close(certain(0), 2 * u / (1 - 2 * u) * 2, 1e-15));
  CHECK(is_close(probable(0), 3 * 8 * u * 64, 1e-12));
}

TEST_CASE("a large shape that no tile divides comes out right") {
  // A thousand million terms: on the CPU backend one version, in one order of threads, and not
  // under the sanitizers.
  const char* const schedule = std::getenv("CUDA_CPU_SCHEDULE");
  if (!kOnGpu && schedule != nullptr && std::string(schedule) != "forward") return;
  if (std::getenv("TEST_SIZES") != nullptr) return;
  const auto product = product_of(ProductShape{1024, 1000, 1013}, kSeed);
  int tried = 0;
  for (const auto& version : kVersions) {
    if (!kOnGpu && std::string(version.name) != kVersionForLargeShape) continue;
    INFO(version.name);
    CHECK(runs_right(version, product));
    ++tried;
  }
  CHECK(tried > 0);
}
