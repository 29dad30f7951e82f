// SPDX-License-Identifier: MIT
// The tests that every chapter on matrix products passes. A chapter's test includes it and defines
// for_every_version().
#pragma once

#include <cmath>
#include <limits>
#include <random>

#include "kernel_testing.cuh"

constexpr std::uint64_t kSeed = 5;

struct Sides {
  unsigned m, n, k;
};

inline std::string text_of(Sides s) {
  return std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k);
}

/// One element, one row, one column, primes, one more than tiles of 16, 32 and 128, wide and tall.
inline std::vector<Sides> awkward_shapes() {
  std::vector<Sides> shapes = {{1, 1, 1},    {1, 67, 1},   {67, 1, 1},   {1, 1, 67},
                               {31, 32, 33}, {16, 16, 16}, {37, 53, 29}, {3, 200, 17}};
  // One past every tile, also of 128: in both directions, or under checkers in one at a time.
  const std::vector<Sides> large = {{129, 257, 65}, {200, 3, 300}};
  const std::vector<Sides> small = {{129, 17, 33}, {17, 129, 33}, {70, 3, 130}};
  for (const Sides s : small_sizes() ? small : large) shapes.push_back(s);
  return shapes;
}

/// The matrix whose product with anything is that: index errors cannot hide behind it.
inline std::vector<float> identity_matrix(unsigned side) {
  std::vector<float> one(std::size_t{side} * side, 0.0f);
  for (unsigned i = 0; i < side; ++i) one[std::size_t{i} * side + i] = 1.0f;
  return one;
}

/// Dense values with `gap` NaNs behind each row: a kernel that takes the width for the stride reads
/// them.
inline std::vector<float> with_gaps(const std::vector<float>& dense, unsigned width, unsigned gap) {
  std::vector<float> wide;
  for (std::size_t i = 0; i < dense.size(); i += width) {
    wide.insert(wide.end(), &dense[i], &dense[i] + width);
    wide.insert(wide.end(), gap, std::nanf(""));
  }
  return wide;
}

/// A, B and room for C in device memory, from which the products of all programs are made.
struct Operands {
  Operands(Sides s, std::vector<float> values_of_a, std::vector<float> values_of_b,
           unsigned between_rows = 0)
      : sides(s),
        gap(between_rows),
        host_a(std::move(values_of_a)),
        host_b(std::move(values_of_b)) {}

  /// Seeded random elements from -1 to 1.
  explicit Operands(Sides s, unsigned between_rows = 0, std::uint64_t seed = kSeed)
      : Operands(s, random_floats(std::size_t{s.m} * s.k, -1, 1, seed),
                 random_floats(std::size_t{s.k} * s.n, -1, 1, seed + 1), between_rows) {}

  /// Its matrices lie in here when they have gaps. A chapter may have a product of its own.
  template <class Product = MatrixProduct>
  Product product() const {
    Product p(sides.m, sides.n, sides.k, host_a, host_b);
    if (gap == 0) return p;
    p.a = {a, sides.m, sides.k, sides.k + gap};
    p.b = {b, sides.k, sides.n, sides.n + gap};
    p.c = {c, sides.m, sides.n, sides.n + gap};
    return p;
  }

  Sides sides;
  unsigned gap;
  std::vector<float> host_a, host_b;
  DeviceArray<float> a{with_gaps(host_a, sides.k, gap)}, b{with_gaps(host_b, sides.n, gap)};
  DeviceArray<float> c{std::size_t{sides.m} * (sides.n + gap)};
};

/// Whether what lies between the rows of C is still what poison() left there.
inline bool gaps_are_untouched(const Matrix& c) {
  std::vector<float> all(c.elements());
  CUDA_CHECK(cudaMemcpy(all.data(), c.data, all.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % c.stride >= c.width && !std::isnan(all[i])) return false;
  return true;
}

/// Calls check(version, product) for each version of the chapter and of its experiments, with what
/// it takes. Defined by the test that includes this.
template <class Check>
void for_every_version(const Operands& operands, Check check);

inline void check_every_version(const Operands& operands) {
  for_every_version(operands, [&](const auto& version, const auto& product) {
    INFO(version.name << ", " << text_of(operands.sides) << ", gap " << operands.gap);
    CHECK(runs_right(version, product));
    CHECK(gaps_are_untouched(product.c));
  });
}

/// Launches a kernel in blocks of any shape, and checks it. `launch(grid, block)` is given a grid
/// that covers C with blocks that take `elements` each and, the second time, one that reaches a
/// block further in both directions: blocks that have no element must write nothing.
template <class Launch>
void check_blocks_of(const MatrixProduct& product, dim3 block, dim3 elements, Launch launch) {
  for (const unsigned spare : {0u, 1u}) {
    const dim3 grid(blocks_for(product.c.width, elements.x) + spare,
                    blocks_for(product.c.height, elements.y) + spare);
    product.poison();
    launch(grid, block);
    CUDA_CHECK_LAUNCH();
    INFO("blocks of " << block.x << " x " << block.y << ", " << spare << " to spare");
    CHECK(product.is_right("blocks of another shape"));
    CHECK(gaps_are_untouched(product.c));
  }
}

TEST_CASE(
    "every version multiplies matrices of awkward shapes, within the bound of a dot product") {
  for (const Sides s : awkward_shapes()) check_every_version(Operands(s));
}

TEST_CASE(
    "every version respects a stride that is wider than the matrix, and leaves the gap alone") {
  for (const Sides s : {Sides{33, 47, 20}, Sides{1, 67, 1}}) check_every_version(Operands(s, 5));
}

TEST_CASE("every version multiplies shapes that nobody chose") {
  std::mt19937 random(14);
  const unsigned most = small_sizes() ? 70 : 96;
  const auto side = [&] { return 1 + static_cast<unsigned>(random() % most); };
  for (unsigned i = 0; i < (small_sizes() ? 4 : 20); ++i) {
    const unsigned m = side(), n = side(), k = side();
    // Rows at multiples of 16 bytes, so that tiles inside are copied wide, and rows that are not.
    check_every_version(Operands({m, n, k}, i % 2 == 0 ? 0 : 4 - n % 4, kSeed + i));
  }
}

TEST_CASE("an infinity in B spoils its own column and no other") {
  // The last step reaches past the end of k; or all tiles are whole.
  for (const Sides s : {Sides{5, 9, 20}, Sides{128, 256, 32}}) {
    std::vector<float> b = random_floats(std::size_t{s.k} * s.n, -1, 1, 8);
    b[0] = std::numeric_limits<float>::infinity();
    const Operands operands(s, random_floats(std::size_t{s.m} * s.k, -1, 1, 7), b);
    for_every_version(operands, [&](const auto& version, const auto& product) {
      product.poison();
      version.launch(product);
      const std::vector<float> c = product.download();
      INFO(version.name << ", " << text_of(s));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < c.size(); ++i) wrong += std::isfinite(c[i]) == (i % s.n == 0);
      CHECK(wrong == 0);
    });
  }
}

TEST_CASE("the rates are computed from two operations per term") {
  MatrixProduct product(2, 3, 5, kSeed);
  CHECK(product.amount() == 2.0 * 2 * 3 * 5);
  product.a.height = product.a.width = product.b.width = 256_Ki;  // in 32 bits it would wrap
  CHECK(product.amount() == std::ldexp(1.0, 55));
}

// Multiplies different values by the identity, which stands left or right.
inline void check_identity(const Sides& s, bool left) {
  std::vector<float> x(std::size_t{s.k} * (left ? s.n : s.m));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);  // no two alike
  const Operands operands(s, left ? identity_matrix(s.k) : x, left ? x : identity_matrix(s.k));
  for_every_version(operands, [&](const auto& version, const auto& product) {
    INFO(version.name << (left ? ", identity left" : ", identity right"));
    REQUIRE(runs_right(version, product));
    CHECK(product.download() == x);
  });
}

TEST_CASE("multiplying by the identity gives every element back exactly, on either side") {
  for (const bool left : {true, false}) check_identity({45, 45, 45}, left);
}

inline void check_launches_in_a_row(const Sides& s) {
  for_every_version(Operands(s), [](const auto& version, const auto& product) {
    product.poison();
    for (int repeat = 0; repeat < 5; ++repeat) version.launch(product);
    CUDA_CHECK_LAUNCH();
    INFO(version.name);
    CHECK((product.*version.is_right)(version.name));
  });
}

TEST_CASE("launches one after the other give the same result") {
  check_launches_in_a_row({70, 40, 50});
}

TEST_CASE("the checker rejects a kernel that does nothing, a NaN, and one wrong element") {
  for_every_version(Operands({33, 34, 35}), [](const auto& version, const auto& product) {
    product.poison();
    CHECK_FALSE((product.*version.is_right)("nothing ran"));
    REQUIRE(runs_right(version, product));
    const std::vector<float> c = product.download();
    for (const float wrong : {c[500] + 0.01f, std::nanf("")}) {
      std::vector<float> other = c;
      other[500] = wrong;
      CUDA_CHECK(cudaMemcpy(product.c.data, other.data(), other.size() * sizeof(float),
                            cudaMemcpyHostToDevice));
      CHECK_FALSE((product.*version.is_right)("one wrong element"));
    }
  });
}

TEST_CASE("the error bound is as wide as theory says and no wider") {
  const std::vector<float> ones(64, 1.0f);
  const double u = std::ldexp(1.0, -24);
  // Of two terms no error is larger than two roundings; of 64 it is taken to be 3 * sqrt(64).
  CHECK(is_close(product_bounds(ones, ones, 1, 1, 2)[0], 2 * u / (1 - 2 * u) * 2, 1e-15));
  CHECK(is_close(product_bounds(ones, ones, 1, 1, 64)[0], 3 * 8 * u * 64, 1e-12));
}

TEST_CASE("a large shape that no tile divides comes out right") {
  // A thousand million terms; on the CPU backend a tenth of them, for one version, the last, in
  // one order of threads, and not under the checkers.
  const char* const schedule = std::getenv("CUDA_CPU_SCHEDULE");
  if (!kOnGpu && schedule != nullptr && std::string(schedule) != "forward") return;
  if (std::getenv("TEST_SIZES") != nullptr) return;
  const Operands operands(kOnGpu ? Sides{1024, 1000, 1013} : Sides{391, 517, 509});
  if (kOnGpu) return check_every_version(operands);
  int versions = 0, number = 0;
  const auto count = [&](const auto&, const auto&) { ++versions; };
  for_every_version(operands, count);
  for_every_version(operands, [&](const auto& version, const auto& product) {
    if (++number == versions) CHECK(runs_right(version, product));
  });
}
