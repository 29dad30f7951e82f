// SPDX-License-Identifier: MIT
// What the tests of chapters 07 and 08 share: awkward shapes, and a problem set up on the device.
// Included behind the chapter's program, whose Problem, kVersions and check it uses.
#pragma once

#include "kernel_testing.cuh"

struct Shape {
  unsigned m, n, k;
};

/// One element, one row, one column, primes, one more than tiles of 16, 32 and 128, wide and tall.
inline std::vector<Shape> awkward_shapes() {
  std::vector<Shape> shapes = {{1, 1, 1},    {1, 67, 1},   {67, 1, 1},   {1, 1, 67},
                               {31, 32, 33}, {16, 16, 16}, {37, 53, 29}, {3, 200, 17}};
  // One past every tile, also of 128: in both directions, or under checkers in one at a time.
  const std::vector<Shape> large = {{129, 257, 65}, {200, 3, 300}};
  const std::vector<Shape> small = {{129, 17, 33}, {17, 129, 33}, {70, 3, 130}};
  for (const Shape s : small_sizes() ? small : large) shapes.push_back(s);
  return shapes;
}

/// A problem with matrices on the device; the outputs are poisoned. `extra` widens every stride.
struct MatrixSetup {
  MatrixSetup(Shape s, unsigned extra, const std::vector<float>& a, const std::vector<float>& b)
      : shape(s),
        expected(multiply_on_host(a, b, s.m, s.n, s.k)),
        tolerance(a, b, s.m, s.n, s.k),
        d_a(widened(a, s.m, s.k, extra)),
        d_b(widened(b, s.k, s.n, extra)),
        d_c(static_cast<std::size_t>(s.m) * (s.n + extra)) {
    p.a = {d_a.get(), s.m, s.k, s.k + extra};
    p.b = {d_b.get(), s.k, s.n, s.n + extra};
    p.c = {d_c.get(), s.m, s.n, s.n + extra};
  }
  explicit MatrixSetup(Shape s, unsigned extra = 0)
      : MatrixSetup(s, extra, random_floats(static_cast<std::size_t>(s.m) * s.k, -1, 1, 5),
                    random_floats(static_cast<std::size_t>(s.k) * s.n, -1, 1, 6)) {}

  bool run_and_check(const Version<Problem>& version) {
    version.launch(p);
    CUDA_CHECK_LAUNCH();
    return right(version.name);
  }
  bool right(const char* name) const { return check(name, p, expected, tolerance); }

  // Rows `extra` elements apart, NaN in between: a kernel that ignores the stride reads it.
  static std::vector<float> widened(const std::vector<float>& x, unsigned height, unsigned width,
                                    unsigned extra) {
    std::vector<float> wide(static_cast<std::size_t>(height) * (width + extra), std::nanf(""));
    for (std::size_t row = 0; row < height; ++row) {
      std::copy_n(&x[row * width], width, &wide[row * (width + extra)]);
    }
    return wide;
  }

  Shape shape;
  std::vector<double> expected;
  DotProductBound tolerance;
  DeviceArray<float> d_a, d_b, d_c;
  Problem p{};
};

/// The matrix whose product with anything is that: index errors cannot hide behind it.
inline std::vector<float> identity_matrix(unsigned side) {
  std::vector<float> one(static_cast<std::size_t>(side) * side, 0.0f);
  for (std::size_t i = 0; i < side; ++i) one[i * side + i] = 1.0f;
  return one;
}
