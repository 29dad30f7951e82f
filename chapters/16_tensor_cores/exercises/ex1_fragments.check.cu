// SPDX-License-Identifier: MIT
// STARTER FAILS: C is right, and each lane loads what it holds
#include "chapters/16_tensor_cores/product.cuh"
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/matrices.cuh"
// the learner's file:
#include LAB_FILE

namespace {

/// `width` columns of a row-major matrix as rows.
std::vector<float> transposed(const std::vector<float>& m, std::size_t width) {
  std::vector<float> rows(m.size());
  const std::size_t height = width == 0 ? 0 : m.size() / width;
  for (std::size_t i = 0; i < m.size(); ++i) rows[i % width * height + i / width] = m[i];
  return rows;
}

void launch(const Bf16Array& across_a, const Bf16Array& across_b, const lab::DeviceMatrix& c) {
  const Matrix view = c.view();
  multiply<<<dim3(view.width / 8, view.height / 16), 32>>>(across_a.view, across_b.view, view);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

TEST_CASE("C is right, and each lane loads what it holds") {
  lab::Trials()
      .shapes({{16, 8, 16},
               {16, 8, 64},
               {32, 24, 32},
               {48, 40, 0},
               {16 * lab::drawn(1, 6), 8 * lab::drawn(4, 16), 16 * lab::drawn(3, 12)}})
      .blocks({32})
      .diagnose(
          "one step is right, several are not: from one step to the next all elements of a "
          "register are 16 terms further on",
          [](const lab::Trial& r) { return r.depth > 16; })
      .diagnose(
          "one warp is right, several are not: where does the warp's part of A, B and C begin?",
          [](const lab::Trial& r) { return r.rows > 16 || r.columns > 8; })
      .run([](const lab::Trial& at) {
        // Quarters: BF16 holds each exactly, and float sums of their products are exact.
        const std::vector<float> a = lab::quarters(at.rows * at.depth, 7);
        const std::vector<float> b = lab::quarters(at.depth * at.columns, 8);
        const Bf16Array across_a(to_bf16(transposed(a, at.depth)), at.depth, at.rows, 3);
        const Bf16Array across_b(to_bf16(transposed(b, at.columns)), at.columns, at.depth, 6);
        const lab::DeviceMatrix c(at.rows, at.columns, 2);
        const std::size_t steps = at.depth / 16, warps = at.rows / 16 * (at.columns / 8);
        lab::count(
            [&] { launch(across_a, across_b, c); },
            [&] {
              lab::expect_close(
                  "C", c.download("C"), multiply_on_host(a, b, at.rows, at.columns, at.depth),
                  [](std::size_t) { return 0.0; }, at.columns);
            },
            [&](const auto& seen) {
              lab::at_most("bytes that one lane loads", seen.bytes_loaded_by_busiest_thread(),
                           steps * (8 + 4) * sizeof(Bf16),
                           "in each step eight elements of A and four of B");
              lab::at_most("requests that load", seen.loads().requests, warps * steps * (8 + 2),
                           "in each step two for each register of A, and one for each of B, "
                           "where two elements lie side by side");
              lab::at_most("products, shuffles and votes of one lane",
                           seen.exchanges_of_busiest_thread, steps,
                           "one product in each step; a lane loads for itself alone");
              lab::exactly("requests to shared memory", seen.shared().requests, 0,
                           "a lane loads what it holds from global memory");
              lab::exactly("bytes that one lane stores", seen.bytes_stored_by_busiest_thread(),
                           4 * sizeof(float), "each element of C has a lane");
              lab::exactly("elements of C that are stored", seen.stores().bytes / sizeof(float),
                           at.rows * at.columns, "each once, when its sum is complete");
            });
      });
}

TEST_CASE("more than 2^16 rows, columns and terms are right") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const std::size_t many = 16 * lab::drawn(4100, 4110);
    for (const std::size_t which : {0, 1, 2}) {
      const std::size_t m = which == 0 ? many : 16, n = which == 1 ? many : 8;
      const std::size_t k = which == 2 ? many : 16;
      // Ones, and small numbers in the last term: sums are exact, and not all alike.
      std::vector<float> a(m * k, 1.0f), b(k * n, 1.0f), expected(m * n);
      for (std::size_t i = 0; i < m; ++i) a[(i + 1) * k - 1] = static_cast<float>(i % 61);
      for (std::size_t j = 0; j < n; ++j) b[(k - 1) * n + j] = static_cast<float>(j % 59);
      for (std::size_t i = 0; i < m * n; ++i)
        expected[i] = static_cast<float>(k - 1 + i / n % 61 * (i % n % 59));
      const Bf16Array across_a(to_bf16(transposed(a, k)), k, m, 0);
      const Bf16Array across_b(to_bf16(transposed(b, n)), n, k, 0);
      const lab::DeviceMatrix c(m, n, 0);
      launch(across_a, across_b, c);
      lab::expect_equal(
          "C of " + std::to_string(m) + " x " + std::to_string(n) + ", depth " + std::to_string(k),
          c.download("C"), expected);
    }
  });
}
