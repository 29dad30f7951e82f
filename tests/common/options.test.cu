// SPDX-License-Identifier: MIT
#include "../kernel_testing.cuh"

namespace {

// Parses a command line as a user types it: options that the program has, and one of its own.
struct Parsed : CommandLine {
  using CommandLine::CommandLine;
  std::size_t n = 100, spare = 0;
  Options opt{argc(),
              argv.data(),
              "05_example",
              "does it parse?",
              {{"n", &n, 1, 1_Gi, "elements"}, {"spare", &spare, 1, 8, "chosen later"}}};
};

// Whether the table of such a program wants rows of these names.
std::vector<bool> wanted(std::vector<std::string> typed, const std::vector<std::string>& names) {
  const Parsed p(std::move(typed));
  ResultTable table(p.opt, 64);
  std::vector<bool> answers;
  for (const std::string& name : names) answers.push_back(table.wants(name));
  return answers;
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
  }
}

TEST_CASE("without options the defaults hold and every row is wanted") {
  const Parsed p;
  CHECK(p.n == 100);
  CHECK(p.spare == 0);  // a default below the limits stands for one that is chosen later
  CHECK(p.opt.seed == 1);
  CHECK(p.opt.only.empty());
  CHECK_FALSE(p.opt.list);
  CHECK(wanted({}, {"first", "second"}) == std::vector<bool>{true, true});
}

TEST_CASE("--only takes one row, or several with commas between") {
  const std::vector<std::string> names = {"first", "second", "second,first", "sec"};
  CHECK(wanted({"--only", "second"}, names) == std::vector<bool>{false, true, false, false});
  CHECK(wanted({"--only", "second,first"}, {"first", "second", "sec"}) ==
        std::vector<bool>{true, true, false});
}

TEST_CASE("--list names the rows and wants none") {
  CHECK(wanted({"--list"}, {"first", "second"}) == std::vector<bool>{false, false});
}

TEST_CASE("--list leaves the file of --csv as it is") {
  const Parsed p({"--list", "--csv", "/no/such/folder/rows.csv"});
  CHECK(p.opt.list);
  CHECK(p.opt.csv.empty());
}

TEST_CASE("options may be written with a space or an equals sign, in any order") {
  const Parsed p({"--seed=9", "--n", "2Ki", "--only", "second", "--csv=-"});
  CHECK(p.n == 2048);
  CHECK(p.opt.seed == 9);
  CHECK(p.opt.csv == "-");
  CHECK(p.opt.only == "second");
}

TEST_CASE("the workload names the program's own options with their values, and no others") {
  CHECK(Parsed({"--seed", "7", "--n", "3"}).opt.workload() == "n = 3 · spare = 0");
}

TEST_CASE("div_up covers every element, also at the edge of the type") {
  CHECK(div_up(0, 256) == 0);
  CHECK(div_up(1, 256) == 1);
  CHECK(div_up(256, 256) == 1);
  CHECK(div_up(257, 256) == 2);
  CHECK(div_up(std::numeric_limits<std::size_t>::max(), 2) == (std::size_t{1} << 63));
  CHECK(blocks_for(0, 256) == 1);  // no grid is empty
  CHECK(blocks_for(257, 256) == 2);
}
