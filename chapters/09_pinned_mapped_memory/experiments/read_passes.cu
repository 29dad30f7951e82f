// SPDX-License-Identifier: MIT
// What does every further pass over the data cost, if the kernel reads the host's memory?

#include <cstring>

#include "../../../common/common.cuh"
#include "rounds.cuh"

struct Passes : PinnedWords {
  using PinnedWords::PinnedWords;

  // The rounds are shared among the passes, so that the arithmetic is always the same.
  unsigned rounds_in_each_of(unsigned passes) const { return std::max(1u, rounds / passes); }

  bool is_right(const std::string& name, unsigned passes) const {
    const Round all = rounds_in_one(rounds_in_each_of(passes));
    std::vector<unsigned> expected(n, 0);
    for (unsigned pass = 0; pass < passes; ++pass) {
      for (std::size_t i = 0; i < n; ++i) expected[i] = all(expected[i] ^ h_x[i]);
    }
    return all_equal(name, d_y.download(), expected);
  }
};

void run_passes(const Passes& p, unsigned passes, const unsigned* x) {
  const unsigned grid = blocks_for(p.n, kBlock);
  for (unsigned pass = 0; pass < passes; ++pass) {
    mix<<<grid, kBlock>>>(x, p.n, kRound, p.rounds_in_each_of(passes), pass == 0, p.d_y);
    CUDA_CHECK_LAUNCH();
  }
}

void mapped_read(const Passes& p, unsigned passes) { run_passes(p, passes, p.mapped_x); }

void copied_read(const Passes& p, unsigned passes) {
  CUDA_CHECK(cudaMemcpyAsync(p.d_x, p.h_x, p.n * kWord, cudaMemcpyHostToDevice));
  run_passes(p, passes, p.d_x);
}

struct Series {
  const char* name;
  void (*run)(const Passes&, unsigned passes);
};
const Series kSeries[] = {{"mapped_read", mapped_read}, {"copied_read", copied_read}};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, rounds = kOnGpu ? 1024 : 16, most = 8;
  const Options opt(argc, argv, "09_read_passes", "what does every further pass cost?",
                    {{"n", &n, 1, 4_Gi, "words of 4 bytes"},
                     {"rounds", &rounds, 1, 1_Mi, "the work per word, over all passes"},
                     {"passes", &most, 1, 64, "the most passes"}});
  ResultTable table(opt, n * kWord, n * kWord);
  table.rate_in("GB/s");
  table.without_speedup();
  const Passes p(n, static_cast<unsigned>(rounds), opt.seed);
  for (const Series& series : kSeries) {
    for (unsigned passes = 1; passes <= most; ++passes) {
      const std::string name = std::string(series.name) + " passes=" + std::to_string(passes);
      table.add(
          name, p, [&] { series.run(p, passes); }, [&] { return p.is_right(name, passes); });
    }
  }
  return table.finish();
}
