// SPDX-License-Identifier: MIT
// The command line that every program shares: sizes with Ki, Mi and Gi, one line for bad input.
#pragma once

#include <getopt.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "check.cuh"

/// Reads a whole number with an optional suffix Ki, Mi or Gi. Returns false for junk, a sign, an
/// empty text, or a value past 2^64 - 1.
inline bool parse_count(const std::string& text, std::uint64_t* value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *value);
  const std::string suffix(rest, end);
  const int shift = suffix.empty()   ? 0
                    : suffix == "Ki" ? 10
                    : suffix == "Mi" ? 20
                    : suffix == "Gi" ? 30
                                     : -1;
  if (error != std::errc{} || shift < 0) return false;
  if (*value > std::numeric_limits<std::uint64_t>::max() >> shift) return false;
  *value <<= shift;
  return true;
}

/// An option `--name VALUE`, an integer in low..high; *value holds the default. A default below
/// `low` stands for one that is chosen later; `help` says which.
struct Option {
  const char* name;
  std::size_t* value;
  std::size_t low, high;
  const char* help;
};

/// The command line of one program: its own options, and those that all programs have.
class Options {
 public:
  std::size_t seed = 1;                   ///< of the test data
  std::size_t samples = kOnGpu ? 21 : 5;  ///< timed runs per version; the median is reported
  std::size_t device = 0;                 ///< ordinal
  std::string only;                       ///< the rows that are wanted, by commas; empty: all
  std::string csv;                        ///< also write the results here; "-": stdout; empty: no
  bool list = false;                      ///< name the rows, run none
  const std::string program;              ///< the chapter's folder, or its number and an experiment

  /// Reads the command line. Bad input: one line that names the option, the value and what is
  /// allowed, exit status 2. --help prints `question` and the options, and ends the program.
  Options(int argc, char** argv, const char* name, const char* question, std::vector<Option> own)
      : program(name), own_(own.size()), options_(std::move(own)) {
    options_.push_back({"seed", &seed, 0, INT64_MAX, "seed of the test data"});
    options_.push_back({"samples", &samples, 1, 10001, "timed runs per version, for the median"});
    options_.push_back({"device", &device, 0, 1023, "which GPU, from 0"});

    enum { kOnly = 256, kCsv, kList, kHelp, kNumbers };
    std::vector<option> table = {{"only", required_argument, nullptr, kOnly},
                                 {"csv", required_argument, nullptr, kCsv},
                                 {"list", no_argument, nullptr, kList},
                                 {"help", no_argument, nullptr, kHelp}};
    int number = kNumbers;
    for (const Option& o : options_)
      table.push_back({o.name, required_argument, nullptr, number++});
    table.push_back({nullptr, 0, nullptr, 0});
    opterr = 0;
    optind = 1;
    for (int got; (got = getopt_long_only(argc, argv, ":", table.data(), nullptr)) != -1;) {
      const std::string here = argv[optind - 1];
      if (got >= kNumbers) set(options_[static_cast<std::size_t>(got - kNumbers)], optarg);
      if (got == ':' || ((got == kOnly || got == kCsv) && *optarg == 0))
        usage_error(here + ": a value is missing behind it");
      if (got == '?') usage_error(here + ": unknown option; --help lists those there are");
      if (got == kOnly) only = optarg;
      if (got == kCsv) csv = optarg;
      if (got == kList) list = true;
      if (got == kHelp) print_help(question);
    }
    if (optind < argc)
      usage_error(std::string(argv[optind]) + ": unexpected; options begin with --");
  }

  Options(const Options&) = delete;  // some values lie in here

  /// The program's own options with their values: "n = 4096 · block = 256".
  std::string workload() const {
    std::string text;
    for (std::size_t i = 0; i < own_; ++i)
      text += (i == 0 ? "" : " · ") + std::string(options_[i].name) + " = " +
              std::to_string(*options_[i].value);
    return text;
  }

  /// The file of --csv, if there is one. If it cannot be opened: one line, exit status 2.
  std::FILE* open_csv(const char* mode) const {
    if (csv.empty() || csv == "-") return nullptr;
    std::FILE* const file = std::fopen(csv.c_str(), mode);
    if (file == nullptr)
      usage_error("--csv " + csv + ": cannot be written: " + std::strerror(errno));
    return file;
  }

  /// Writes all of --csv. Returns whether it is there; if not, one line says so.
  bool write_csv(const std::string& text) const {
    if (csv == "-") std::fputs(text.c_str(), stdout);
    std::FILE* const file = open_csv("w");
    const bool filled = file == nullptr || std::fputs(text.c_str(), file) >= 0;
    if (file == nullptr || (std::fclose(file) == 0 && filled)) return true;
    std::fprintf(stderr, "--csv %s: not all of it could be written\n", csv.c_str());
    return false;
  }

  /// Prints "<program>: <message>" to stderr and exits with status 2.
  [[noreturn]] void usage_error(const std::string& message) const {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", program.c_str(), message.c_str());
    std::exit(kExitUsage);
  }

 private:
  void set(const Option& o, const std::string& text) const {
    std::uint64_t value = 0;
    if (!parse_count(text, &value) || value < o.low || value > o.high)
      usage_error("--" + std::string(o.name) + " " + text + ": expected an integer from " +
                  std::to_string(o.low) + " to " + std::to_string(o.high) +
                  " (suffixes Ki, Mi, Gi)");
    *o.value = value;
  }

  [[noreturn]] void print_help(const char* question) const {
    std::printf("%s: %s\n\nOptions (integers take Ki, Mi, Gi):\n", program.c_str(), question);
    for (const Option& o : options_) {
      const std::string usual = *o.value < o.low ? "" : " [" + std::to_string(*o.value) + "]";
      std::printf("  --%-18s %s%s\n", (std::string(o.name) + " N").c_str(), o.help, usual.c_str());
    }
    std::printf(
        "  --only VERSION       run one version, or several with commas between\n"
        "  --list               print the versions and what is new in each\n"
        "  --csv FILE|-         also write the results as CSV\n"
        "  --help               print this\n\n"
        "Exit status: 0 all right, 1 wrong result or CUDA error, 2 usage, 77 no usable GPU.\n");
    // What was asked for is all that the program does: a full disk is its failure.
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) std::exit(kExitOk);
    std::fprintf(stderr, "%s: standard output cannot be written\n", program.c_str());
    std::exit(kExitWrong);
  }

  std::size_t own_;  // the first so many are the program's own
  std::vector<Option> options_;
};
