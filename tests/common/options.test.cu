// SPDX-License-Identifier: MIT
#include "../../common/common.cuh"
#include "../catch.hpp"

namespace {

// Parses a command line as a user types it.
Options parsed(std::vector<std::string> words, std::size_t* n, std::string* sweep) {
  Options opt("05_example", "does it parse?");
  opt.version("first", "the first version");
  opt.version("second", "the second version");
  opt.add("n", n, 1, 1_Gi, "elements");
  opt.add("sweep", sweep, {"stride", "offset"}, "what to sweep");
  std::vector<char*> argv = {const_cast<char*>("example")};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  opt.parse(static_cast<int>(words.size()) + 1, argv.data());
  return opt;
}

std::uint64_t count(const std::string& text) {
  std::uint64_t value = 0;
  REQUIRE(parse_count(text, &value));
  return value;
}

}  // namespace

TEST_CASE("parse_count reads whole numbers and binary suffixes") {
  CHECK(count("0") == 0);
  CHECK(count("1048576") == 1048576);
  CHECK(count("3Ki") == 3072);
  CHECK(count("16Mi") == 16777216);
  CHECK(count("4Gi") == 4294967296);
  CHECK(count("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("parse_count refuses junk, signs, fractions and what does not fit 64 bits") {
  for (const char* text :
       {"", " ", "-1", "+1", "1.5", "1e6", "0x10", "12abc", "Ki", "1ki", "1K", "1 Ki", "1KiB",
        "18446744073709551616", "17179869184Gi", "99999999999999999999999"}) {
    std::uint64_t value = 42;
    INFO(text);
    CHECK_FALSE(parse_count(text, &value));
    CHECK(value == 42);
  }
}

TEST_CASE("without options the defaults hold and every version is wanted") {
  std::size_t n = 100;
  std::string sweep;
  const Options opt = parsed({}, &n, &sweep);
  CHECK(n == 100);
  CHECK(sweep.empty());
  CHECK(opt.seed == 1);
  CHECK(opt.wants("first"));
  CHECK(opt.wants("second"));
}

TEST_CASE("--only takes one version, or several with commas between") {
  std::size_t n = 100;
  std::string sweep;
  CHECK(parsed({"--only", "second"}, &n, &sweep).wants("second"));
  CHECK_FALSE(parsed({"--only", "second"}, &n, &sweep).wants("first"));
  const Options both = parsed({"--only", "second,first"}, &n, &sweep);
  CHECK(both.wants("first"));
  CHECK(both.wants("second"));
  CHECK_FALSE(both.wants("second,first"));
}

TEST_CASE("versions may depend on options that are read before they are named") {
  Options opt("05_example", "does it parse?");
  std::string sweep;
  opt.add("sweep", &sweep, {"stride", "offset"}, "what to sweep");
  char words[][16] = {"example", "--only", "stride=2", "--sweep", "stride"};
  char* argv[] = {words[0], words[1], words[2], words[3], words[4], nullptr};
  opt.parse(5, argv, [&] {
    for (const char* value : {"1", "2"}) opt.version(sweep + "=" + value, "a row");
  });
  CHECK(opt.wants("stride=2"));
  CHECK_FALSE(opt.wants("stride=1"));
}

TEST_CASE("options may be written with a space or an equals sign, in any order") {
  std::size_t n = 100;
  std::string sweep;
  const Options opt = parsed(
      {"--seed=9", "--n", "2Ki", "--only", "second", "--csv=-", "--sweep", "offset"}, &n, &sweep);
  CHECK(n == 2048);
  CHECK(sweep == "offset");
  CHECK(opt.seed == 9);
  CHECK(opt.csv == "-");
  CHECK_FALSE(opt.wants("first"));
  CHECK(opt.wants("second"));
}

TEST_CASE("div_up covers every element, also at the edge of the type") {
  CHECK(div_up(0, 256) == 0);
  CHECK(div_up(1, 256) == 1);
  CHECK(div_up(256, 256) == 1);
  CHECK(div_up(257, 256) == 2);
  CHECK(div_up(std::numeric_limits<std::size_t>::max(), 2) == (std::size_t{1} << 63));
}
