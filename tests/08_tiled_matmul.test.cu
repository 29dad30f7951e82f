// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/08_tiled_matmul/tiled_matmul.cu"
#undef main

#include "matmul_testing.cuh"

TEST_CASE(
    "every version multiplies matrices of awkward shapes, within the bound of a dot product") {
  for (const Shape s : awkward_shapes()) {
    MatrixSetup setup(s);
    for (const auto& version : kVersions) {
      INFO(version.name << ", " << s.m << " x " << s.n << " x " << s.k);
      setup.d_c.poison();
      CHECK(setup.run_and_check(version));
    }
  }
}

TEST_CASE(
    "every version respects a stride that is wider than the matrix, and leaves the gap alone") {
  const Shape s = {33, 47, 20};
  for (const auto& version : kVersions) {
    MatrixSetup setup(s, 5);
    INFO(version.name);
    CHECK(setup.run_and_check(version));
    const std::vector<float> c = setup.d_c.download();
    for (std::size_t row = 0; row < s.m; ++row) {
      for (std::size_t gap = s.n; gap < s.n + 5; ++gap)
        REQUIRE(std::isnan(c[row * (s.n + 5) + gap]));
    }
  }
}

TEST_CASE("multiplying by the identity gives every element back exactly, on either side") {
  const unsigned side = 45;
  std::vector<float> x(side * side);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);  // no two elements alike
  for (const auto& version : kVersions) {
    for (const bool left : {true, false}) {
      MatrixSetup setup({side, side, side}, 0, left ? identity_matrix(side) : x,
                        left ? x : identity_matrix(side));
      INFO(version.name << (left ? ", identity left" : ", identity right"));
      REQUIRE(setup.run_and_check(version));
      CHECK(setup.d_c.download() == x);
    }
  }
}

TEST_CASE("launches one after the other give the same result") {
  MatrixSetup setup({70, 40, 50});
  for (const auto& version : kVersions) {
    for (int repeat = 0; repeat < 5; ++repeat) version.launch(setup.p);
    CUDA_CHECK_LAUNCH();
    INFO(version.name);
    CHECK(setup.right(version.name));
  }
}

TEST_CASE("the checker rejects a kernel that does nothing, a NaN, and one wrong element") {
  MatrixSetup setup({33, 34, 35});
  CHECK_FALSE(setup.right("nothing ran"));
  REQUIRE(setup.run_and_check(kVersions[0]));
  std::vector<float> c = setup.d_c.download();
  for (const float wrong : {c[500] + 0.01f, std::nanf("")}) {
    std::vector<float> other = c;
    other[500] = wrong;
    CUDA_CHECK(cudaMemcpy(setup.d_c.get(), other.data(), other.size() * sizeof(float),
                          cudaMemcpyHostToDevice));
    CHECK_FALSE(setup.right("one wrong element"));
  }
}

TEST_CASE("the error bound is as wide as theory says and no wider") {
  const std::vector<float> ones(64, 1.0f);
  const DotProductBound bound(ones, ones, 1, 1, 64);
  const double u = std::ldexp(1.0, -24);
  CHECK(is_close(bound(0), 64 * u / (1 - 64 * u) * 64, 1e-12));
}

TEST_CASE("a large shape that no tile divides comes out right") {
  // A thousand million terms: on the CPU backend one version, in one order of threads, and not
  // under the sanitizers.
  const char* const schedule = std::getenv("CUDA_CPU_SCHEDULE");
  if (!kOnGpu && schedule != nullptr && std::string(schedule) != "forward") return;
  if (std::getenv("TEST_SIZES") != nullptr) return;
  MatrixSetup setup({1024, 1000, 1013});
  for (const auto& version : kVersions) {
    if (!kOnGpu && std::string(version.name) != "tiled_32_ahead") continue;
    INFO(version.name);
    CHECK(setup.run_and_check(version));
  }
}
