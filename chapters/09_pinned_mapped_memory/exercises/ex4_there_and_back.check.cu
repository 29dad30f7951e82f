// SPDX-License-Identifier: MIT
// STARTER FAILS: every word comes back mixed, each chunk by its own stream
#include "common/labs/counts.cuh"
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
          lab::Bystander other;
          CUDA_CHECK(cudaDeviceSynchronize());  // d_words is poisoned
          std::vector<unsigned> come(at.n, 0xffffffffu);
          std::string idle, too_early;  // the first stream with nothing to do, or ahead of its turn
          bool none_yet = false, alone = false;
          lab::Copied of_x;
          lab::count_all(
              [&] {
                other.begin();
                const auto call = [&] {
                  enqueue_chunks(h_x.get(), h_y.get(), d_words.get(), at.n, chunk, rounds,
                                 streams.all());
                  none_yet = h_y.now() == come;
                  // On a GPU all may be done by now; here nothing is until somebody waits.
                  for (std::size_t k = 0; !kOnGpu && k < std::min(count, chunks); ++k) {
                    if (!streams.is_busy(k) && idle.empty()) idle = std::to_string(k);
                  }
                  // After stream k its chunks are there, and no other stream's, from the last on.
                  for (std::size_t k = count; k-- > 0;) {
                    CUDA_CHECK(cudaStreamSynchronize(streams[k]));
                    const std::vector<unsigned> now = h_y.now();
                    for (std::size_t i = 0; i < at.n; ++i) {
                      const std::size_t its_stream = i / chunk % count;
                      if (its_stream == k) come[i] = now[i];
                      if (its_stream < k && now[i] != 0xffffffffu && too_early.empty()) {
                        too_early = "stream " + std::to_string(its_stream);
                      }
                    }
                  }
                  alone = other.was_left_alone();
                };
                of_x = lab::copied_by(call, h_x);
              },
              [&] {
                lab::expect(idle.empty(), "stream " + idle + " of " + of,
                            "something to do when the function returns", "nothing to do");
                lab::expect(none_yet || !lab::nothing_runs_early(),
                            "h_y, when the function returns", "as it was",
                            "changed: somebody waited");
                lab::expect_equal("with " + of + (count > 1 ? " streams, h_y" : " stream, h_y"),
                                  come, expected);
                lab::expect(too_early.empty() || !lab::nothing_runs_early(),
                            "the chunks of " + too_early + ", when others have waited for theirs",
                            "still on their way", "there: streams wait for each other");
                lab::expect(alone, "work of another stream, which is no concern of this function",
                            "still to be done", "waited for");
              },
              [&](const auto& seen) {
                lab::exactly("launches", seen.size(), chunks, "one for each chunk");
                lab::exactly("words of h_x that are copied", of_x.of_arrays / sizeof(unsigned),
                             at.n, "the device gets them as they are, and mixes them");
                std::size_t loaded = 0, stored = 0, requests = 0;
                for (const auto& launch : seen) {
                  loaded += launch.loads().lanes;
                  stored += launch.stores().lanes;
                  requests += launch.loads().requests;
                }
                lab::exactly("words that all kernels load from device memory", loaded, at.n,
                             "the device mixes them, each once");
                lab::exactly("words that all kernels store to device memory", stored, at.n,
                             "the device mixes them, each once");
                lab::at_most("loads, counting a warp's 32 threads as one", requests,
                             2 * (at.n / chunk * div_up(chunk, 32) + div_up(at.n % chunk, 32)),
                             "neighbouring threads have neighbouring words");
              });
        }
      });
}
