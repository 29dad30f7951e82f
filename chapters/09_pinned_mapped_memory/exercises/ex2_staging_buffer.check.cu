// SPDX-License-Identifier: MIT
// STARTER FAILS: every chunk arrives as it was filled
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

TEST_CASE("every chunk arrives as it was filled") {
  for (const std::size_t chunk : {100u, lab::drawn(1, 31), lab::drawn(257, 600)}) {
    lab::Trials()
        .sizes({1, std::max<std::size_t>(1, chunk - 1), chunk, chunk + 1, 2 * chunk, 3 * chunk + 1,
                1000})
        .inputs({lab::Input::kRandom})
        .diagnose(
            "one chunk is right, several are not: what happens to a chunk in the buffer when "
            "the next one is filled?",
            [chunk](const lab::Trial& r) { return r.n > chunk; })
        .run([chunk](const lab::Trial& at) {
          const unsigned rounds =
              kOnGpu ? 100000 : lab::drawn(1, 9);  // on a GPU long enough to be overtaken
          const Round all = repeated(kRound, rounds);
          std::vector<unsigned> x(at.n), expected(at.n);
          for (std::size_t i = 0; i < at.n; ++i) {
            x[i] = static_cast<unsigned>(random_bits(9, i));
            expected[i] = all(x[i]);
          }

          const lab::Streams streams(1);
          const lab::Array<unsigned> d_words(at.n);
          const lab::PinnedWords buffer(chunk), now(chunk);
          const lab::Streams looks(1);
          lab::Bystander other;
          CUDA_CHECK(cudaDeviceSynchronize());  // d_words is poisoned
          bool same_buffer = true, kernel_was_over = false, idle = false, alone = false;
          const auto fill = [&](unsigned* to, std::size_t first, std::size_t count) {
            same_buffer = same_buffer && to == buffer.get();
            if (first > 0 && lab::nothing_runs_early() && !races_are_looked_for()) {
              // What the chunk before is by now, as a copy in another stream finds it.
              CUDA_CHECK(cudaMemcpyAsync(now.get(), d_words.get() + first - chunk,
                                         chunk * sizeof(unsigned), cudaMemcpyDeviceToHost,
                                         looks[0]));
              CUDA_CHECK(cudaStreamSynchronize(looks[0]));
              const auto mixed = expected.begin() + static_cast<std::ptrdiff_t>(first - chunk);
              if (std::equal(now.get(), now.get() + chunk, mixed)) kernel_was_over = true;
              if (!streams.is_busy(0)) idle = true;
            }
            std::copy_n(&x[first], count, to);
          };
          lab::count_all(
              [&] {
                other.begin();
                send_and_mix(fill, at.n, chunk, buffer.get(), d_words.get(), rounds, streams[0]);
                alone = other.was_left_alone();
              },
              [&] {
                lab::expect_equal("with chunks of " + std::to_string(chunk) + ", d_words",
                                  d_words.download(), expected);
                lab::expect(same_buffer, "where fill puts each chunk", "in the one pinned buffer",
                            "somewhere else");
                lab::expect(!kernel_was_over,
                            "the kernel of the chunk before, while the next one is filled",
                            "still to be done", "waited for");
                lab::expect(!idle, "the stream, while the next chunk is filled",
                            "busy with the kernel of the chunk before", "without work");
                lab::expect(alone, "work of another stream, which is no concern of this function",
                            "still to be done", "waited for");
              },
              [&](const auto& seen) {
                lab::exactly("launches", seen.size(), div_up(at.n, chunk), "one for each chunk");
                std::size_t mixed = 0;
                for (const auto& launch : seen) mixed += launch.loads().lanes;
                lab::exactly("words that all kernels load from device memory", mixed, at.n,
                             "the device mixes them, each once");
              });
        });
  }
}
