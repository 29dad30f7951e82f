// SPDX-License-Identifier: MIT
// What can the host do while a copy is on its way?
//
// Nothing, if the memory is pageable: the call itself takes as long as the copy. How much of that
// is the CPU's copying? The host's own copy to pinned memory gives an idea (the driver's buffer is
// smaller).

#include <cstring>

#include "../../../common/common.cuh"

constexpr std::size_t kWord = sizeof(unsigned);  // sizes are counted in words of 4 bytes
constexpr std::size_t kHostShare = 16_Ki;        // of so many words the host has time for one

// One round of work: v becomes v * factor + step, modulo 2^32.
struct Round {
  unsigned factor, step;
  unsigned operator()(unsigned v) const { return v * factor + step; }
};
constexpr Round kRound{1664525, 1013904223};

// Words that go to the device, from pageable and from pinned memory, and what the host does
// meanwhile: the chapter's work on a few of the words, by one thread.
struct Meanwhile {
  Meanwhile(std::size_t n, unsigned rounds_per_word, std::uint64_t seed)
      : pageable(n), rounds(rounds_per_word), d_words(n), results(n) {
    for (std::size_t i = 0; i < n; ++i) pageable[i] = static_cast<unsigned>(random_bits(seed, i));
    CUDA_CHECK(cudaMallocHost(&pinned, bytes()));
    std::memcpy(pinned, pageable.data(), bytes());
    CUDA_CHECK(cudaMallocHost(&staging, bytes()));
  }
  ~Meanwhile() {
    CUDA_CHECK(cudaFreeHost(pinned));
    CUDA_CHECK(cudaFreeHost(staging));
  }

  std::size_t bytes() const { return pageable.size() * kWord; }
  std::size_t host_words() const { return div_up(pageable.size(), kHostShare); }

  void copy(const unsigned* from) const {
    CUDA_CHECK(cudaMemcpyAsync(d_words, from, bytes(), cudaMemcpyHostToDevice));
  }
  void host_copies() const { std::memcpy(staging, pageable.data(), bytes()); }
  void host_works() {
    for (std::size_t i = 0, count = host_words(); i < count; ++i) {
      unsigned v = pageable[i];
      for (unsigned r = 0; r < rounds; ++r) v = kRound(v);
      results[i] = v;
    }
  }

  void poison() {
    d_words.poison();
    std::memset(results.data(), 0xff, bytes());
    std::memset(staging, 0xff, bytes());
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  bool words_came(const std::string& name) const {
    return all_equal(name, d_words.download(), pageable);
  }
  bool host_copied(const std::string& name) const {
    return all_equal<unsigned>(name, {staging, staging + pageable.size()}, pageable);
  }
  // `rounds` rounds in a row are one such round again.
  bool host_worked(const std::string& name) const {
    Round all{1, 0};
    for (unsigned r = 0; r < rounds; ++r) all = {all.factor * kRound.factor, kRound(all.step)};
    std::vector<unsigned> expected(host_words());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = all(pageable[i]);
    return all_equal(name, {results.begin(), results.begin() + host_words()}, expected);
  }
  bool both_are_right(const std::string& name) const {
    return words_came(name) && host_worked(name);
  }

  std::vector<unsigned> pageable;
  unsigned rounds;
  unsigned *pinned = nullptr, *staging = nullptr;  // the words; gets them from the host itself
  DeviceArray<unsigned> d_words;
  std::vector<unsigned> results;
};

// Times only the call. What it starts on the device is waited for while the clock stands.
template <class Call>
Timing time_calls(std::size_t samples, Call&& call) {
  std::vector<double> ms;
  for (std::size_t i = 0; i <= samples; ++i) {  // the first one warms up
    const double begin = host_ms();
    call();
    const double end = host_ms();
    CUDA_CHECK(cudaDeviceSynchronize());
    if (i > 0) ms.push_back(end - begin);
  }
  return timing_of(ms);
}

// From the call until all is done.
template <class Work>
Timing time_until_done(std::size_t samples, Work&& work) {
  return time_on_host(samples, [&] {
    work();
    CUDA_CHECK(cudaDeviceSynchronize());
  });
}

struct Row {
  const char *name, *summary;
  bool only_the_call;
  void (*run)(Meanwhile&);
  bool (Meanwhile::*is_right)(const std::string& name) const;
};
const Row kRows[] = {
    {"call_h2d_pageable", "only the call of a copy from plain memory", true,
     [](Meanwhile& m) { m.copy(m.pageable.data()); }, &Meanwhile::words_came},
    {"all_of_h2d_pageable", "such a copy, until the words are there", false,
     [](Meanwhile& m) { m.copy(m.pageable.data()); }, &Meanwhile::words_came},
    {"call_h2d_pinned", "only the call of a copy from pinned memory", true,
     [](Meanwhile& m) { m.copy(m.pinned); }, &Meanwhile::words_came},
    {"host_copies_to_pinned", "the host copies from plain to pinned memory", false,
     [](Meanwhile& m) { m.host_copies(); }, &Meanwhile::host_copied},
    {"host_works_alone", "work of the host's own", false, [](Meanwhile& m) { m.host_works(); },
     &Meanwhile::host_worked},
    {"host_works_then_h2d_pinned", "the host's work, then a copy", false,
     [](Meanwhile& m) { m.host_works(), m.copy(m.pinned); }, &Meanwhile::both_are_right},
    // The call returns at once when the memory is pinned: the host works while the engine copies.
    {"host_works_during_h2d_pageable", "the host's work after the call, from plain memory", false,
     [](Meanwhile& m) { m.copy(m.pageable.data()), m.host_works(); }, &Meanwhile::both_are_right},
    {"host_works_during_h2d_pinned", "the host's work after the call, from pinned memory", false,
     [](Meanwhile& m) { m.copy(m.pinned), m.host_works(); }, &Meanwhile::both_are_right},
};

int main(int argc, char** argv) {
  std::size_t n = kOnGpu ? 64_Mi : 256_Ki, rounds = kOnGpu ? 1024 : 16;
  const Options opt(argc, argv, "09_host_meanwhile", "what can the host do during a copy?",
                    {{"n", &n, 1, 4_Gi, "words of 4 bytes"},
                     {"rounds", &rounds, 1, 1_Mi, "the host's work per word"}});
  ResultTable table(opt, n * kWord);
  table.longest_name("host_works_during_h2d_pageable");
  table.without_speedup();
  Meanwhile m(n, static_cast<unsigned>(rounds), opt.seed);
  for (const Row& row : kRows) {
    if (!table.wants(row.name, row.summary)) continue;
    const auto work = [&] { row.run(m); };
    m.poison();
    work();
    const bool right_at_first = (m.*row.is_right)(row.name);
    const Timing time =
        row.only_the_call ? time_calls(opt.samples, work) : time_until_done(opt.samples, work);
    table.row(row.name, time, 0, (m.*row.is_right)(row.name) && right_at_first);
  }
  return table.finish();
}
