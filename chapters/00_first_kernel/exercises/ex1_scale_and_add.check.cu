// SPDX-License-Identifier: MIT
// STARTER FAILS: every element is scaled and added, by a thread of its own
#include "common/labs/counts.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every element is scaled and added, by a thread of its own") {
  lab::Trials()
      .sizes({1000, 128, 129, 127, 1, 2, 255, 10007})
      .inputs({lab::Input::kIndices, lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const std::vector<float> x = lab::floats_of(at), y = random_floats(at.n, -1, 1, 5);
        std::vector<float> expected(at.n);
        for (std::size_t i = 0; i < at.n; ++i) expected[i] = y[i] + x[i] * 0.5f;  // 0.5: exact
        const lab::Array<float> d_x(x), d_y(y);
        lab::count(
            [&] {
              CUDA_CHECK(
                  cudaMemcpy(d_y.get(), y.data(), at.n * sizeof(float), cudaMemcpyHostToDevice));
              scale_and_add_on_device(0.5f, d_x.get(), d_y.get(), static_cast<int>(at.n));
              CUDA_CHECK_LAUNCH();
            },
            [&] { lab::expect_equal("y", d_y.download(), expected); },
            [&](const auto& seen) {
              lab::exactly("threads in a block", seen.block.x, 128);
              lab::exactly("blocks", seen.grid.x, div_up(at.n, 128),
                           "as few as have a thread for each element");
              lab::exactly("loads of all threads together", seen.loads().lanes, 2 * at.n,
                           "x[i] and y[i], once each");
              lab::exactly("loads, counting a warp's 32 threads as one", seen.loads().requests,
                           2 * div_up(at.n, 32), "neighbouring threads have neighbouring elements");
            });
      });
}
