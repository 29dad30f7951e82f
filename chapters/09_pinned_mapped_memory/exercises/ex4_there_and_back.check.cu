// SPDX-License-Identifier: MIT
// STARTER FAILS: every word comes back mixed, each chunk by its own stream
#include <chrono>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/pinned.cuh"

// the learner's file:
#include LAB_FILE

namespace {

// How a function call is tried: words of a chunk, streams, rounds.
struct Call {
  std::size_t chunk, streams;
  unsigned rounds;
};

std::vector<unsigned> random_words(std::size_t n) {
  std::vector<unsigned> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<unsigned>(random_bits(9, i));
  return x;
}

std::vector<unsigned> mixed(const std::vector<unsigned>& x, unsigned rounds) {
  const Round all = lab::repeated(kRound, rounds);
  std::vector<unsigned> y(x.size());
  std::transform(x.begin(), x.end(), y.begin(), all);
  return y;
}

// What has come back to h_y: after each wait for a stream its chunks, and no other stream's.
struct Come {
  static constexpr unsigned kUntouched = 0xffffffffu;
  explicit Come(std::size_t n) : words(n, kUntouched) {}

  // From the last stream on.
  void wait(const lab::PinnedWords& h_y, std::size_t chunk, const lab::Streams& streams,
            std::size_t count) {
    for (std::size_t k = count; k-- > 0;) {
      CUDA_CHECK(cudaStreamSynchronize(streams[k]));
      const std::vector<unsigned> now = h_y.now();
      for (std::size_t i = 0; i < words.size(); ++i) {
        const std::size_t its_stream = i / chunk % count;
        if (its_stream == k) words[i] = now[i];
        if (its_stream < k && now[i] != kUntouched && too_early.empty()) {
          too_early = "stream " + std::to_string(its_stream);
        }
      }
    }
  }
  void expect_in_turn() const {
    lab::expect(too_early.empty() || !lab::nothing_runs_early(),
                "the chunks of " + too_early + ", when others have waited for theirs",
                "still on their way", "there: streams wait for each other");
  }

  std::vector<unsigned> words;
  std::string too_early;  // the first stream ahead of its turn
};

void try_call(const Call& given, std::size_t n) {
  const std::size_t chunk = given.chunk, count = given.streams, chunks = div_up(n, chunk);
  const std::vector<unsigned> x = random_words(n), expected = mixed(x, given.rounds);
  const std::string of = std::to_string(count);
  const std::string with = "with " + of + (count > 1 ? " streams" : " stream") + ", chunks of " +
                           std::to_string(chunk) + " and " + std::to_string(given.rounds) +
                           " rounds, ";
  const lab::Streams streams(count);
  const lab::Array<unsigned> d_words(n);
  const lab::PinnedWords h_x(x), h_y(n);
  lab::Bystander other;
  CUDA_CHECK(cudaDeviceSynchronize());  // d_words is poisoned
  Come come(n);
  std::string idle;  // the first stream with nothing to do
  bool none_yet = false, alone = false;
  lab::Copied of_x;
  lab::count_all(
      [&] {
        other.begin();
        const auto call = [&] {
          enqueue_chunks(h_x.get(), h_y.get(), d_words.get(), n, chunk, given.rounds,
                         streams.all());
          none_yet = h_y.now() == come.words;
          // On a GPU all may be done by now; here nothing is until somebody waits.
          for (std::size_t k = 0; !kOnGpu && k < std::min(count, chunks); ++k) {
            if (!streams.is_busy(k) && idle.empty()) idle = std::to_string(k);
          }
          come.wait(h_y, chunk, streams, count);
          alone = other.was_left_alone();
        };
        of_x = lab::copied_by(call, h_x);
      },
      [&] {
        lab::expect(idle.empty(), "stream " + idle + " of " + of,
                    "something to do when the function returns", "nothing to do");
        lab::expect(none_yet || !lab::nothing_runs_early(), "h_y, when the function returns",
                    "as it was", "changed: somebody waited");
        lab::expect_equal(with + "h_y", come.words, expected);
        come.expect_in_turn();
        lab::expect(alone, "work of another stream, which is no concern of this function",
                    "still to be done", "waited for");
      },
      [&](const auto& seen) {
        lab::exactly("launches, " + with + "in all", seen.size(), chunks, "one for each chunk");
        lab::exactly("words of h_x that are copied", of_x.of_arrays / sizeof(unsigned), n,
                     "the device gets them as they are, and mixes them");
        std::size_t loaded = 0, stored = 0, requests = 0;
        for (const auto& launch : seen) {
          loaded += launch.loads().lanes;
          stored += launch.stores().lanes;
          requests += launch.loads().requests;
        }
        lab::exactly("words that all kernels load from device memory", loaded, n,
                     "the device mixes them, each once");
        lab::exactly("words that all kernels store to device memory", stored, n,
                     "the device mixes them, each once");
        lab::at_most("loads, counting a warp's 32 threads as one", requests,
                     2 * (n / chunk * div_up(chunk, 32) + div_up(n % chunk, 32)),
                     "neighbouring threads have neighbouring words");
      });
}

}  // namespace

TEST_CASE("every word comes back mixed, each chunk by its own stream") {
  // On a GPU long enough to be overtaken.
  const auto rounds = [](unsigned few) { return kOnGpu ? 10000 : few; };
  const std::vector<Call> calls = {
      {99, 1, rounds(3)},
      {99, 3, rounds(3)},
      {lab::drawn(1, 31), lab::drawn(4, 5), rounds(lab::drawn(0, 2))},
      {lab::drawn(257, 600), lab::drawn(2, 5), rounds(lab::drawn(4, 40))},
      {lab::drawn(1025, 3000), 2, rounds(1)},
      {lab::drawn(5, 40), lab::drawn(6, 20), rounds(2)},
      {lab::drawn(1, 9), 2, lab::drawn(66000, 70000)},
  };
  for (const Call& call : calls) {
    const std::size_t chunk = call.chunk;
    lab::Trials()
        .sizes({1, chunk, 3 * chunk, std::max<std::size_t>(1, chunk - 1), chunk + 1,
                10 * std::min<std::size_t>(chunk, 150) + lab::drawn(0, 99)})
        .inputs({lab::Input::kRandom})
        .diagnose("only sizes that the chunk of " + std::to_string(chunk) +
                      " does not divide fail: the last chunk is a short one",
                  [chunk](const lab::Trial& r) { return r.n % chunk != 0; })
        .diagnose(
            "one chunk is right, several are not: does each have a place of its own, on the "
            "device and in h_y?",
            [chunk](const lab::Trial& r) { return r.n > chunk; })
        .run([&](const lab::Trial& at) { try_call(call, at.n); });
  }
}

TEST_CASE("chunks of more than 2^16 words are right, and the function only asks for work") {
  const bool large = lab::tries_large_sizes();
  const std::size_t n = large ? lab::drawn(66000, 70000) : 700;
  // One chunk for all; and more of them, in more streams, than 8 bits count.
  for (const Call& call : {Call{n, 3, 1}, Call{n / 300, lab::drawn(257, 280), 1}}) {
    lab::Trials().sizes({n}).inputs({lab::Input::kRandom}).run([&](const lab::Trial& at) {
      try_call(call, at.n);

      const lab::Streams streams(call.streams);
      const lab::Array<unsigned> d_words(at.n);
      const lab::PinnedWords h_x(random_words(at.n)), h_y(at.n);
      CUDA_CHECK(cudaDeviceSynchronize());
      for (const std::size_t chunks : {std::size_t{1}, div_up(at.n, call.chunk)}) {
        // The quickest of several calls: other programs may have come between.
        double ms = 1e9;
        for (int again = 0; again < 8; ++again) {
          using Clock = std::chrono::steady_clock;
          const Clock::time_point start = Clock::now();
          enqueue_chunks(h_x.get(), h_y.get(), d_words.get(), std::min(at.n, chunks * call.chunk),
                         call.chunk, 1, streams.all());
          ms =
              std::min(ms, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
        }
        CUDA_CHECK(cudaDeviceSynchronize());
        const std::string what = chunks == 1 ? "one chunk" : std::to_string(chunks) + " chunks";
        lab::expect(ms < 50.0 + static_cast<double>(chunks), "the call for " + what,
                    "asks for three things for each, and returns at once",
                    "takes " + std::to_string(static_cast<int>(ms)) + " ms");
      }
    });
  }
}

TEST_CASE("more than 2^16 chunks are right") {
  lab::once([] {
    if (!lab::tries_large_sizes()) return;
    const std::size_t n = lab::drawn(65600, 66000);
    const std::vector<unsigned> x = random_words(n), expected = mixed(x, 1);
    const lab::Streams streams(3);
    const lab::Array<unsigned> d_words(n);
    const lab::PinnedWords h_x(x), h_y(n);
    CUDA_CHECK(cudaDeviceSynchronize());
    enqueue_chunks(h_x.get(), h_y.get(), d_words.get(), n, 1, 1, streams.all());
    Come come(n);
    come.wait(h_y, 1, streams, 3);
    // Of so much work some may be done early.
    lab::expect_equal("with 3 streams and chunks of one word, h_y", come.words, expected);
  });
}
