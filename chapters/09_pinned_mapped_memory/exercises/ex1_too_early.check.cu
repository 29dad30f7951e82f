// SPDX-License-Identifier: MIT
// STARTER FAILS: the sum is that of the words that come back
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/pinned.cuh"

// the learner's file:
#include LAB_FILE

namespace {

// Work that lies on the stream before the call: it brings the words, as a copy would. Who works on
// h_x on the host before that finds others there.
struct Bringing {
  const std::vector<unsigned>* from;
  unsigned* to;
};

void bring(void* given) {
  const auto* const bringing = static_cast<const Bringing*>(given);
  std::copy(bringing->from->begin(), bringing->from->end(), bringing->to);
}

}  // namespace

TEST_CASE("the sum is that of the words that come back") {
  lab::Trials()
      .sizes({1, 33, 257, 1000, 4096, lab::drawn(1001, 4000), lab::drawn(66000, 70000)})
      .inputs({lab::Input::kRandom})
      .run([](const lab::Trial& at) {
        // On a GPU long enough to be overtaken; once more than 16 bits count.
        const unsigned rounds =
            kOnGpu || at.n == 33 ? lab::drawn(100000, 110000) : lab::drawn(0, 9);
        const Round all = lab::repeated(kRound, rounds);
        std::vector<unsigned> x(at.n), y(at.n);
        unsigned long long expected = 0;
        for (std::size_t i = 0; i < at.n; ++i) {
          x[i] = static_cast<unsigned>(random_bits(9, i));
          y[i] = all(x[i]);
          expected += y[i];
        }

        const lab::Streams streams(1);
        const lab::Array<unsigned> d_words(at.n);
        const lab::PinnedWords h_x(std::vector<unsigned>(at.n, 1)), h_y(at.n);
        Bringing bringing{&x, h_x.get()};
        lab::Bystander other;
        CUDA_CHECK(cudaDeviceSynchronize());  // d_words is poisoned
        const unsigned long long before =
            static_cast<unsigned long long>(at.n) * 0xffffffffull;      // what stands in h_y
        const unsigned long long early = std::uint64_t{at.n} * all(1);  // what stands in h_x, mixed
        unsigned long long sum = 0;
        bool arrived = false, alone = false;
        lab::Copied of_x;
        lab::count(
            [&] {
              CUDA_CHECK(cudaLaunchHostFunc(streams[0], bring, &bringing));
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
              lab::expect(sum == expected || sum != early, "the sum", "of the words that came back",
                          "of what stood in h_x when the function was called: earlier work of the "
                          "stream had yet to fill it");
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
              lab::at_most("these loads, counting a warp's 32 threads as one",
                           seen.loads().requests, 2 * div_up(at.n, 32),
                           "neighbouring threads have neighbouring words");
              lab::exactly("words that the kernel stores to device memory", seen.stores().lanes,
                           at.n, "the device mixes them, each once");
              lab::exactly("words of h_x that are copied", of_x.of_arrays / sizeof(unsigned), at.n,
                           "the device gets them as they are, and mixes them");
            });
      });
}
