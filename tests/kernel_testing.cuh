// SPDX-License-Identifier: MIT
// What every kernel test needs: sizes, inputs that expose index errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../common/common.cuh"
#include "awkward.h"
#include "catch.hpp"

/// Whether a version leaves the right result, where poison was before.
template <class Problem>
bool runs_right(const Version<Problem>& version, const Problem& problem) {
  problem.poison();
  version.launch(problem);
  CUDA_CHECK_LAUNCH();
  return (problem.*version.is_right)(version.name);
}

/// The same of each of several versions.
template <class Versions, class Problem>
void check_all(const Versions& versions, const Problem& problem) {
  for (const auto& version : versions) {
    INFO(version.name);
    CHECK(runs_right(version, problem));
  }
}

/// How often to repeat what must work every time.
inline int repeats(int usual) { return small_sizes() ? 2 : usual; }

/// Each of several versions is right at once and after so many launches more, none of which trips
/// over what earlier ones left. What they left is then poisoned: doing nothing is not right.
template <class Versions, class Problem>
void check_repeated(const Versions& versions, const Problem& problem, int more = repeats(20)) {
  for (const auto& version : versions) {
    INFO(version.name);
    CHECK(runs_right(version, problem));
    for (int launch = 0; launch < more; ++launch) version.launch(problem);
    CUDA_CHECK_LAUNCH();
    CHECK((problem.*version.is_right)("launched again and again"));
    problem.poison();
    CHECK_FALSE((problem.*version.is_right)("nothing ran"));
  }
}

/// Every size that a kernel for any n is tested at: the awkward ones, a prime near 1e5, one more
/// than a power of two that keeps the device busy for many waves of blocks. Not so many under
/// checkers.
inline std::vector<std::size_t> sizes_to_test() {
  if (small_sizes()) return {0, 1, 31, 32, 33, 255, 256, 257, 1023, 2053};
  std::vector<std::size_t> sizes = awkward_sizes();
  sizes.insert(sizes.end(), {99991, (kOnGpu ? 1u << 20 : 1u << 17) + 1});
  return sizes;
}

/// An input with its name, for the failure message.
struct NamedInts {
  std::string name;
  std::vector<int> values;
};

/// The inputs every integer kernel is tested on: random, negative, and index-valued (which no
/// swapped or repeated element survives).
inline std::vector<NamedInts> ints_of_every_kind(std::size_t n) {
  std::vector<int> indices(n);
  for (std::size_t i = 0; i < n; ++i) indices[i] = static_cast<int>(i);
  return {{"random 0..9", random_ints(n, 0, 9, 7)},
          {"negative", random_ints(n, -1000, -1, 8)},
          {"index-valued", indices}};
}

/// Calls check(values) with ints of every kind at every size, at the largest only with the kind
/// that shows most. A failure names size and kind.
template <class Check>
void for_ints_of_every_size(Check check) {
  for (const std::size_t n : sizes_to_test()) {
    for (const NamedInts& input : ints_of_every_kind(n)) {
      if (n > 100000 && input.name != "index-valued") continue;
      INFO("n = " << n << ", " << input.name);
      check(input.values);
    }
  }
}

/// Calls check(values, block) with blocks of every size and ints for none of them, for one, and for
/// many. A failure names both sizes.
template <class Check>
void for_blocks_of_every_size(std::size_t most, Check check) {
  for (const unsigned block : awkward_blocks()) {
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{257}, most}) {
      INFO("block " << block << ", n = " << n);
      check(random_ints(n, -9, 9, 3), block);
    }
  }
}

/// One of several versions.
template <class Versions>
const auto& version_named(const Versions& versions, const char* name) {
  const auto found = std::find_if(std::begin(versions), std::end(versions),
                                  [&](const auto& v) { return v.name == std::string(name); });
  REQUIRE(found != std::end(versions));
  return *found;
}

/// What main gets when a program is called with these words.
struct CommandLine {
  explicit CommandLine(std::vector<std::string> typed = {}) : words(std::move(typed)) {
    words.insert(words.begin(), "example");
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
  }
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  int argc() const { return static_cast<int>(words.size()); }

  std::vector<std::string> words;
  std::vector<char*> argv;
};

/// Runs a program's main with these options, and --csv. Returns the lines of the CSV, the header
/// first. A program that fails makes the test fail.
inline std::vector<std::string> lines_of_csv(int (*program)(int, char**),
                                             std::vector<std::string> options) {
  const std::string path = "/tmp/test_" + std::to_string(host_ms()) + ".csv";
  options.insert(options.end(), {"--csv", path});
  CommandLine typed(std::move(options));
  REQUIRE(program(typed.argc(), typed.argv.data()) == kExitOk);
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::remove(path.c_str());
  return lines;
}

inline bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// The parts of a text between separators, as the cells of a line of CSV.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// The fields of a line of CSV, without their quotes. No comma is quoted.
inline std::vector<std::string> fields_of(std::string line) {
  line.erase(std::remove(line.begin(), line.end(), '"'), line.end());
  return split(line, ',');
}

/// The sum of squares, in 64 bits, that most chapters' kernels compute.
inline long long sum_of_squares(const std::vector<int>& values) {
  long long sum = 0;
  for (const long long v : values) sum += v * v;
  return sum;
}

/// True for the two codes with which a launch that no device can run is refused: the documented
/// one, and the one that CUDA 13.0 was seen to return on an H200.
inline bool refuses_configuration(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}
