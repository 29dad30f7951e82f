// SPDX-License-Identifier: MIT
// The command line that every program shares, one line for bad input, and what texts are made of.
#pragma once

#include <getopt.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <utility>
#include <vector>

#include "check.cuh"

/// Four significant digits without an exponent, at most seven decimals: "0.002314", "12.63".
inline std::string digits_text(double value) {
  const bool has_digits = value > 0 && std::isfinite(value);
  const int magnitude = has_digits ? static_cast<int>(std::floor(std::log10(value))) : 0;
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", std::min(std::max(3 - magnitude, 0), 7), value);
  return text;
}

inline std::string shown(double value) { return digits_text(value); }
template <class Part>
const Part& shown(const Part& part) {
  return part;
}

/// Texts and numbers side by side, as in text("block=", 256): a double as digits_text() writes it.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream all;
  (all << ... << shown(parts));
  return all.str();
}

/// "1 GiB", "60 MiB", "1.5 KiB", "12 B": the largest binary unit that leaves at least one.
inline std::string bytes_text(std::size_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  const bool has_decimal = value < 10 && value != std::floor(value);
  std::snprintf(text, sizeof text, "%.*f %s", has_decimal, value, units[unit]);
  return text;
}

/// Reads a whole number below 2^64 with an optional suffix Ki, Mi or Gi. Returns false for others.
inline bool parse_count(const std::string& text, std::uint64_t* value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *value);
  const std::string suffix(rest, end);
  const int shift = suffix == "Ki" ? 10 : suffix == "Mi" ? 20 : suffix == "Gi" ? 30 : 0;
  if (error != std::errc{} || (shift == 0 && !suffix.empty())) return false;
  if (*value > UINT64_MAX >> shift) return false;
  *value <<= shift;
  return true;
}

/// An option `--name VALUE`, a multiple of `step` in low..high; *value holds the default. A default
/// below `low` stands for one that is chosen later; `help` says which.
struct Option {
  const char* name;
  std::size_t* value;
  std::size_t low, high;
  const char* help;
  std::size_t step = 1;
  std::string multiples() const { return step > 1 ? text(", a multiple of ", step) : ""; }
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
      // A value that stands apart is the last word that was read; the option is the one before it.
      const bool value_is_apart = optarg != nullptr && optarg == argv[optind - 1];
      const std::string here = argv[optind - (value_is_apart ? 2 : 1)];
      if (got >= kNumbers) set(options_[static_cast<std::size_t>(got - kNumbers)], optarg);
      if (got == ':' || ((got == kOnly || got == kCsv) && *optarg == 0))
        usage_error(here, ": a value is missing behind it");
      if (got == '?') usage_error(here, ": unknown option; --help lists those there are");
      if (got == kOnly) only = optarg;
      if (got == kCsv) csv = optarg;
      if (got == kList) list = true;
      if (got == kHelp) print_help(question);
    }
    if (optind < argc) usage_error(argv[optind], ": unexpected; options begin with --");
    if (list) csv.clear();  // nothing is measured, so no file is emptied
    std::FILE* const file = has_csv_file() ? std::fopen(csv.c_str(), "a") : stdout;
    if (file == nullptr) usage_error("--csv ", csv, ": cannot be written: ", std::strerror(errno));
    if (file != stdout) std::fclose(file);
  }

  Options(const Options&) = delete;  // some values lie in here

  /// The program's own options with their values: "n = 4096 · block = 256".
  std::string workload() const {
    std::string all;
    for (std::size_t i = 0; i < own_; ++i)
      all += text(i == 0 ? "" : " · ", options_[i].name, " = ", *options_[i].value);
    return all;
  }

  /// For a program without a table of versions: --only and --list are usage errors.
  void expect_no_versions() const {
    if (list || !only.empty()) usage_error(list ? "--list" : "--only", ": there are no versions");
  }

  bool has_csv_file() const { return !csv.empty() && csv != "-"; }

  /// Whether the standard output could be written; if not, one line says so.
  bool all_is_printed() const {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
    std::fprintf(stderr, "%s: standard output cannot be written\n", program.c_str());
    return false;
  }

  /// Prints "<program>: <message>" to stderr and exits with status 2.
  template <class... Parts>
  [[noreturn]] void usage_error(const Parts&... parts) const {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", program.c_str(), text(parts...).c_str());
    std::exit(kExitUsage);
  }

 private:
  void set(const Option& o, const std::string& typed) const {
    std::uint64_t value = 0;
    if (!parse_count(typed, &value) || value < o.low || value > o.high || value % o.step != 0)
      usage_error("--", o.name, " ", typed, ": expected an integer from ", o.low, " to ", o.high,
                  o.multiples(), " (suffixes Ki, Mi, Gi)");
    *o.value = value;
  }

  [[noreturn]] void print_help(const char* question) const {
    std::printf("%s: %s\n\nOptions (integers take Ki, Mi, Gi):\n", program.c_str(), question);
    for (const Option& o : options_) {
      const std::string usual = *o.value < o.low ? "" : text(" [", *o.value, "]");
      const std::string help = o.help + o.multiples() + usual;
      std::printf("  --%-18s %s\n", text(o.name, " N").c_str(), help.c_str());
    }
    std::printf(
        "  --only VERSION       run one version, or several with commas between\n"
        "  --list               print the versions and what is new in each\n"
        "  --csv FILE|-         also write the results as CSV\n"
        "  --help               print this\n\n"
        "Exit status: 0 all right, 1 wrong result or CUDA error, 2 usage, 77 no usable GPU.\n");
    std::exit(all_is_printed() ? kExitOk : kExitWrong);
  }

  std::size_t own_;  // the first so many are the program's own
  std::vector<Option> options_;
};
