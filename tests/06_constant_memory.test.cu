// SPDX-License-Identifier: MIT
#define main chapter_main
#include "../chapters/06_constant_memory/constant_memory.cu"
#undef main

#include <limits>
#include <set>

#include "kernel_testing.cuh"

// Each experiment has constant memory to itself. Here all of them are in one program, which would
// need five times 64 KiB: so their variables lie in global memory, where copies to a symbol and
// kernels reach them in the same way. The chapter's own variable stays where it is.
#ifdef __CUDA_CPU__
#define kConstant kDevice
#else
#undef __constant__
#define __constant__ __device__
#endif
#define main experiment_main
namespace distinct_words {
#include "../chapters/06_constant_memory/experiments/distinct_words.cu"
}
namespace large_copy {
#include "../chapters/06_constant_memory/experiments/large_copy.cu"
}
namespace symbol_copies {
#include "../chapters/06_constant_memory/experiments/symbol_copies.cu"
}
namespace within_block {
#include "../chapters/06_constant_memory/experiments/within_block.cu"
}
#undef main

namespace {

using distinct_words::Walk;
using distinct_words::Walks;

std::vector<int> random_words(std::uint64_t seed) {
  return random_ints(kWords, -999999, 999999, seed);
}

std::vector<int> indices(std::size_t n) {
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

template <class Symbol>
void fill_symbol(const Symbol& symbol, const std::vector<int>& words) {
  CUDA_CHECK(cudaMemcpyToSymbol(symbol, words.data(), words.size() * sizeof(int)));
}

template <class Symbol>
std::vector<int> words_in(const Symbol& symbol) {
  std::vector<int> words(kWords);
  CUDA_CHECK(cudaMemcpyFromSymbol(words.data(), symbol, kWords * sizeof(int)));
  return words;
}

// What the versions read and write. The table is also in constant memory; unless another is given,
// each word says where it is.
Additions additions(const std::vector<int>& x, unsigned block,
                    const std::vector<int>& table = indices(kWords)) {
  fill_symbol(constant_words, table);
  return {{x, table, block}};
}

within_block::Additions additions_within_block(const std::vector<int>& x, unsigned block,
                                               const std::vector<int>& table = indices(kWords)) {
  fill_symbol(within_block::constant_words, table);
  return {x, table, block};
}

// The same for the polynomial; what follows the coefficients in constant memory is no number.
Polynomial polynomial(const std::vector<float>& x, const std::vector<float>& coefficients) {
  fill_symbol(constant_words, std::vector<int>(kWords, -1));
  CUDA_CHECK(
      cudaMemcpyToSymbol(constant_words, coefficients.data(), coefficients.size() * sizeof(float)));
  return {{x, coefficients, 256}};
}

// Whether a version adds what lies in the table; the others add a thread's number.
bool reads_table(const Version<Additions>& version) {
  return version.is_right != &Additions::number && version.is_right != &Additions::wide_number;
}

// What the experiment's rows launch: each pattern from all three sources and, chosen by a switch,
// from two; and what needs no table.
template <within_block::Pattern kPattern>
void append_versions(std::vector<Version<within_block::Additions>>* versions) {
  using within_block::Additions;
  const auto append = [&](const char* source, void (*launch)(const Additions&)) {
    versions->push_back({source, "", launch, &Additions::adds<kPattern>});
  };
  append("constant",
         [](auto& d) { within_block::add_constant<kPattern><<<d.grid, d.block>>>(d.x, d.n, d.y); });
  append("global", [](auto& d) {
    within_block::add_global<kPattern><<<d.grid, d.block>>>(d.x, d.n, d.table, d.y);
  });
  append("readonly", [](auto& d) {
    within_block::add_readonly<kPattern><<<d.grid, d.block>>>(d.x, d.n, d.table, d.y);
  });
  append("switch_constant", [](auto& d) {
    within_block::add_constant_by_switch<<<d.grid, d.block>>>(d.x, d.n, kPattern, d.y);
  });
  append("switch_global", [](auto& d) {
    within_block::add_global_by_switch<<<d.grid, d.block>>>(d.x, d.n, d.table, kPattern, d.y);
  });
}
std::vector<Version<within_block::Additions>> versions_within_block() {
  std::vector<Version<within_block::Additions>> versions;
  append_versions<within_block::kPerBlock>(&versions);
  append_versions<within_block::kPerWarp>(&versions);
  append_versions<within_block::kPerThread>(&versions);
  append_versions<within_block::kScattered>(&versions);
  versions.push_back(within_block::kRegister);
  return versions;
}

// The pinned memory that copies of a symbol come from and go to.
struct PinnedWords {
  PinnedWords() { CUDA_CHECK(cudaMallocHost(&words, 2 * symbol_copies::kAll)); }
  ~PinnedWords() { cudaFreeHost(words); }
  symbol_copies::Places places(const std::vector<int>& to_bring,
                               const std::vector<int>& to_fetch) const {
    return {to_bring, to_fetch, words, words + kWords};
  }
  int* words = nullptr;
};

// The coefficients of (1 + 2x)^31, by Pascal's triangle.
std::vector<float> coefficients_of_the_power() {
  std::vector<double> row(kCoefficients, 0);
  row[0] = 1;
  for (std::size_t factors = 1; factors < row.size(); ++factors)
    for (std::size_t k = factors; k > 0; --k) row[k] += 2 * row[k - 1];
  return {row.begin(), row.end()};
}

// The words that `count` threads from thread `first` on add, when x is 0 and word w is w.
template <class Problem>
std::vector<int> words_added(const Version<Problem>& version, const Problem& data,
                             std::size_t first, std::size_t count) {
  data.poison();
  version.launch(data);
  CUDA_CHECK_LAUNCH();
  const std::vector<int> y = data.y.download();
  const auto begin = y.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

std::size_t how_many(const std::vector<int>& words, int per_group = 1) {
  std::set<int> groups;
  for (const int word : words) groups.insert(word / per_group);
  return groups.size();
}

}  // namespace

TEST_CASE("every version adds the right word to every element at awkward sizes") {
  for_ints_of_every_size([](const std::vector<int>& values) {
    check_all(kAdditions, additions(values, 256));
    const Additions with_random_words = additions(values, 256, random_words(17));
    for (const auto& version : kAdditions) {
      if (!reads_table(version)) continue;
      INFO(version.name << ", random words");
      CHECK(runs_right(version, with_random_words));
    }
  });
}

TEST_CASE("within a block every version adds the right word at awkward sizes", "[within_block]") {
  for_ints_of_every_size([](const std::vector<int>& values) {
    check_all(versions_within_block(), additions_within_block(values, 256));
  });
  const auto with_random_words =
      additions_within_block(random_ints(5003, -9, 9, 3), 256, random_words(17));
  for (const auto& version : versions_within_block()) {
    INFO(version.name << ", random words");
    CHECK(runs_right(version, with_random_words) ==
          (version.launch != within_block::kRegister.launch));
  }
}

TEST_CASE("every version works with any block size, also one that is no whole number of warps") {
  for_blocks_of_every_size(20011, [](const std::vector<int>& x, unsigned block) {
    check_all(kAdditions, additions(x, block));
    check_all(versions_within_block(), additions_within_block(x, block));
  });
}

TEST_CASE("warps behind the one that takes the last word begin again with the first") {
  const std::size_t n = std::size_t{kWarp} * (kWords + 1) + 1;
  const Additions data = additions(std::vector<int>(n, 0), 256);
  for (const auto& version : kAdditions) {
    if (version.is_right != &Additions::per_warp) continue;
    INFO(version.name);
    CHECK(runs_right(version, data));
    const std::vector<int> around = words_added(version, data, kWarp * (kWords - 1), 2 * kWarp + 1);
    for (std::size_t i = 0; i < around.size(); ++i)
      CHECK(around[i] == static_cast<int>(i < kWarp ? kWords - 1 : i / kWarp - 1));
  }
}

TEST_CASE("a warp asks for one word, one word, 32 neighbours and 32 scattered words") {
  const Additions data = additions(std::vector<int>(20 * 1024, 0), 1024);
  for (const std::size_t warp : {std::size_t{0}, std::size_t{511}, std::size_t{639}}) {
    for (const auto& version : kAdditions) {
      const std::vector<int> words = words_added(version, data, warp * kWarp, kWarp);
      const auto [first, last] = std::minmax_element(words.begin(), words.end());
      INFO(version.name << ", warp " << warp);
      if (version.is_right == &Additions::per_block || version.is_right == &Additions::per_warp)
        CHECK(how_many(words) == 1);
      if (version.is_right == &Additions::per_thread) {
        CHECK(how_many(words) == kWarp);
        CHECK(*last - *first == kWarp - 1);
      }
      if (version.is_right == &Additions::scattered) {
        CHECK(how_many(words) == kWarp);
        CHECK(how_many(words, 32) == kWarp);  // lines of 128 bytes
      }
    }
  }
}

TEST_CASE("within a block of 1024 the patterns use as many words as the literature's do",
          "[within_block]") {
  using within_block::Additions;
  const Additions data = additions_within_block(std::vector<int>(6 * 1024, 0), 1024);
  for (const auto& version : versions_within_block()) {
    const std::vector<int> words = words_added(version, data, 5 * 1024, 1024);
    const std::vector<int> of_a_warp(words.begin(), words.begin() + kWarp);
    const int last = *std::max_element(words.begin(), words.end());
    INFO(version.name);
    if (version.is_right == &Additions::adds<within_block::kPerBlock>)
      CHECK(words == std::vector<int>(1024, 5));
    if (version.is_right == &Additions::adds<within_block::kPerWarp>) {
      CHECK(how_many(words) == 32);
      CHECK(last == 31);
    }
    if (version.is_right == &Additions::adds<within_block::kPerThread>) {
      CHECK(how_many(words) == 1024);
      CHECK(last == 1023);
    }
    if (version.is_right == &Additions::adds<within_block::kScattered>) {
      CHECK(how_many(words) == 1024);
      CHECK(how_many(of_a_warp, 32) == kWarp);  // lines of 128 bytes
    }
  }
}

TEST_CASE("within a block every row is right, whatever the size and the block", "[within_block]") {
  for (const char* const block : {"1", "31", "96", "1024"}) {
    for (const char* const n : {"1", "257", "5003"}) {
      CommandLine typed({"--n", n, "--block", block, "--samples", "1"});
      INFO("block " << block << ", n = " << n);
      CHECK(within_block::experiment_main(typed.argc(), typed.argv.data()) == kExitOk);
    }
  }
}

TEST_CASE("every way to the symbol brings the words, every way from it fetches them",
          "[symbol_copies]") {
  const PinnedWords pinned;
  const symbol_copies::Places places = pinned.places(random_words(31), random_words(32));
  for (const auto& version : symbol_copies::kVersions) {
    INFO(version.name);
    CHECK(runs_right(version, places));
    const bool brings = version.is_right == &symbol_copies::Places::brought;
    CHECK(words_in(symbol_copies::constant_words) == (brings ? places.words : places.others));
  }
}

TEST_CASE("a copy that does nothing, or goes to the other place, is noticed", "[symbol_copies]") {
  using symbol_copies::Places;
  const PinnedWords pinned;
  const Places places = pinned.places(random_words(31), random_words(32));
  for (const auto& version : symbol_copies::kVersions) {
    places.poison();
    INFO(version.name);
    CHECK_FALSE((places.*version.is_right)(version.name));
    if (version.is_right == &Places::brought) continue;
    places.poison();
    version.launch(places);
    CUDA_CHECK(cudaDeviceSynchronize());
    const bool to_host = version.is_right == &Places::at_host;
    CHECK_FALSE((to_host ? places.at_device(version.name) : places.at_host(version.name)));
    CHECK_FALSE(places.brought(version.name));
  }
}

TEST_CASE("a kernel behind an asynchronous copy on its stream adds the new words") {
  const std::vector<int> words = random_words(77);
  const DeviceArray<int> on_device(words);
  const Additions data = additions(random_ints(5003, 0, 9, 5), 256, words);
  fill_symbol(constant_words, std::vector<int>(kWords, -1));
  CUDA_CHECK(cudaMemcpyToSymbolAsync(constant_words, on_device, on_device.bytes(), 0,
                                     cudaMemcpyDeviceToDevice));
  CHECK(runs_right(kAdditions[0], data));
}

TEST_CASE("a warp of a sweep gets the number of different words that the row promises",
          "[distinct_words]") {
  fill_symbol(distinct_words::constant_words, indices(kWords));
  for (const Walk walk : {Walk{1, 256}, Walk{1357, 16384}}) {
    const Walks one_load{indices(kWords), walk, kWarp, 1, 1, kWarp};  // its sum is the word itself
    for (unsigned distinct = 1; distinct <= kWarp; ++distinct) {
      for (const bool constant : {true, false}) {
        one_load.y.poison();
        one_load.launch(constant ? nullptr : one_load.table.get(), distinct);
        INFO(distinct << " words, step " << walk.step << (constant ? ", constant" : ", global"));
        CHECK(how_many(one_load.y.download()) == distinct);
      }
    }
  }
}

TEST_CASE("all sources of a sweep add the same words, whatever the size and the block",
          "[distinct_words]") {
  const std::vector<int> words = random_words(17);
  fill_symbol(distinct_words::constant_words, words);
  for (const Walk walk : {Walk{1, 256}, Walk{1357, 16384}}) {
    for (const unsigned block : {1u, 31u, 32u, 96u, 250u, 1024u}) {
      const Walks walks{words, walk, block, 100, 1, 1531};
      for (const unsigned distinct : {1u, 2u, 7u, 31u, 32u}) {
        const int* const places[] = {nullptr, walks.table,
                                     distinct_words::address_of_constant_words()};
        for (const int* const from : places) {
          const std::string source = from == nullptr       ? "name"
                                     : from == walks.table ? "global"
                                                           : "address";
          INFO(distinct << " words, step " << walk.step << ", block " << block << ", " << source);
          walks.y.poison();
          CHECK_FALSE(walks.is_right(source, distinct));
          walks.launch(from, distinct);
          CHECK(walks.is_right(source, distinct));
        }
      }
    }
  }
}

TEST_CASE("what is copied to a constant's address is what its name has", "[distinct_words]") {
  const std::vector<int> words = random_words(18);
  CUDA_CHECK(cudaMemcpy(distinct_words::address_of_constant_words(), words.data(),
                        words.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(words_in(distinct_words::constant_words) == words);
}

TEST_CASE("a thread of a sweep adds up the words that its lane meets", "[distinct_words]") {
  // Worked out here once more, apart from the experiment's own check: words w at place w, 3 loads.
  fill_symbol(distinct_words::constant_words, indices(kWords));
  const Walks walks{indices(kWords), {5, 128}, 64, 3, 1, 64};
  walks.launch(nullptr, 6);
  const std::vector<int> y = walks.y.download();
  for (int t = 0; t < 64; ++t) {
    const int mine = t % 32 % 6;
    CHECK(y[static_cast<std::size_t>(t)] ==
          5 * mine % 128 + 5 * (32 + mine) % 128 + 5 * (64 + mine) % 128);
  }
}

TEST_CASE("both polynomials are the power everywhere, at awkward sizes") {
  for (const std::size_t n : sizes_to_test()) {
    if (n > 100000) continue;
    INFO("n = " << n);
    check_all(kPolynomials, polynomial(random_floats(n, 0, 4, 6), coefficients_of_the_power()));
  }
}

TEST_CASE("each coefficient of the polynomials belongs to its power of x, of whatever sign") {
  const std::vector<float> x = random_floats(257, -1.1f, 1.1f, 6);
  for (std::size_t k = 0; k < kCoefficients; ++k) {
    std::vector<float> coefficients(kCoefficients, 0);
    coefficients[k] = k % 3 == 0 ? 7.0f : -0.7f;
    const Polynomial data = polynomial(x, coefficients);
    std::vector<double> expected;
    for (const float base : x)
      expected.push_back(coefficients[k] * std::pow(double{base}, static_cast<double>(k)));
    for (const auto& version : kPolynomials) {
      data.poison();
      version.launch(data);
      CUDA_CHECK_LAUNCH();
      INFO(version.name << ", coefficient " << k);
      CHECK(all_close(version.name, data.y.download(), expected,
                      [&](std::size_t i) { return FLT_MIN + 4e-6 * std::abs(expected[i]); }));
    }
  }
}

TEST_CASE("no launch trips over what earlier ones left, and doing nothing is not right") {
  const std::vector<int> x = random_ints(10007, 0, 9, 5);
  check_repeated(kAdditions, additions(x, 256));
  check_repeated(versions_within_block(), additions_within_block(x, 256));
  check_repeated(kPolynomials,
                 polynomial(random_floats(1000, 0, 4, 5), coefficients_of_the_power()));
}

TEST_CASE("a kernel sees the words of the copy before it, not those of an older one") {
  for (int repeat = 0; repeat < repeats(10); ++repeat) {
    const Additions data = additions(random_ints(5003, 0, 9, 5), 256,
                                     random_words(static_cast<std::uint64_t>(repeat)));
    for (const auto& version : kAdditions) {
      if (!reads_table(version)) continue;
      INFO(version.name << ", copy " << repeat);
      CHECK(runs_right(version, data));
    }
  }
}

TEST_CASE("constant memory is full: the variable takes all that the device has") {
  CHECK(device_attribute(cudaDevAttrTotalConstantMemory, 0) ==
        static_cast<int>(sizeof(constant_words)));
  const std::vector<int> words = random_words(2);
  fill_symbol(constant_words, words);
  CHECK(words_in(constant_words) == words);
}

TEST_CASE("a copy with an offset changes the bytes behind it and no others") {
  std::vector<int> words = indices(kWords);
  fill_symbol(constant_words, words);
  const int news[] = {-1, -2, -3};
  CUDA_CHECK(cudaMemcpyToSymbol(constant_words, news, sizeof news, 1000 * sizeof(int)));
  for (int k = 0; k < 3; ++k) words[static_cast<std::size_t>(1000 + k)] = news[k];
  CHECK(words_in(constant_words) == words);
  int back[2] = {0, 0};
  CUDA_CHECK(cudaMemcpyFromSymbol(back, constant_words, sizeof back, 1001 * sizeof(int)));
  CHECK(back[0] == -2);
  CHECK(back[1] == -3);
}

TEST_CASE("a table comes in two halves, and all of it is there", "[large_copy]") {
  const std::vector<int> words = random_words(8);
  fill_symbol(large_copy::constant_words, std::vector<int>(kWords, -1));
  CHECK_FALSE(large_copy::table_holds(words));
  large_copy::upload_words(words);
  CHECK(words_in(large_copy::constant_words) == words);
  CHECK(large_copy::table_holds(words));
  std::vector<int> others = words;
  others[kWords - 1] += 1;
  CHECK_FALSE(large_copy::table_holds(others));
}

TEST_CASE("a copy past the end of the variable is refused, and copies nothing", "[large_copy]") {
  const std::vector<int> words = random_words(9);
  large_copy::upload_words(words);
  fill_symbol(constant_words, words);
  const auto& symbol = constant_words;
  const std::vector<int> longer(kWords + 1, -1);
  std::vector<int> back(kWords + 1, 5);
  const std::size_t whole = kWords * sizeof(int);
  CHECK(cudaMemcpyToSymbol(symbol, longer.data(), whole + 4) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyToSymbol(symbol, longer.data(), whole, 4) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyFromSymbol(back.data(), symbol, whole + 4) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(back == std::vector<int>(kWords + 1, 5));
  CHECK(words_in(constant_words) == words);
  CHECK(large_copy::try_large_copy());
  CHECK(cudaGetLastError() == cudaSuccess);  // nobody is blamed for it
  CHECK(large_copy::table_holds(words));
}

TEST_CASE("the checker rejects one wrong element, and a NaN") {
  Additions data = additions(random_ints(1000, 0, 9, 5), 256);
  for (const auto& version : kAdditions) {
    REQUIRE(runs_right(version, data));
    data.h_x[999] += 1;
    INFO(version.name);
    CHECK_FALSE((data.*version.is_right)(version.name));
    data.h_x[999] -= 1;
  }
  const Polynomial values = polynomial(random_floats(1000, 0, 4, 5), coefficients_of_the_power());
  REQUIRE(runs_right(kPolynomials[0], values));
  const float last = values.y.download()[999];
  for (const float wrong : {last * 1.00002f, std::numeric_limits<float>::quiet_NaN()}) {
    CUDA_CHECK(cudaMemcpy(values.y + 999, &wrong, sizeof wrong, cudaMemcpyHostToDevice));
    CHECK_FALSE(values.is_right("one wrong"));
  }
}

TEST_CASE("a row of a sweep says for how long a load of a warp occupies its multiprocessor",
          "[distinct_words]") {
  // 4 warps with 10 loads each on 2 multiprocessors: 20 loads on each of them, in a microsecond
  const std::vector<int> table(1);
  CHECK(is_close(Walks{table, {1, 1}, 32, 10, 2, 4 * kWarp}.load_ns(0.001), 50, 1e-9));
  CHECK(is_close(Walks{table, {1, 1}, 32, 10, 2, 3 * kWarp + 1}.load_ns(0.001), 50, 1e-9));
}

TEST_CASE("the fitted line is the line that the points lie on", "[distinct_words]") {
  const auto [base, slope] = distinct_words::fit_line({3.5, 5.5, 7.5, 9.5, 11.5});
  CHECK(is_close(base, 1.5, 1e-12));
  CHECK(is_close(slope, 2, 1e-12));
  const auto between = distinct_words::fit_line({1, 3, 2});  // by hand: mean 2, slope 1 / 2
  CHECK(is_close(between.first, 1, 1e-12));
  CHECK(is_close(between.second, 0.5, 1e-12));
}
