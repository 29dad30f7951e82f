// SPDX-License-Identifier: MIT
// STARTER FAILS: a kernel sees the new part, and around it what was there before
#include <algorithm>

#include "common/labs/counts.cuh"
#include "common/labs/drawn.cuh"
#include "common/labs/testing.cuh"
// the learner's file:
#include LAB_FILE

namespace {

struct Part {
  std::size_t first, count;
};
// Some at the ends, and some that nobody knows.
const std::vector<Part> kParts = {{0, kWords},
                                  {0, 1},
                                  {999, 1},
                                  {1, 31},
                                  {17, 500},
                                  {500, 500},
                                  {4, 4},
                                  {lab::drawn(256, 600), lab::drawn(257, 400)},
                                  {lab::drawn(1, 16), lab::drawn(501, 900)},
                                  {lab::drawn(601, 950), lab::drawn(1, 49)},
                                  {0, kWords}};

std::string name(const char* function, Part p) {
  return std::string(function) + "(values, " + std::to_string(p.first) + ", " +
         std::to_string(p.count) + "): ";
}

// Positive and negative, and so large that each byte of a word matters.
std::vector<int> words(std::size_t count, std::uint64_t seed) {
  return random_ints(count, -2000000000, 2000000000, seed);
}

std::vector<int> table_on_the_device() {
  const lab::Array<int> d_words(kWords);
  read_table<<<static_cast<unsigned>(div_up(kWords, 128)), 128>>>(d_words.get());
  CUDA_CHECK_LAUNCH();
  return d_words.download();
}

const void* address_of_the_table() {
  void* address = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&address, table));
  return address;
}

// One copy of the part, and nothing else. `call`: upload_part or download_part.
template <class Amount>
void expect_one_copy(const std::string& call, const char* of_table, const Amount& amount, Part p) {
  lab::exactly(call + "copies " + of_table + " the table", amount.times, 1,
               "one call copies the whole part");
  lab::exactly(call + "bytes copied " + of_table + " the table", amount.bytes,
               p.count * sizeof(int), "the part's, and no others");
}

template <class Traffic>
void expect_nothing_else(const std::string& call, const Traffic& made, std::size_t bytes) {
  std::size_t written = 0;
  for (const auto& range : made.ranges)
    written += range.is_written && range.room > 0 ? range.bytes : 0;
  lab::exactly(call + "bytes written to the device, by copies and fills", written, bytes,
               "the table is the only place for them");
  lab::exactly(call + "launches", made.launches, 0, "a copy needs no kernel");
}

}  // namespace

TEST_CASE("a kernel sees the new part, and around it what was there before") {
  lab::once([] {
    std::vector<int> expected(kWords);
    std::uint64_t seed = 0;
    for (const Part p : kParts) {
      const std::vector<int> values = words(p.count, ++seed);
      std::copy(values.begin(), values.end(),
                expected.begin() + static_cast<std::ptrdiff_t>(p.first));
      lab::watch_copies([&] { upload_part(values.data(), p.first, p.count); },
                        [&] {
                          lab::expect_equal(name("after upload_part", p) + "table",
                                            table_on_the_device(), expected);
                        },
                        [&](const auto& made) {
                          const std::string call = name("upload_part", p);
                          const void* const words = address_of_the_table();
                          expect_one_copy(call, "to", made.written(words, sizeof(table)), p);
                          lab::exactly(call + "bytes copied from the table",
                                       made.read(words, sizeof(table)).bytes, 0,
                                       "what stays as it is need not come to the host");
                          expect_nothing_else(call, made, p.count * sizeof(int));
                        });
    }
  });
}

TEST_CASE("the host gets back the words it asks for, and no more") {
  lab::once([] {
    std::vector<int> whole = words(kWords, 99);
    CUDA_CHECK(cudaMemcpyToSymbol(table, whole.data(), sizeof(table)));
    for (const Part p : kParts) {
      std::vector<int> values(kWords, -7);
      std::vector<int> expected(kWords, -7);
      const auto from = whole.begin() + static_cast<std::ptrdiff_t>(p.first);
      std::copy(from, from + static_cast<std::ptrdiff_t>(p.count), expected.begin());
      lab::watch_copies(
          [&] { download_part(values.data(), p.first, p.count); },
          [&] { lab::expect_equal(name("after download_part", p) + "values", values, expected); },
          [&](const auto& made) {
            const std::string call = name("download_part", p);
            const void* const words = address_of_the_table();
            expect_one_copy(call, "from", made.read(words, sizeof(table)), p);
            lab::exactly(call + "bytes copied to the table",
                         made.written(words, sizeof(table)).bytes, 0, "it is only read");
            expect_nothing_else(call, made, 0);
          });
    }
  });
}
