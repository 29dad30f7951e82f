// SPDX-License-Identifier: MIT
// If a word of the host's memory is read twice, does it cross the bus twice?

#include "../../../common/common.cuh"
#include "rounds.cuh"

// A word is read by its own thread, and again by the thread that is `apart` words before it.
__global__ void mix_with_other(const unsigned* x, std::size_t n, std::size_t apart, Round round,
                               unsigned rounds, unsigned* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned v = x[i];
    for (unsigned r = 0; r < rounds; ++r) v = round(v);
    const std::size_t other = i + apart;
    y[i] = v ^ x[other < n ? other : other - n];
  }
}

// The same words in pinned memory and on the device.
struct Reads : PinnedWords {
  Reads(std::size_t words, unsigned rounds_per_word, std::uint64_t seed)
      : PinnedWords(words, rounds_per_word, seed) {
    CUDA_CHECK(cudaMemcpy(d_x, h_x, n * kWord, cudaMemcpyHostToDevice));
  }

  void poison() const { d_y.poison(); }

  unsigned half_the_rounds() const { return std::max(1u, rounds / 2); }
  bool after_one_launch(const std::string& name) const {
    const Round all = rounds_in_one(rounds);
    return matches(name, [&](std::size_t i) { return all(h_x[i]); });
  }
  bool after_two_launches(const std::string& name) const {
    const Round half = rounds_in_one(half_the_rounds());
    return matches(name, [&](std::size_t i) { return half(half(h_x[i]) ^ h_x[i]); });
  }
  bool with_other(const std::string& name, std::size_t apart) const {
    const Round all = rounds_in_one(rounds);
    return matches(name, [&](std::size_t i) { return all(h_x[i]) ^ h_x[(i + apart) % n]; });
  }
  bool with_near(const std::string& name) const { return with_other(name, 1); }
  bool with_far(const std::string& name) const { return with_other(name, n / 2); }

  template <class Expected>
  bool matches(const std::string& name, Expected&& of) const {
    std::vector<unsigned> expected(n);
    for (std::size_t i = 0; i < n; ++i) expected[i] = of(i);
    return all_equal(name, d_y.download(), expected);
  }
};

void read_once(const Reads& m) {
  mix<<<blocks_for(m.n, kBlock), kBlock>>>(m.mapped_x, m.n, kRound, m.rounds, true, m.d_y);
}
void read_in_two_launches(const Reads& m) {
  for (const bool first : {true, false}) {
    mix<<<blocks_for(m.n, kBlock), kBlock>>>(m.mapped_x, m.n, kRound, m.half_the_rounds(), first,
                                             m.d_y);
    CUDA_CHECK_LAUNCH();
  }
}
void read_with_other(const Reads& m, const unsigned* x, std::size_t apart) {
  mix_with_other<<<blocks_for(m.n, kBlock), kBlock>>>(x, m.n, apart, kRound, m.rounds, m.d_y);
}

// The neighbour's word has most likely come to this SM; that of the other half to another one.
const Version<Reads> kVersions[] = {
    {"mapped_read", "the kernel reads host memory, each word once", read_once,
     &Reads::after_one_launch},
    {"mapped_read_twice", "half the work per launch, two launches", read_in_two_launches,
     &Reads::after_two_launches},
    {"mapped_read_near", "every word read by two threads: by neighbours",
     [](const Reads& m) { read_with_other(m, m.mapped_x, 1); }, &Reads::with_near},
    {"mapped_read_far", "every word read by two threads: half of all words apart",
     [](const Reads& m) { read_with_other(m, m.mapped_x, m.n / 2); }, &Reads::with_far},
    {"device_read_far", "the same, all on the device",
     [](const Reads& m) { read_with_other(m, m.d_x, m.n / 2); }, &Reads::with_far},
};

int main(int argc, char** argv) {
  std::size_t n = 256_Ki, rounds = 1;  // 1 MiB: it would fit into the L2 of any GPU
  const Options opt(argc, argv, "09_second_read", "does a word that is read twice come twice?",
                    {{"n", &n, 1, 4_Gi, "words of 4 bytes"},
                     {"rounds", &rounds, 1, 1_Mi, "the kernel's work per word"}});
  ResultTable table(opt, n * kWord, n * kWord);
  table.rate_in("GB/s");
  table.without_speedup();
  const Reads reads(n, static_cast<unsigned>(rounds), opt.seed);
  for (const auto& version : kVersions) table.add(version, reads);
  return table.finish();
}
