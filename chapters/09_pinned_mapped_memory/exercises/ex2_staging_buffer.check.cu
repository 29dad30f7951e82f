// SPDX-License-Identifier: MIT
// STARTER FAILS: every chunk arrives as it was filled
#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/pinned.cuh"

// the learner's file:
#include LAB_FILE

namespace {

void try_call(std::size_t n, std::size_t chunk, unsigned rounds) {
  const Round all = lab::repeated(kRound, rounds);
  std::vector<unsigned> x(n), expected(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<unsigned>(random_bits(9, i));
    expected[i] = all(x[i]);
  }

  const lab::Streams streams(1);
  const lab::Array<unsigned> d_words(n);
  const lab::PinnedWords buffer(chunk), now(chunk);
  const lab::Streams looks(1);
  lab::Bystander other;
  CUDA_CHECK(cudaDeviceSynchronize());  // d_words is poisoned
  bool same_buffer = true, as_filled = true, kernel_was_over = false, idle = false, alone = false;
  const auto still_holds = [&](std::size_t first) {
    return std::equal(x.begin() + static_cast<std::ptrdiff_t>(first),
                      x.begin() + static_cast<std::ptrdiff_t>(std::min(n, first + chunk)),
                      buffer.get());
  };
  const auto fill = [&](unsigned* to, std::size_t first, std::size_t count) {
    same_buffer = same_buffer && to == buffer.get();
    if (first > 0 && !still_holds(first - chunk)) as_filled = false;
    if (first > 0 && lab::nothing_runs_early() && !races_are_looked_for()) {
      // What the chunk before is by now, as a copy in another stream finds it.
      CUDA_CHECK(cudaMemcpyAsync(now.get(), d_words.get() + first - chunk, chunk * sizeof(unsigned),
                                 cudaMemcpyDeviceToHost, looks[0]));
      CUDA_CHECK(cudaStreamSynchronize(looks[0]));
      const auto mixed = expected.begin() + static_cast<std::ptrdiff_t>(first - chunk);
      if (std::equal(now.get(), now.get() + chunk, mixed)) kernel_was_over = true;
      if (!streams.is_busy(0)) idle = true;
    }
    std::copy_n(&x[first], count, to);
  };
  lab::Copied of_buffer;
  lab::count_all(
      [&] {
        other.begin();
        const auto call = [&] {
          send_and_mix(fill, n, chunk, buffer.get(), d_words.get(), rounds, streams[0]);
          alone = other.was_left_alone();
        };
        of_buffer = lab::copied_by(call, buffer);
      },
      [&] {
        lab::expect_equal("with chunks of " + std::to_string(chunk) + " and " +
                              std::to_string(rounds) + (rounds > 1 ? " rounds, " : " round, ") +
                              "d_words",
                          d_words.download(), expected);
        lab::expect(same_buffer, "where fill puts each chunk", "in the one pinned buffer",
                    "somewhere else");
        lab::expect(as_filled && still_holds((n - 1) / chunk * chunk), "a chunk in the buffer",
                    "as fill has left it, until the next one comes", "changed");
        lab::expect(!kernel_was_over,
                    "the kernel of the chunk before, while the next one is filled",
                    "still to be done", "waited for");
        lab::expect(!idle, "the stream, while the next chunk is filled",
                    "busy with the kernel of the chunk before", "without work");
        lab::expect(alone, "work of another stream, which is no concern of this function",
                    "still to be done", "waited for");
      },
      [&](const auto& seen) {
        lab::exactly("launches", seen.size(), div_up(n, chunk), "one for each chunk");
        lab::exactly("words of the buffer that are copied", of_buffer.of_arrays / sizeof(unsigned),
                     n, "the device gets each chunk from there");
        std::size_t mixed = 0, requests = 0;
        for (const auto& launch : seen) {
          mixed += launch.loads().lanes;
          requests += launch.loads().requests;
        }
        lab::exactly("words that all kernels load from device memory", mixed, n,
                     "the device mixes them, each once");
        lab::at_most("these loads, counting a warp's 32 threads as one", requests,
                     2 * (n / chunk * div_up(chunk, 32) + div_up(n % chunk, 32)),
                     "neighbouring threads have neighbouring words");
      });
}

}  // namespace

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
          // On a GPU long enough to be overtaken; once more than 16 bits count.
          const bool many = kOnGpu || (at.n == chunk + 1 && chunk < 32);
          try_call(at.n, chunk, many ? lab::drawn(100000, 110000) : lab::drawn(1, 9));
        });
  }
}

TEST_CASE("chunks of more than 2^16 words arrive, and more of them than 8 bits count") {
  const std::size_t n = lab::tries_large_sizes() ? lab::drawn(66000, 70000) : 700;
  for (const std::size_t chunk : {n, n / 300}) {
    lab::Trials().sizes({n}).inputs({lab::Input::kRandom}).run([chunk](const lab::Trial& at) {
      try_call(at.n, chunk, kOnGpu ? 100000 : lab::drawn(1, 9));
    });
  }
}
