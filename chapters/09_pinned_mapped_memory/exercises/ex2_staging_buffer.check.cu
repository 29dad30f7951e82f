// SPDX-License-Identifier: MIT
// STARTER FAILS: every chunk arrives as it was filled
#include "tests/lab_pinned.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every chunk arrives as it was filled") {
  lab::Trials()
      .sizes({1, 99, 100, 101, 200, 301, 1000})
      .inputs({lab::Input::kRandom})
      .diagnose(
          "one chunk is right, several are not: what happens to a chunk in the buffer when "
          "the next one is filled?",
          [](const lab::Trial& r) { return r.n > 100; })
      .run([](const lab::Trial& at) {
        const std::size_t chunk = 100;
        const unsigned rounds = kOnGpu ? 100000 : 3;  // on a GPU long enough to be overtaken
        const Round all = repeated(kRound, rounds);
        std::vector<unsigned> x(at.n), expected(at.n);
        for (std::size_t i = 0; i < at.n; ++i) {
          x[i] = static_cast<unsigned>(random_bits(9, i));
          expected[i] = all(x[i]);
        }

        const lab::Streams streams(1);
        const lab::Array<unsigned> d_words(at.n);
        const lab::PinnedWords buffer(chunk);
        CUDA_CHECK(cudaDeviceSynchronize());  // d_words is poisoned
        bool kernel_was_over = false;
        const auto fill = [&](unsigned* to, std::size_t first, std::size_t count) {
          // On a GPU that depends on the clock; here nothing runs until something waits for it.
          if (!kOnGpu && first > 0 && !streams.is_busy(0)) kernel_was_over = true;
          std::copy_n(&x[first], count, to);
        };
        send_and_mix(fill, at.n, chunk, buffer.get(), d_words.get(), rounds, streams[0]);
        lab::expect_equal("d_words", d_words.download(), expected);
        lab::expect(!kernel_was_over,
                    "the kernel of the chunk before, while the next one is filled",
                    "still to be done", "waited for");
      });
}
