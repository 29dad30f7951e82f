// SPDX-License-Identifier: MIT
// STARTER FAILS: the product of all numbers arrives, whoever comes between
#include "tests/lab_testing.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("the product of all numbers arrives, whoever comes between") {
  lab::Trials()
      .sizes({1, 2, 31, 33, 64, 127, 200, 1000, 0})
      .blocks({1, 31, 64})
      .inputs({lab::Input::kRandom, lab::Input::kIndices})
      .diagnose(
          "one thread is right, several are not: what if another one stores between your "
          "read and your write?",
          [](const lab::Trial& r) { return r.block > 1 && r.n > 1; })
      .diagnose("a single number is right, several are not: is any of them lost on the way?",
                [](const lab::Trial& r) { return r.n > 1; })
      .run([](const lab::Trial& at) {
        std::vector<unsigned> x(at.n);
        unsigned long long expected = 7;  // there before
        for (std::size_t i = 0; i < at.n; ++i) {
          const auto bits = at.input == lab::Input::kRandom ? random_bits(3, i) : 2 * i;
          x[i] = static_cast<unsigned>(1 + bits % 65520);
          expected = expected * x[i] % 65521;
        }

        const lab::Array<unsigned> d_x(x), product(std::vector<unsigned>{7});
        multiply_all<<<2, at.block>>>(d_x.get(), at.n, product.get());
        CUDA_CHECK_LAUNCH();
        lab::expect_equal("*product", product.download()[0], static_cast<unsigned>(expected));
      });
}
