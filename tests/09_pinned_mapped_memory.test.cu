// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/09_pinned_mapped_memory/pinned_mapped_memory.cu"
#undef main

#include <array>
#include <numeric>
#include <set>

#include "kernel_testing.cuh"

#define main experiment_main
namespace copy_sizes {
#include "../chapters/09_pinned_mapped_memory/experiments/copy_sizes.cu"
}
namespace host_flags {
#include "../chapters/09_pinned_mapped_memory/experiments/host_flags.cu"
}
namespace host_meanwhile {
#include "../chapters/09_pinned_mapped_memory/experiments/host_meanwhile.cu"
}
namespace host_reads {
#include "../chapters/09_pinned_mapped_memory/experiments/host_reads.cu"
}
namespace rounds {  // apart from the program, whose names rounds.cuh has, too
#include "../chapters/09_pinned_mapped_memory/experiments/marks.cuh"
#include "../chapters/09_pinned_mapped_memory/experiments/rounds.cuh"
namespace chunk_counts {
#include "../chapters/09_pinned_mapped_memory/experiments/chunk_counts.cu"
}
namespace chunk_timeline {
#include "../chapters/09_pinned_mapped_memory/experiments/chunk_timeline.cu"
}
namespace default_stream {
#include "../chapters/09_pinned_mapped_memory/experiments/default_stream.cu"
}
namespace managed_memory {
#include "../chapters/09_pinned_mapped_memory/experiments/managed_memory.cu"
}
namespace read_passes {
#include "../chapters/09_pinned_mapped_memory/experiments/read_passes.cu"
}
namespace scratch_memory {
#include "../chapters/09_pinned_mapped_memory/experiments/scratch_memory.cu"
}
namespace second_read {
#include "../chapters/09_pinned_mapped_memory/experiments/second_read.cu"
}
namespace what_free_waits_for {
#include "../chapters/09_pinned_mapped_memory/experiments/what_free_waits_for.cu"
}
}  // namespace rounds
#undef main

namespace chunk_counts = rounds::chunk_counts;
namespace chunk_timeline = rounds::chunk_timeline;
namespace default_stream = rounds::default_stream;
namespace managed_memory = rounds::managed_memory;
namespace read_passes = rounds::read_passes;
namespace scratch_memory = rounds::scratch_memory;
namespace second_read = rounds::second_read;
namespace what_free_waits_for = rounds::what_free_waits_for;

namespace {

Transfer transfer(std::size_t n, std::size_t chunks = 4, std::size_t streams = 3) {
  return Transfer(random_words(n, 9), 5, chunks, streams);
}

// Whether all words are there after `run`, where the byte 0xff was before.
bool copies_right(const Copy& copy, const Transfer& t, Run run) {
  unsigned* const host = copy.kind.get(t.n);
  prepare(copy, t, host);
  run(t, host);
  const bool right = has_arrived(copy, t, host);
  copy.kind.give_back(host);
  return right;
}
bool copies_right(const Copy& copy, const Transfer& t) { return copies_right(copy, t, copy.run); }

const auto no_copy = [](const Transfer&, unsigned*) {};

// `rounds` rounds, one by one.
unsigned mixed(unsigned v, unsigned rounds) {
  for (unsigned r = 0; r < rounds; ++r) v = v * 1664525u + 1013904223u;
  return v;
}

// The rows of a program that takes a single sample: the fields of each line of its CSV.
std::vector<std::vector<std::string>> rows_of(int (*program)(int, char**),
                                              std::vector<std::string> options) {
  options.insert(options.end(), {"--samples", "1"});
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : lines_of_csv(program, options)) rows.push_back(fields_of(line));
  REQUIRE(!rows.empty());
  rows.erase(rows.begin());  // the header
  return rows;
}

constexpr std::size_t kName = 8, kRate = 12;  // columns of the CSV

std::vector<std::string> names_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.at(kName));
  return names;
}

}  // namespace

TEST_CASE("every version delivers every word at awkward sizes") {
  for (const std::size_t n : sizes_to_test()) {
    if (n == 0 || n > 3000) continue;  // the program refuses the first
    const Transfer t = transfer(n);
    for (const Copy& copy : kCopies) {
      INFO(copy.name << ", n = " << n);
      CHECK(copies_right(copy, t));
    }
    INFO("n = " << n);
    check_all(kVersions, t);
  }
}

TEST_CASE("every row of the program is checked before and after it was timed") {
  const auto rows = rows_of(chapter_main, {"--n", "1000", "--rounds", "3"});
  CHECK(rows.size() == std::size(kCopies) + std::size(kVersions));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i][kName]);
    CHECK(std::stod(rows[i][9]) > 0);
    CHECK(rows[i][17] == "ok");
  }
}

TEST_CASE("a pass writes its own words and no other, with blocks of any size") {
  const std::size_t guard = 64;
  for (const unsigned block : awkward_blocks()) {
    for (const std::size_t n : {1u, 31u, 32u, 33u, 257u, 1000u}) {
      std::vector<unsigned> x = random_words(n + guard, 4), expected(n + guard, 0xffffffffu);
      for (std::size_t i = 0; i < n; ++i) expected[i] = kRound(kRound(x[i]));
      const DeviceArray<unsigned> d_x(x), d_y(n + guard);  // d_y is poisoned
      const unsigned grid = blocks_for(n, block) + 1;      // a block more than it takes
      mix<<<grid, block>>>(d_x, n, kRound, 2, true, d_y);
      CUDA_CHECK_LAUNCH();
      INFO("n = " << n << ", block " << block);
      CHECK(d_y.download() == expected);
      mix<<<grid, block>>>(d_x, n, kRound, 1, false, d_y);
      CUDA_CHECK_LAUNCH();
      for (std::size_t i = 0; i < n; ++i) expected[i] = kRound(expected[i] ^ x[i]);
      CHECK(d_y.download() == expected);
    }
  }
}

TEST_CASE("chunks cover every word, however many chunks and streams there are") {
  for (const std::size_t n : {1u, 7u, 256u, 1009u}) {
    for (const std::size_t chunks : {1u, 2u, 3u, 7u, 256u, 1009u, 5000u}) {
      for (const std::size_t streams : {1u, 2u, 5u}) {
        const Transfer t = transfer(n, chunks, streams);
        INFO("n = " << n << ", " << chunks << " chunks, " << streams << " streams");
        CHECK(runs_right(version_named(kVersions, "overlapped"), t));
        CHECK(runs_right(version_named(kVersions, "overlapped_pageable"), t));
      }
    }
  }
}

TEST_CASE("many rounds in one step are what the rounds are one by one") {
  for (const unsigned count : {0u, 1u, 2u, 3u, 16u, 1000u}) {
    const Round all = repeated(kRound, count);
    for (unsigned v : {0u, 1u, 0xffffffffu, 123456789u}) {
      CHECK(all(v) == mixed(v, count));
      CHECK(rounds::rounds_in_one(count)(v) == mixed(v, count));
    }
  }
}

TEST_CASE("the reference is what the passes make of every word, written out") {
  const std::vector<unsigned> x = {0u, 1u, 0xffffffffu, 77777u};
  for (const unsigned passes : {1u, 2u, 3u}) {
    std::vector<unsigned> y;
    for (const unsigned word : x) {
      unsigned v = 0;
      for (unsigned pass = 0; pass < passes; ++pass) v = mixed(v ^ word, 4);
      y.push_back(v);
    }
    CHECK(reference(x, 4, passes) == y);
  }
}

TEST_CASE("any number of passes and rounds gives what the host computes") {
  Transfer t = transfer(1000);
  for (const unsigned rounds : {1u, 2u, 3u, 4u, 5u, 64u}) {
    t.rounds = rounds;
    for (const unsigned passes : {1u, 2u, 3u, 8u}) {
      INFO(rounds << " rounds, " << passes << " passes");
      CHECK(t.rounds_in_each_of(passes) == std::max(1u, rounds / passes));
      t.poison();
      run_passes(t, passes, t.mapped_x, t.d_y);
      CHECK(t.is_mixed("mapped", t.d_y.download().data(), passes));
      t.poison();
      copy_and_run_passes(t, passes);
      CHECK(t.is_mixed("copied", t.d_y.download().data(), passes));
      t.poison();
      run_passes(t, passes, t.d_data, t.mapped_y);
      CUDA_CHECK(cudaDeviceSynchronize());
      CHECK(t.is_mixed("mapped y", t.h_y, passes));
      t.poison();
    }
    INFO(rounds << " rounds");
    check_all(kVersions, t);
  }
}

TEST_CASE("memory that the host had better not read is checked by way of the device") {
  const Transfer t = transfer(5003);
  const Copy& copy = version_named(kCopies, "d2h_write_combined");
  unsigned* const host = copy.kind.get(t.n);
  prepare(copy, t, host);
  copy.run(t, host);
  CHECK(has_arrived(copy, t, host));
  CHECK(std::equal(t.data.begin(), t.data.end(), host));
  CHECK(t.d_y.download() == t.data);
  copy.kind.give_back(host);
  CHECK_FALSE(copies_right(copy, t, no_copy));
}

TEST_CASE("no launch trips over what earlier ones left, and doing nothing is not right") {
  const Transfer t = transfer(10007);
  check_repeated(kVersions, t);
  for (const Copy& copy : kCopies) {
    unsigned* const host = copy.kind.get(t.n);
    prepare(copy, t, host);
    for (int repeat = 0; repeat < repeats(20); ++repeat) copy.run(t, host);
    INFO(copy.name);
    CHECK(has_arrived(copy, t, host));
    copy.kind.give_back(host);
    CHECK_FALSE(copies_right(copy, t, no_copy));
  }
}

TEST_CASE("the check rejects a copy that stops a word short, whichever way it goes") {
  const Transfer t = transfer(1000);
  const auto h2d_short = [](const Transfer& short_of_it, unsigned* host) {
    CUDA_CHECK(cudaMemcpy(short_of_it.d_y, host, 999 * kWord, cudaMemcpyHostToDevice));
  };
  const auto d2h_short = [](const Transfer& short_of_it, unsigned* host) {
    CUDA_CHECK(cudaMemcpy(host, short_of_it.d_data, 999 * kWord, cudaMemcpyDeviceToHost));
  };
  for (const Copy& copy : kCopies) {
    INFO(copy.name);
    CHECK_FALSE(
        copies_right(copy, t, copy.way == Way::kToDevice ? Run{h2d_short} : Run{d2h_short}));
  }
}

TEST_CASE("the check rejects one wrong byte") {
  for (const std::size_t byte : {std::size_t{0}, std::size_t{2001}, std::size_t{3999}}) {
    const Transfer t = transfer(1000);
    INFO("byte " << byte);
    for (const char* name : {"h2d_pinned", "d2h_pinned"}) {
      const Copy& copy = version_named(kCopies, name);
      unsigned* const host = copy.kind.get(t.n);
      prepare(copy, t, host);
      const bool to_host = copy.way == Way::kToHost;
      if (!to_host) reinterpret_cast<unsigned char*>(host)[byte] ^= 1;
      copy.run(t, host);
      CUDA_CHECK(cudaDeviceSynchronize());
      if (to_host) reinterpret_cast<unsigned char*>(host)[byte] ^= 1;
      INFO(name);
      CHECK_FALSE(has_arrived(copy, t, host));
      copy.kind.give_back(host);
    }
    reinterpret_cast<unsigned char*>(t.h_x)[byte] ^= 1;
    for (const char* name : {"mapped_read", "copied_read", "copied_read_twice", "overlapped"}) {
      INFO(name);
      CHECK_FALSE(runs_right(version_named(kVersions, name), t));
    }
  }
}

TEST_CASE("a kernel reads host memory as it is when it runs, not as it was") {
  Transfer t = transfer(1000);
  t.data[17] = 4711;  // what is expected follows
  t.h_x[17] = 4711;
  CHECK(runs_right(version_named(kVersions, "mapped_read"), t));
}

TEST_CASE(
    "the pinned kinds are pinned, and plain memory is plain again when it has been returned") {
  for (const HostMemory* kind : {&kPageable, &kPinned, &kWriteCombined, &kRegistered}) {
    unsigned* const words = kind->get(4096);
    cudaPointerAttributes attributes;
    CUDA_CHECK(cudaPointerGetAttributes(&attributes, words));
    CHECK((attributes.type == cudaMemoryTypeHost) == (kind != &kPageable));
    kind->give_back(words);
  }
  unsigned flags = 0;
  unsigned* const words = kWriteCombined.get(4096);
  CUDA_CHECK(cudaHostGetFlags(&flags, words));
  CHECK((flags & cudaHostAllocWriteCombined) != 0);
  kWriteCombined.give_back(words);
}

TEST_CASE("a row's name is its own, and says which memory a copy is from and what is checked") {
  std::set<std::string> names;
  for (const auto& version : kVersions) CHECK(names.insert(version.name).second);
  CHECK(version_named(kVersions, "mapped_read_twice").is_right == &Transfer::two_passes_are_right);
  CHECK(version_named(kVersions, "copied_read_twice").is_right == &Transfer::two_passes_are_right);
  for (const Copy& copy : kCopies) {
    const std::string name = copy.name;
    CHECK(names.insert(name).second);
    INFO(name);
    CHECK((copy.way == Way::kToHost) == (name.substr(0, 3) == "d2h"));
    if (ends_with(name, "_pageable")) CHECK(&copy.kind == &kPageable);
    if (ends_with(name, "_pinned")) CHECK(&copy.kind == &kPinned);
    if (ends_with(name, "_write_combined")) CHECK(&copy.kind == &kWriteCombined);
    if (ends_with(name, "_registered")) CHECK(&copy.kind == &kRegistered);
    if (ends_with(name, "_pinned_for_it")) CHECK(&copy.kind == &kPageable);
  }
}

TEST_CASE("the sizes go from 1 KiB to all of the data, four times over", "[copy_sizes]") {
  for (const std::size_t n : {1u, 256u, 257u, 5000u, 65536u}) {
    const std::vector<std::size_t> sizes = copy_sizes::sizes_up_to(n);
    INFO("n = " << n);
    CHECK(sizes.front() == std::min<std::size_t>(n, 256));
    CHECK(sizes.back() == n);
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      CHECK(sizes[i] > sizes[i - 1]);
      CHECK(sizes[i] <= 2 * sizes[i - 1]);
    }
  }
  const auto names = names_of(rows_of(copy_sizes::experiment_main, {"--n", "1024"}));
  REQUIRE(names.size() == 12);
  const char* const series[] = {"h2d_pageable", "h2d_pinned", "d2h_pageable", "d2h_pinned"};
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(names[i] == series[i / 3] + (" size=" + std::to_string(1 << i % 3)) + " KiB");
  }
}

TEST_CASE("copies of every size bring their words, and the check sees if not", "[copy_sizes]") {
  using namespace copy_sizes;
  for (const Series& series : kSeries) {
    const Copies c(1000, series.pinned, 3);
    cudaPointerAttributes attributes;
    CUDA_CHECK(cudaPointerGetAttributes(&attributes, c.host));
    CHECK((attributes.type == cudaMemoryTypeHost) == series.pinned);
    CHECK(series.pinned == (std::string(series.name).find("pinned") != std::string::npos));
    for (const std::size_t count : {1u, 31u, 257u, 999u, 1000u}) {
      INFO(series.name << ", " << count << " words");
      (c.*series.prepare)(count);
      CHECK_FALSE((c.*series.is_right)("nothing ran", count));
      (c.*series.run)(count);
      CHECK((c.*series.is_right)(series.name, count));
      (c.*series.prepare)(count);
      (c.*series.run)(count - 1);
      CHECK_FALSE((c.*series.is_right)("a word short", count));
    }
  }
}

TEST_CASE("what the host and a kernel read is what the pinned memory holds", "[host_reads]") {
  for (const host_reads::Kind& kind : host_reads::kKinds) {
    const std::vector<unsigned> data = random_words(1003, 5);
    host_reads::PinnedWords words(data, kind.flags);
    INFO(kind.host_name);
    CHECK_FALSE(words.is_right("nothing read"));
    words.read();
    CHECK(words.is_right(kind.host_name));
    CHECK_FALSE(words.kernel_is_right("read by the host alone"));
    words.read_by_kernel();
    CHECK(words.kernel_is_right(kind.kernel_name));
    words.pinned[1002] ^= 1;
    words.read();
    CHECK_FALSE(words.is_right("one wrong bit"));
    words.read_by_kernel();  // from where the words are, and not from a copy of them
    CHECK_FALSE(words.kernel_is_right("one wrong bit"));
    unsigned flags = 0;
    CUDA_CHECK(cudaHostGetFlags(&flags, words.pinned));
    CHECK(((flags & cudaHostAllocWriteCombined) != 0) == (&kind == &host_reads::kKinds[1]));
  }
  CHECK(names_of(rows_of(host_reads::experiment_main, {"--n", "300"})) ==
        std::vector<std::string>{"host_read_pinned", "host_read_write_combined",
                                 "kernel_read_pinned", "kernel_read_write_combined"});
}

TEST_CASE("what the host works on during a copy is its share of the words, and no more",
          "[host_meanwhile]") {
  using namespace host_meanwhile;
  for (const std::size_t n : {1u, 1000u, 16383u, 16384u, 16385u, 40000u}) {
    Meanwhile m(n, 5, 9);
    const std::size_t count = div_up(n, kHostShare);
    m.poison();
    INFO("n = " << n);
    CHECK_FALSE(m.host_worked("nothing"));
    m.host_works();
    CHECK(m.host_worked("all"));
    for (std::size_t i = 0; i < n; i = i + 1 < count + 2 ? i + 1 : i + 997) {
      CHECK(m.results[i] == (i < count ? mixed(m.pageable[i], 5) : 0xffffffffu));
    }
    m.results[count - 1] ^= 1;
    CHECK_FALSE(m.host_worked("one wrong bit"));
  }
}

TEST_CASE("the host's own work is checked wherever a row does it", "[host_meanwhile]") {
  using namespace host_meanwhile;
  Meanwhile m(20000, 5, 9);
  for (const Row& row : host_meanwhile::kRows) {
    const std::string name = row.name;
    INFO(name);
    m.poison();
    CHECK_FALSE((m.*row.is_right)("nothing ran"));
    row.run(m);
    CHECK((m.*row.is_right)(name));
    const bool works = name.find("host_works") == 0, copies = name.find("h2d") != std::string::npos;
    CHECK((row.is_right == &Meanwhile::both_are_right) == (works && copies));
    CHECK(row.only_the_call == (name.find("call_") == 0));
    m.poison();
    if (copies) m.host_works();  // only the work,
    if (!copies) m.copy(m.pinned);
    CHECK_FALSE((m.*row.is_right)("the other half"));
    m.poison();
    if (works && copies) m.copy(m.pinned);  // or only the copy
    CHECK_FALSE((m.*row.is_right)("one half"));
  }
  CHECK(rows_of(host_meanwhile::experiment_main, {"--n", "300"}).size() == 8);
}

TEST_CASE("a row's call copies from the memory that its name says", "[host_meanwhile]") {
  using namespace host_meanwhile;
  for (const Row& row : host_meanwhile::kRows) {
    const std::string name = row.name;
    if (name.find("h2d") == std::string::npos) continue;
    const bool is_pinned = name.find("pinned") != std::string::npos;
    Meanwhile m(100, 5, 9);
    m.poison();
    m.pinned[7] ^= 1;
    row.run(m);
    INFO(name);
    CHECK(m.words_came(name) == !is_pinned);
  }
  Meanwhile m(100, 5, 9);  // the host's own copy: from plain memory, to pinned memory of its own
  m.poison();
  m.pinned[7] ^= 1;
  m.host_copies();
  CHECK(m.host_copied("from plain memory"));
  CHECK(std::vector<unsigned>(m.staging, m.staging + 100) == m.pageable);
  m.staging[99] ^= 1;
  CHECK_FALSE(m.host_copied("one wrong bit"));
}

TEST_CASE("the time of a call leaves out the first one", "[host_meanwhile]") {
  int calls = 0;
  const Timing t = host_meanwhile::time_calls(3, [&] { ++calls; });
  CHECK(calls == 4);
  CHECK(t.samples == 3);
}

TEST_CASE("every number of passes gives what the host computes", "[read_passes]") {
  using namespace read_passes;
  for (const std::size_t n : {1u, 257u, 2053u}) {
    for (const unsigned rounds : {1u, 5u, 64u}) {
      const Passes p(n, rounds, 9);
      for (unsigned passes = 1; passes <= 8; ++passes) {
        for (const Series& series : read_passes::kSeries) {
          INFO(series.name << ", n = " << n << ", " << rounds << " rounds, " << passes);
          p.poison();
          CHECK_FALSE(p.is_right("nothing ran", passes));
          series.run(p, passes);
          CHECK(p.is_right(series.name, passes));
        }
        const std::vector<unsigned> y = p.d_y.download();
        for (std::size_t i = 0; i < n; i += 97) {
          unsigned v = 0;
          for (unsigned k = 0; k < passes; ++k)
            v = mixed(v ^ p.h_x[i], std::max(1u, rounds / passes));
          CHECK(y[i] == v);
        }
      }
    }
  }
  const Passes p(1000, 5, 9);  // which memory a series reads
  p.poison();
  p.h_x[3] = 4711;
  read_passes::kSeries[0].run(p, 1);
  CHECK(p.d_y.download()[3] == mixed(4711, 5));
  CHECK(p.d_x.download()[3] == 0xffffffffu);
  const auto names = names_of(rows_of(read_passes::experiment_main, {"--n", "300"}));
  REQUIRE(names.size() == 16);
  CHECK(names.front() == "mapped_read passes=1");
  CHECK(names.back() == "copied_read passes=8");
}

TEST_CASE("a word read with another one is checked: which other, and that it is read at all",
          "[second_read]") {
  using namespace second_read;
  for (const std::size_t n : {1u, 2u, 3u, 256u, 1001u}) {
    const Reads m(n, 5, 9);
    for (const std::size_t apart : {std::size_t{1}, n / 2, n - 1}) {
      m.poison();
      read_with_other(m, m.mapped_x, apart);
      CUDA_CHECK_LAUNCH();
      INFO("n = " << n << ", " << apart << " apart");
      CHECK(m.with_other("with another", apart));
      const std::vector<unsigned> y = m.d_y.download();
      for (std::size_t i = 0; i < n; ++i) {
        CHECK(y[i] == (mixed(m.h_x[i], 5) ^ m.h_x[(i + apart) % n]));
      }
      if (n > 2) CHECK_FALSE(m.with_other("with yet another", (apart + 1) % n));
    }
  }
}

TEST_CASE("every way of reading twice is right at awkward sizes, and the check sees if not",
          "[second_read]") {
  using namespace second_read;
  for (const std::size_t n : sizes_to_test()) {
    if (n == 0 || n > 3000) continue;
    for (const unsigned rounds : {1u, 2u, 5u}) {
      const Reads m(n, rounds, 9);
      INFO("n = " << n << ", " << rounds << " rounds");
      check_repeated(second_read::kVersions, m, 1);
    }
  }
  const Reads m(1000, 5, 9);  // near is the neighbour, far is half of all words away
  const std::size_t apart[] = {1, 500, 500};
  for (std::size_t k = 0; k < 3; ++k) {
    REQUIRE(runs_right(second_read::kVersions[2 + k], m));
    CHECK(m.d_y.download()[10] == (mixed(m.h_x[10], 5) ^ m.h_x[10 + apart[k]]));
  }
  m.h_x[3] ^= 1;  // the last version reads no host memory: now it differs from it
  CHECK(runs_right(second_read::kVersions[3], m));
  CHECK_FALSE(runs_right(second_read::kVersions[4], m));
}

TEST_CASE("any number of chunks, over any number of streams, is right", "[chunk_counts]") {
  using namespace chunk_counts;
  for (const std::size_t n : {1u, 7u, 256u, 1009u, 2053u}) {
    for (const std::size_t streams : {1u, 2u, 5u}) {
      const Chunks c(n, 5, streams, 9);
      for (const std::size_t chunks : {1u, 2u, 3u, 7u, 256u, 1009u, 5000u}) {
        INFO("n = " << n << ", " << chunks << " chunks, " << streams << " streams");
        c.poison();
        CHECK_FALSE(c.is_right("nothing ran"));
        CHECK_FALSE(c.words_came("nothing ran"));
        run_chunks<true, true>(c, chunks);
        CHECK(c.is_right("overlapped"));
        const std::vector<unsigned> y = c.d_y.download();
        for (std::size_t i = 0; i < n; i += 97) CHECK(y[i] == mixed(c.h_x[i], 5));
        c.poison();
        run_chunks<true, false>(c, chunks);
        CHECK(c.words_came("copies alone"));
        CHECK(c.d_x.download() == std::vector<unsigned>(c.h_x, c.h_x + n));
        CHECK_FALSE(c.is_right("no kernel ran"));
        c.poison();
        run_chunks<false, true>(c, chunks);
        CHECK(c.is_right("kernels alone"));
        CHECK_FALSE(c.words_came("nothing was copied"));
      }
    }
  }
  const auto names = names_of(rows_of(chunk_counts::experiment_main, {"--n", "2053"}));
  REQUIRE(names.size() == 27);
  CHECK(names.front() == "overlapped chunks=1");
  CHECK(names[8] == "overlapped chunks=256");
  CHECK(names[9] == "copies_alone chunks=1");
  CHECK(names.back() == "kernels_alone chunks=256");
  const Chunks c(100, 5, 2, 9);  // each series does what its name says
  for (const Series& series : chunk_counts::kSeries) {
    const std::string name = series.name;
    c.poison();
    CHECK_FALSE((c.*series.is_right)("nothing ran"));
    series.run(c, 3);
    INFO(name);
    CHECK((c.*series.is_right)(name));
    CHECK(c.words_came(name) == (name != "kernels_alone"));
    CHECK(c.is_right(name) == (name != "copies_alone"));
  }
}

TEST_CASE("the ideal of overlapping is the slower part", "[chunk_counts]") {
  CHECK(chunk_counts::ideal_ms(4, 3) == 4);
  CHECK(chunk_counts::ideal_ms(3, 4) == 4);
  CHECK(chunk_counts::ideal_ms(4, 4) == 4);
  const chunk_counts::Chunks c(1000, 5, 3, 9);
  CHECK(chunk_counts::measured_ideal_gbps(c, 1) > 0);
  CHECK(c.is_right("the kernel alone, behind the copy"));
}

TEST_CASE("the timeline has every chunk of every version, each mark after the one before",
          "[chunk_timeline]") {
  const auto rows =
      rows_of(chunk_timeline::experiment_main, {"--n", "4000", "--chunks", "8", "--streams", "3"});
  REQUIRE(rows.size() == 3 + 3 * (8 + 8 + 1));
  const char* const marks[] = {"begin", "copied", "computed"};
  std::size_t i = 0;
  for (const char* version : {"overlapped", "overlapped_pageable", "one_chunk"}) {
    CHECK(rows[i++][kName] == version);
    std::vector<double> reached(3);  // by each stream: its work is done in order
    for (std::size_t chunk = 0; chunk < (version == std::string("one_chunk") ? 1 : 8); ++chunk) {
      for (const char* mark : marks) {
        INFO(rows[i][kName]);
        CHECK(rows[i][kName] == version + (" chunk=" + std::to_string(chunk)) +
                                    " stream=" + std::to_string(chunk % 3) + " " + mark);
        const double ms = rows[i][kRate].empty() ? 0 : std::stod(rows[i][kRate]);
        CHECK(ms >= reached[chunk % 3]);
        reached[chunk % 3] = ms;
        ++i;
      }
    }
  }
}

TEST_CASE("chunks with marks between them are right, from plain memory too", "[chunk_timeline]") {
  using namespace chunk_timeline;
  for (const std::size_t n : {1u, 256u, 1009u}) {
    for (const std::size_t chunks : {1u, 3u, 256u, 2000u}) {
      const Chunks c(n, 5, 3, 9);
      for (const unsigned* from : {static_cast<const unsigned*>(c.h_x), c.data.data()}) {
        INFO("n = " << n << ", " << chunks << " chunks");
        c.poison();
        CHECK_FALSE(c.is_right("nothing ran"));
        const auto ms = rounds::when_reached(run_chunks(c, from, chunks));
        CHECK(ms.size() == 1 + 3 * div_up(n, div_up(n, chunks)));
        CHECK(c.is_right("with marks"));
        CHECK(c.d_y.download()[n - 1] == mixed(c.data[n - 1], 5));
      }
    }
  }
  const Chunks c(1000, 5, 3, 9);
  c.h_x[999] ^= 1;
  rounds::when_reached(run_chunks(c, c.h_x, 4));
  CHECK_FALSE(c.is_right("one wrong bit"));
}

TEST_CASE("the default stream takes turns with blocking streams, and with no others",
          "[default_stream]") {
  using namespace default_stream;
  if (races_are_looked_for()) return;  // it looks at words that a kernel may be writing
  cudaStream_t looking = nullptr;      // waits for none of the others
  CUDA_CHECK(cudaStreamCreateWithFlags(&looking, cudaStreamNonBlocking));
  const Thirds t(300, 5, 9);
  const auto arrived = [&](std::size_t k) {  // the last word of the k-th third
    unsigned word = 0;
    CUDA_CHECK(cudaMemcpyAsync(&word, t.d_y + 100 * k + 99, 4, cudaMemcpyDeviceToHost, looking));
    CUDA_CHECK(cudaStreamSynchronize(looking));
    return word != 0xffffffffu;
  };
  const char* const order = std::getenv("CUDA_CPU_SCHEDULE");
  const bool only_what_is_needed = !kOnGpu && (order == nullptr || order[0] != 'r');

  t.poison();
  run_thirds(t, default_between(t), nullptr);
  CUDA_CHECK(cudaStreamSynchronize(t.blocking[1]));  // it waits for the default stream before it
  for (std::size_t k = 0; k < 3; ++k) CHECK(arrived(k));

  t.poison();
  run_thirds(t, default_three_times(t), nullptr);
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
  for (std::size_t k = 0; k < 3; ++k) CHECK(arrived(k));

  t.poison();
  run_thirds(t, default_beside(t), nullptr);
  CUDA_CHECK(cudaStreamSynchronize(t.nonblocking[1]));
  CHECK(arrived(2));
  if (only_what_is_needed) CHECK_FALSE(arrived(1));
  CUDA_CHECK(cudaStreamSynchronize(t.nonblocking[0]));
  CHECK(arrived(0));
  if (only_what_is_needed) CHECK_FALSE(arrived(1));
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(arrived(1));

  t.poison();
  run_thirds(t, per_thread_beside(t), nullptr);
  CUDA_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
  CHECK(arrived(1));
  if (only_what_is_needed) {
    CHECK_FALSE(arrived(0));
    CHECK_FALSE(arrived(2));
  }
  CUDA_CHECK(cudaStreamSynchronize(t.blocking[0]));
  CUDA_CHECK(cudaStreamSynchronize(t.blocking[1]));
  CHECK(arrived(0));
  CHECK(arrived(2));
  CUDA_CHECK(cudaStreamDestroy(looking));
}

TEST_CASE("three kernels cover every word, whichever streams they are in", "[default_stream]") {
  using namespace default_stream;
  for (const std::size_t n : {1u, 2u, 3u, 4u, 256u, 1000u, 2053u}) {
    const Thirds t(n, 5, 9);
    for (const default_stream::Row& row : default_stream::kRows) {
      INFO(row.name << ", n = " << n);
      t.poison();
      CHECK_FALSE(t.is_right("nothing ran"));
      std::vector<cudaEvent_t> marks;
      run_thirds(t, row.streams(t), &marks);
      CHECK(rounds::when_reached(marks).size() == 2 * div_up(n, div_up(n, 3)));
      CHECK(t.is_right(row.name));
    }
    run_thirds(t, default_beside(t), nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    CHECK(t.d_y.download()[n - 1] == mixed(t.data[n - 1], 5));
  }
}

TEST_CASE("the streams beside the default stream are what their names say", "[default_stream]") {
  const auto flags_of = [](cudaStream_t stream) {
    unsigned flags = 99;
    CUDA_CHECK(cudaStreamGetFlags(stream, &flags));
    return flags;
  };
  const default_stream::Thirds t(10, 5, 9);
  for (cudaStream_t stream : t.blocking) CHECK(flags_of(stream) == cudaStreamDefault);
  for (cudaStream_t stream : t.nonblocking) CHECK(flags_of(stream) == cudaStreamNonBlocking);
}

TEST_CASE("between blocking streams a kernel begins when the one before has ended",
          "[default_stream]") {
  const auto rows = rows_of(default_stream::experiment_main, {"--n", "4000"});
  REQUIRE(rows.size() == 4 * (1 + 3 * 2));
  std::size_t i = 0;
  for (const std::string version :
       {"default_three_times", "default_between", "default_beside", "per_thread_beside"}) {
    CHECK(rows[i++][kName] == version);
    double end_before = 0;
    for (std::size_t k = 0; k < 3; ++k, i += 2) {
      const std::string name = version + " kernel=" + std::to_string(k);
      INFO(name);
      CHECK(rows[i][kName] == name + " begin");
      CHECK(rows[i + 1][kName] == name + " computed");
      const double begin = std::stod(rows[i][kRate]), end = std::stod(rows[i + 1][kRate]);
      CHECK(end >= begin);
      if (version == "default_between") CHECK(begin >= end_before);
      end_before = end;
    }
  }
}

TEST_CASE("before every run of a managed version the host writes its words, and they count",
          "[managed_memory]") {
  using namespace managed_memory;
  const Managed m(3000, 5, 9);
  cudaPointerAttributes attributes;
  CUDA_CHECK(cudaPointerGetAttributes(&attributes, m.x));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  const auto run = [&](const Row& row) {
    m.d_y.poison();
    (m.*row.run)();
    CUDA_CHECK(cudaDeviceSynchronize());
    return (m.*row.is_right)(row.name);
  };
  const auto prepare = [&](const Row& row) {
    (m.*row.prepare)();
    CUDA_CHECK(cudaDeviceSynchronize());
  };
  const Row& read = managed_memory::kRows[0];
  const Row& prefetched = managed_memory::kRows[1];
  for (const Row* row : {&read, &prefetched}) {
    std::fill_n(m.x, m.n, 5u);
    INFO(row->name);
    CHECK_FALSE(run(*row));
    prepare(*row);
    CHECK(run(*row));
    CHECK(m.d_y.download()[2999] == mixed(m.data[2999], 5));
  }
  const Row& again = managed_memory::kRows[2];
  std::fill_n(m.x, m.n, 5u);
  prepare(again);
  CHECK_FALSE(run(again));  // nothing is written anew
  const Row& back = managed_memory::kRows[3];
  prepare(back);
  CHECK(std::count(m.x, m.x + m.n, 0xffffffffu) == 3000);
  CHECK_FALSE((m.*back.is_right)("filled"));
  CHECK(run(back));
  m.x[2999] ^= 1;
  CHECK_FALSE((m.*back.is_right)("one wrong bit"));
  const Row& back_again = managed_memory::kRows[4];
  prepare(back_again);
  CHECK_FALSE((m.*back_again.is_right)("nothing ran"));
  CHECK(run(back_again));
}

TEST_CASE("managed versions are right at awkward sizes", "[managed_memory]") {
  using namespace managed_memory;
  for (const std::size_t n : {1u, 31u, 256u, 257u, 2053u}) {
    const Managed m(n, 3, 9);
    for (const Row& row : managed_memory::kRows) {
      INFO(row.name << ", n = " << n);
      for (int repeat = 0; repeat < 2; ++repeat) {
        m.d_y.poison();
        (m.*row.prepare)();
        CUDA_CHECK(cudaDeviceSynchronize());
        (m.*row.run)();
        CHECK((m.*row.is_right)(row.name));
      }
    }
    m.d_y.poison();
    CHECK_FALSE(m.device_is_right("nothing ran"));
  }
  CHECK(names_of(rows_of(managed_memory::experiment_main, {"--n", "300"})) ==
        std::vector<std::string>{"managed_read", "managed_prefetched", "managed_read_again",
                                 "managed_host_write", "managed_host_write_again"});
}

TEST_CASE("the clock stands while a run is prepared, and every run is", "[managed_memory]") {
  std::string order;
  const auto slow = [&] {
    order += 'p';
    const double begin = host_ms();
    while (host_ms() - begin < 20) {
    }
  };
  const Timing t = managed_memory::time_prepared(3, slow, [&] { order += 'r'; });
  CHECK(order == "prprprpr");
  CHECK(t.samples == 3);
  CHECK(t.min_ms < 15);
}

namespace {
std::size_t free_bytes() {
  std::size_t free = 0, all = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &all));
  return free;
}
}  // namespace

TEST_CASE("scratch memory is given back, and the pool keeps what it is told to",
          "[scratch_memory]") {
  using namespace scratch_memory;
  const Scratch s(5000, 9);
  cudaMemPool_t pool = nullptr;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  for (const Row& row : scratch_memory::kRows) {
    pool_keeps(row.pool_bytes);
    row.run(s);
    CUDA_CHECK(cudaDeviceSynchronize());
    const std::size_t free_before = free_bytes();
    for (int repeat = 0; repeat < 3; ++repeat) row.run(s);
    CUDA_CHECK(cudaDeviceSynchronize());
    INFO(row.name);
    if (!kOnGpu) CHECK(free_bytes() == free_before);  // a GPU has other users
    std::uint64_t threshold = 1;
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(threshold == row.pool_bytes);
    CHECK(row.pool_bytes == (&row == &scratch_memory::kRows[3] ? UINT64_MAX : 0));
  }
  pool_keeps(0);
  CHECK(rows_of(scratch_memory::experiment_main, {"--n", "300"}).size() == 4);
}

TEST_CASE("every kind of pinned memory is pinned and mapped, with the flags that were asked for",
          "[host_flags]") {
  using namespace host_flags;
  for (const Kind& kind : kKinds) {
    const Facts facts = facts_of(kind);
    INFO(kind.name);
    CHECK(facts.is_pinned);
    CHECK(facts.kernel_stored);
    if (!kOnGpu) CHECK(facts.has_one_address);
    CHECK(facts.flags == std::to_string(kind.flags | cudaHostAllocMapped));
  }
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("the flags of a device hold cudaDeviceMapHost, whatever was set", "[host_flags]") {
  for (const unsigned flags : {cudaDeviceScheduleSpin, cudaDeviceMapHost}) {
    CUDA_CHECK(cudaSetDeviceFlags(flags));
    CHECK(host_flags::flags_of_device() == (flags | cudaDeviceMapHost));
  }
  const std::vector<std::string> lines = lines_of_csv(host_flags::experiment_main, {});
  REQUIRE(lines.size() == 1 + 3 + std::size(host_flags::kKinds) + 1);
  CHECK(lines[0] == "what,asked,has,pinned,one_address,kernel");
  CHECK(lines[2] == "device_map_host,8,8,,,");
  CHECK(lines[3] == "device_schedule_spin,1,9,,,");
  CHECK(lines[6] == "portable,1,3,yes,yes,yes");
}

TEST_CASE("memory is given back while a kernel runs, which is right all the same",
          "[what_free_waits_for]") {
  using namespace what_free_waits_for;
  for (const std::size_t n : {1u, 31u, 256u, 257u, 2053u}) {
    const Work work(n, 5, 9);
    const std::size_t free_before = free_bytes();
    for (const what_free_waits_for::Row& row : what_free_waits_for::kRows) {
      INFO(row.name << ", n = " << n);
      work.poison();
      CHECK_FALSE(work.is_right("nothing ran"));
      for (int repeat = 0; repeat < 2; ++repeat) CHECK(time_call(work, row) >= 0);
      CHECK(work.is_right(row.name));
      CHECK(work.d_y.download()[n - 1] == mixed(work.data[n - 1], 5));
    }
    if (!kOnGpu) CHECK(free_bytes() == free_before);  // a GPU has other users
  }
  CHECK(names_of(rows_of(what_free_waits_for::experiment_main, {"--n", "300", "--rounds", "5"})) ==
        std::vector<std::string>{"kernel", "free", "free_of_async", "free_async"});
}

TEST_CASE("cudaFreeAsync does not wait for the kernel, which the clock of the row shows",
          "[what_free_waits_for]") {
  if (kOnGpu) return;  // its kernels begin by themselves
  const what_free_waits_for::Work work(2000, 2000, 9);
  const double kernel = what_free_waits_for::time_call(work, what_free_waits_for::kRows[0]);
  CHECK(what_free_waits_for::time_call(work, what_free_waits_for::kRows[3]) < kernel / 2);
}

TEST_CASE("work in scratch memory is right wherever that memory is from", "[scratch_memory]") {
  using namespace scratch_memory;
  for (const std::size_t n : {1u, 31u, 256u, 257u, 2053u}) {
    const Scratch s(n, 9);
    for (const Row& row : scratch_memory::kRows) {
      INFO(row.name << ", n = " << n);
      s.poison();
      CHECK_FALSE(s.is_right("nothing ran"));
      row.run(s);
      CHECK(s.is_right(row.name));
      CHECK(s.d_y.download()[n - 1] == mixed(s.data[n - 1], 1));
      CHECK((s.kept.download()[0] == s.data[0]) == (row.run == scratch_kept));
    }
  }
  pool_keeps(0);
}
