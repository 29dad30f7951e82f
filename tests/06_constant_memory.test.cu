// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/06_constant_memory/constant_memory.cu"
#undef main

#include <limits>
#include <set>

#include "kernel_testing.cuh"

namespace {

// What the versions read and write, the table also in constant memory.
Additions additions(const std::vector<int>& x, unsigned block,
                    const std::vector<int>& table = random_ints(kWords, -kLimit, kLimit, 17)) {
  upload_words(table);
  return {x, table, block};
}

// The same for the polynomial; what follows the coefficients in constant memory is no number.
polynomial::Values values_of(const std::vector<float>& x, const std::vector<float>& coefficients) {
  symbol_rows::poison_constant_memory();
  polynomial::upload_coefficients(coefficients);
  return {x, coefficients};
}

// Poisons what the version is to write, and launches it.
template <class Data>
void run_poisoned(const Version<Data>& version, const Data& data) {
  data.y.poison();
  version.launch(data);
  CUDA_CHECK_LAUNCH();
}

// Then checks it.
template <class Data>
bool runs_right(const Version<Data>& version, const Data& data) {
  run_poisoned(version, data);
  return check(version.name, data);
}
bool runs_right_within_block(const Version<Additions>& version, const Additions& data) {
  run_poisoned(version, data);
  return within_block::is_right(version.name, data);
}
bool runs_right_on_a_register(const Version<Additions>& version, const Additions& data) {
  run_poisoned(version, data);
  return register_operand::is_right(version.name, data);
}

std::vector<float> some_coefficients() { return random_floats(kCoefficients, -1, 1, 4); }

std::vector<int> indices(std::size_t n) {
  std::vector<int> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<int>(i);
  return values;
}

}  // namespace

TEST_CASE("every version adds the right word to every element at awkward sizes") {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      if (n > 100000 && input.name != "index-valued") continue;  // the kind that shows most
      const Additions data = additions(input.values, 256);
      for (const auto& version : kVersions) {
        INFO(version.name << ", n = " << n << ", " << input.name);
        CHECK(runs_right(version, data));
      }
      for (const auto& version : within_block::kVersions) {
        INFO(version.name << ", n = " << n << ", " << input.name);
        CHECK(runs_right_within_block(version, data));
      }
      for (const auto& version : register_operand::kVersions) {
        INFO(version.name << ", n = " << n << ", " << input.name);
        CHECK(runs_right_on_a_register(version, data));
      }
    }
  }
}

TEST_CASE("every version works with any block size, also one that is no whole number of warps") {
  for (const unsigned block : awkward_blocks()) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{257}, std::size_t{20011}}) {
      const Additions data = additions(random_ints(n, -9, 9, 3), block, indices(kWords));
      for (const auto& version : kVersions) {
        INFO(version.name << ", block " << block << ", n = " << n);
        CHECK(runs_right(version, data));
      }
      for (const auto& version : within_block::kVersions) {
        INFO(version.name << ", block " << block << ", n = " << n);
        CHECK(runs_right_within_block(version, data));
      }
      for (const auto& version : register_operand::kVersions) {
        INFO(version.name << ", block " << block << ", n = " << n);
        CHECK(runs_right_on_a_register(version, data));
      }
    }
  }
}

TEST_CASE("warps behind the one that takes the last word begin again with the first") {
  const std::size_t n = std::size_t{kWarp} * (kWords + 1) + 1;
  const Additions data = additions(std::vector<int>(n, 5), 256, indices(kWords));
  for (const auto& version : kVersions) {
    if (pattern_of(version.name) != Pattern::kWarp) continue;
    INFO(version.name);
    CHECK(runs_right(version, data));
  }
}

TEST_CASE("a warp asks for one word, one word, 32 neighbours and 32 scattered words") {
  for (const std::size_t warp : {std::size_t{0}, std::size_t{511}, std::size_t{399999}}) {
    std::set<std::size_t> words[4], lines;
    for (std::size_t i = warp * kWarp; i < (warp + 1) * kWarp; ++i) {
      for (const int pattern : {0, 1, 2, 3}) {
        words[pattern].insert(expected_word(static_cast<Pattern>(pattern), i, 1024));
      }
    }
    CHECK(words[0].size() == 1);
    CHECK(words[1].size() == 1);
    CHECK(words[2].size() == kWarp);
    CHECK(*words[2].rbegin() - *words[2].begin() == kWarp - 1);
    for (const std::size_t word : words[3]) lines.insert(word / 32);  // 128 bytes each
    CHECK(words[3].size() == kWarp);
    CHECK(lines.size() == kWarp);
  }
}

TEST_CASE("within a block of 1024 the patterns use as many words as the literature's do") {
  std::set<std::size_t> warp, thread, scattered, of_a_warp;
  for (std::size_t i = 5 * 1024; i < 6 * 1024; ++i) {
    warp.insert(within_block::expected_word("warp_in_block_constant", i, 1024));
    thread.insert(within_block::expected_word("thread_in_block_constant", i, 1024));
    const std::size_t word = within_block::expected_word("random_in_block_constant", i, 1024);
    scattered.insert(word);
    if (i < 5 * 1024 + kWarp) of_a_warp.insert(word / 32);  // lines of 128 bytes
  }
  CHECK(warp.size() == 32);
  CHECK(*warp.rbegin() == 31);
  CHECK(thread.size() == 1024);
  CHECK(*thread.rbegin() == 1023);
  CHECK(scattered.size() == 1024);
  CHECK(of_a_warp.size() == kWarp);
}

TEST_CASE("every way to the symbol brings the words, every way from it fetches them") {
  const std::vector<int> words = random_ints(kWords, -kLimit, kLimit, 31);
  const symbol_rows::Words w(words);
  for (const auto& version : symbol_rows::kTo) {
    INFO(version.name);
    CHECK(symbol_rows::brings_words(version, w));
  }
  for (const auto& version : symbol_rows::kFrom) {
    INFO(version.name);
    CHECK(symbol_rows::fetches_words(version, w));
  }
}

TEST_CASE("a copy that does nothing, or goes to the other place, is noticed") {
  const std::vector<int> words = random_ints(kWords, -kLimit, kLimit, 31);
  const symbol_rows::Words w(words);
  const Version<symbol_rows::Words> nothing = {"nothing", "", [](const symbol_rows::Words&) {}};
  CHECK_FALSE(symbol_rows::brings_words(nothing, w));
  CHECK_FALSE(symbol_rows::fetches_words(nothing, w));
  CHECK_FALSE(symbol_rows::fetches_words({"from_symbol", "", symbol_rows::kFrom[2].launch}, w));
}

TEST_CASE("a kernel behind an asynchronous copy on its stream adds the new words") {
  const std::vector<int> words = random_ints(kWords, -kLimit, kLimit, 77);
  const symbol_rows::Words w(words);
  const Additions data = {random_ints(5003, 0, 9, 5), words, 256};
  for (const auto& version : symbol_rows::kTo) {
    symbol_rows::poison_constant_memory();
    version.launch(w);
    INFO(version.name);
    CHECK(runs_right(kVersions[0], data));
  }
}

TEST_CASE("a warp of a sweep gets the number of different words that the row promises") {
  for (const Walk walk : {kClose, kSpread}) {
    const Additions data = additions(std::vector<int>(kWarp, 0), kWarp, indices(kWords));
    for (unsigned distinct = 1; distinct <= kWarp; ++distinct) {
      // one load: the word itself
      walk_constant<<<1, kWarp>>>(walk, distinct, 1, kWarp, data.y.get());
      CUDA_CHECK_LAUNCH();
      const std::vector<int> got = data.y.download();
      INFO(distinct << " words, step " << walk.step);
      CHECK(std::set<int>(got.begin(), got.end()).size() == distinct);
    }
  }
}

TEST_CASE("both sources of a sweep add the same words, whatever the size and the block") {
  for (const Walk walk : {kClose, kSpread}) {
    for (const unsigned block : {1u, 31u, 32u, 96u, 250u, 1024u}) {
      const Additions data = additions(std::vector<int>(1531, 0), block);
      for (const unsigned distinct : {1u, 2u, 7u, 31u, 32u}) {
        const auto expected = expected_walk(walk, distinct, 100, data.n, block, data.h_table);
        const auto is_right = [&](const char* source) {
          return all_equal(source, data.y.download().data(), expected.data(), data.n);
        };
        INFO(distinct << " words, step " << walk.step << ", block " << block);
        data.y.poison();
        walk_constant<<<data.grid, block>>>(walk, distinct, 100, data.n, data.y.get());
        CUDA_CHECK_LAUNCH();
        CHECK(is_right("constant"));
        data.y.poison();
        walk_global<<<data.grid, block>>>(walk, distinct, 100, data.n, data.table.get(),
                                          data.y.get());
        CUDA_CHECK_LAUNCH();
        CHECK(is_right("global"));
      }
    }
  }
}

TEST_CASE("both polynomials are within the bound everywhere, at awkward sizes") {
  std::vector<float> rising(kCoefficients);
  for (int k = 0; k < kCoefficients; ++k) rising[k] = static_cast<float>(k + 1);
  for (const std::size_t n : sizes_to_test()) {
    for (const std::vector<float>& coefficients : {some_coefficients(), rising}) {
      if (n > 100000) continue;
      const auto data = values_of(random_floats(n, -1.1f, 1.1f, 6), coefficients);
      for (const auto& version : polynomial::kVersions) {
        INFO(version.name << ", n = " << n);
        CHECK(runs_right(version, data));
      }
    }
  }
}

TEST_CASE("a launch leaves nothing behind that the next one trips over") {
  const Additions data = additions(random_ints(10007, 0, 9, 5), 256);
  for (const auto& version : kVersions) {
    for (int repeat = 0; repeat < repeats(20); ++repeat) version.launch(data);
    CUDA_CHECK_LAUNCH();
    INFO(version.name);
    CHECK(check(version.name, data));
  }
}

TEST_CASE("a kernel sees the words of the copy before it, not those of an older one") {
  for (int repeat = 0; repeat < repeats(10); ++repeat) {
    const Additions data =
        additions(random_ints(5003, 0, 9, 5), 256,
                  random_ints(kWords, -kLimit, kLimit, static_cast<std::uint64_t>(repeat)));
    for (const auto& version : kVersions) {
      INFO(version.name << ", copy " << repeat);
      CHECK(runs_right(version, data));
    }
  }
}

TEST_CASE("constant memory is full: the variable takes all that the device has") {
  CHECK(device_attribute(cudaDevAttrTotalConstantMemory, 0) ==
        static_cast<int>(sizeof(constant_words)));
  const std::vector<int> words = random_ints(kWords, -kLimit, kLimit, 2);
  CHECK(upload_words(words));
  CHECK(download_words() == words);
  std::vector<int> others = words;
  others[kWords - 1] += 1;
  CHECK_FALSE(constant_memory_holds(others));
}

TEST_CASE("a copy with an offset changes the bytes behind it and no others") {
  std::vector<int> words = indices(kWords);
  upload_words(words);
  const int news[] = {-1, -2, -3};
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, news, sizeof news, 1000 * sizeof(int)));
  for (int k = 0; k < 3; ++k) words[static_cast<std::size_t>(1000 + k)] = news[k];
  CHECK(download_words() == words);
  int back[2] = {0, 0};
  CUDA_CHECK(cudaMemcpyFromSymbol(back, constant_words, sizeof back, 1001 * sizeof(int)));
  CHECK(back[0] == -2);
  CHECK(back[1] == -3);
}

TEST_CASE("a copy past the end of the variable is refused, and copies nothing") {
  const std::vector<int> words = random_ints(kWords, -kLimit, kLimit, 9);
  upload_words(words);
  const std::vector<int> longer(kWords + 1, -1);
  std::vector<int> back(kWords + 1, 5);
  const std::size_t whole = kWords * sizeof(int);
  CHECK(cudaMemcpyToSymbol(constant_words, longer.data(), whole + 4) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyToSymbol(constant_words, longer.data(), whole, 4) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyFromSymbol(back.data(), constant_words, whole + 4) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(download_words() == words);
  CHECK(back == std::vector<int>(kWords + 1, 5));
  CHECK(try_large_copy(words) == kExitOk);
}

TEST_CASE("the checker rejects a kernel that does nothing") {
  const Additions data = additions(random_ints(1000, 0, 9, 5), 256);
  for (const auto& version : kVersions) {
    INFO(version.name);
    CHECK_FALSE(check(version.name, data));
  }
  CHECK_FALSE(check("none", values_of(random_floats(1000, -1, 1, 5), some_coefficients())));
}

TEST_CASE("the checker rejects one wrong element, and a NaN") {
  Additions data = additions(random_ints(1000, 0, 9, 5), 256);
  for (const auto& version : kVersions) {
    REQUIRE(runs_right(version, data));
    data.h_x[999] += 1;
    INFO(version.name);
    CHECK_FALSE(check(version.name, data));
    data.h_x[999] -= 1;
  }
  const auto values = values_of(random_floats(1000, -1, 1, 5), some_coefficients());
  REQUIRE(runs_right(polynomial::kVersions[0], values));
  const float last = values.y.download()[999];
  for (const float wrong : {last + 1e-3f, std::numeric_limits<float>::quiet_NaN()}) {
    CUDA_CHECK(cudaMemcpy(values.y.get() + 999, &wrong, sizeof wrong, cudaMemcpyHostToDevice));
    CHECK_FALSE(check("one wrong", values));
  }
}

TEST_CASE("a row of a sweep says for how long a load of a warp occupies its multiprocessor") {
  // 4 warps with 10 loads each on 2 multiprocessors: 20 loads on each of them, in a microsecond
  CHECK(is_close(distinct_words::load_ns(0.001, 4 * kWarp, 10, 2), 50, 1e-9));
  CHECK(is_close(distinct_words::load_ns(0.001, 3 * kWarp + 1, 10, 2), 50, 1e-9));
}

TEST_CASE("the fitted line is the line that the points lie on") {
  const Line line = fit_line({1, 2, 4, 32}, {3.5, 5.5, 9.5, 65.5});
  CHECK(is_close(line.base, 1.5, 1e-12));
  CHECK(is_close(line.slope, 2, 1e-12));
}

TEST_CASE("a block of more threads than the hardware has is refused at the launch") {
  kVersions[0].launch(additions(random_ints(1000, 0, 9, 5), 1025));
  CHECK(refuses_configuration(cudaGetLastError()));
}
