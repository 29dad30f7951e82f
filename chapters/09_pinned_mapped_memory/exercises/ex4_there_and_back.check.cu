// SPDX-License-Identifier: MIT
// STARTER FAILS: every word comes back mixed, each chunk by its own stream
#include "tests/lab_pinned.cuh"
// the learner's file:
#include LAB_FILE

TEST_CASE("every word comes back mixed, each chunk by its own stream") {
  lab::Trials()
      .sizes({1, 99, 297, 98, 100, 257, 1000})
      .inputs({lab::Input::kRandom})
      .diagnose("only sizes that 99 does not divide fail: the last chunk is a short one",
                [](const lab::Trial& r) { return r.n % 99 != 0; })
      .diagnose(
          "one chunk is right, several are not: does each have a place of its own, on the "
          "device and in h_y?",
          [](const lab::Trial& r) { return r.n > 99; })
      .run([](const lab::Trial& at) {
        const std::size_t chunk = 99, chunks = div_up(at.n, chunk);
        const unsigned rounds = kOnGpu ? 10000 : 3;
        const Round all = repeated(kRound, rounds);
        std::vector<unsigned> x(at.n), expected(at.n);
        for (std::size_t i = 0; i < at.n; ++i) {
          x[i] = static_cast<unsigned>(random_bits(9, i));
          expected[i] = all(x[i]);
        }
        for (const std::size_t count : {1, 3}) {
          const std::string of = std::to_string(count);
          const lab::Streams streams(count);
          const lab::Array<unsigned> d_words(at.n);
          const lab::PinnedWords h_x(x), h_y(at.n);
          CUDA_CHECK(cudaDeviceSynchronize());  // d_words is poisoned
          enqueue_chunks(h_x.get(), h_y.get(), d_words.get(), at.n, chunk, rounds, streams.all());
          // On a GPU all may be done by now; here nothing is until somebody waits.
          for (std::size_t k = 0; !kOnGpu && k < std::min(count, chunks); ++k) {
            lab::expect(streams.is_busy(k), "stream " + std::to_string(k) + " of " + of,
                        "something to do when the function returns", "nothing to do");
          }
          // After stream k its chunks are there, whatever the other streams do.
          std::vector<unsigned> come(at.n, 0xffffffffu);
          for (std::size_t k = 0; k < count; ++k) {
            CUDA_CHECK(cudaStreamSynchronize(streams[k]));
            const std::vector<unsigned> now = h_y.now();
            for (std::size_t i = 0; i < at.n; ++i) {
              if (i / chunk % count == k) come[i] = now[i];
            }
          }
          CUDA_CHECK(cudaDeviceSynchronize());
          lab::expect_equal("with " + of + (count > 1 ? " streams, h_y" : " stream, h_y"), come,
                            expected);
        }
      });
}
