// SPDX-License-Identifier: MIT
// STARTER FAILS: the sum is that of the words that come back
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/pinned.cuh"

// `count` rounds in a row are one such round again: this one. The learner's file has the type.
template <class Round>
Round repeated(Round round, unsigned count) {
  Round all{1, 0};
  for (unsigned k = 0; k < count; ++k) all = {all.factor * round.factor, round(all.step)};
  return all;
}

// the learner's file:
#include LAB_FILE

TEST_CASE("the sum is that of the words that come back") {
  lab::Trials()
      .sizes({1, 33, 257, 1000, 4096, lab::drawn(1001, 4000), lab::drawn(66000, 70000)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        const unsigned rounds =
            kOnGpu ? 100000 : lab::drawn(0, 9);  // on a GPU long enough to be overtaken
        const Round all = repeated(kRound, rounds);
        std::vector<unsigned> x(at.n), y(at.n);
        unsigned long long expected = 0;
        for (std::size_t i = 0; i < at.n; ++i) {
          x[i] = static_cast<unsigned>(random_bits(9, i));
          y[i] = all(x[i]);
          expected += y[i];
        }

        const lab::Streams streams(1);
        const lab::Array<unsigned> d_words(at.n);
        const lab::PinnedWords h_x(x), h_y(at.n);
        lab::Bystander other;
        CUDA_CHECK(cudaDeviceSynchronize());  // d_words is poisoned
        const unsigned long long before =
            static_cast<unsigned long long>(at.n) * 0xffffffffull;  // what stands in h_y
        unsigned long long sum = 0;
        bool arrived = false, alone = false;
        lab::Copied of_x;
        lab::count(
            [&] {
              other.begin();
              const auto call = [&] {
                sum = mix_and_add(h_x.get(), h_y.get(), d_words.get(), at.n, rounds, streams[0]);
                arrived = h_y.now() == y;
                alone = other.was_left_alone();
              };
              of_x = lab::copied_by(call, h_x);
            },
            [&] {
              lab::expect(sum != before, "the sum", "of the mixed words",
                          "of what stood in h_y before anything came back");
              lab::expect_equal("the sum", sum, expected);
              lab::expect(arrived, "h_y, when the function returns", "the mixed words",
                          "other words");
              lab::expect_equal("d_words", d_words.download(), y);
              lab::expect(alone, "work of another stream, which is no concern of this function",
                          "still to be done", "waited for");
            },
            [&](const auto& seen) {
              lab::exactly("words that the kernel loads from device memory", seen.loads().lanes,
                           at.n, "the device mixes them, each once");
              lab::exactly("words that the kernel stores to device memory", seen.stores().lanes,
                           at.n, "the device mixes them, each once");
              lab::exactly("words of h_x that are copied", of_x.of_arrays / sizeof(unsigned), at.n,
                           "the device gets them as they are, and mixes them");
            });
      });
}
