// SPDX-License-Identifier: MIT
// The command line every chapter shares: sizes with Ki, Mi and Gi, one clear line for anything
// wrong.
#pragma once

#include <getopt.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "backend.cuh"
#include "check.cuh"
#include "timer.cuh"

/// One version of a chapter's ladder: its name on the command line and in the table, what is new in
/// it, and how to launch it on the chapter's data.
template <class Problem>
struct Version {
  const char* name;
  const char* summary;
  void (*launch)(const Problem&);
};

/// Reads a whole non-negative number with an optional suffix Ki, Mi or Gi.
/// Returns false for junk, a sign, an empty text, or a value past 2^64 - 1.
inline bool parse_count(const std::string& text, std::uint64_t* value) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  std::size_t i = 0;
  std::uint64_t number = 0;
  for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])); ++i) {
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    if (number > (kMax - digit) / 10) return false;
    number = number * 10 + digit;
  }
  if (i == 0) return false;
  const std::string suffix = text.substr(i);
  const int shift = suffix.empty()   ? 0
                    : suffix == "Ki" ? 10
                    : suffix == "Mi" ? 20
                    : suffix == "Gi" ? 30
                                     : -1;
  if (shift < 0 || number > (kMax >> shift)) return false;
  *value = number << shift;
  return true;
}

/// The options of one chapter. Declare the chapter's own with add(), then parse().
class Options {
 public:
  std::uint64_t seed = 1;                 ///< of the test data
  std::size_t samples = kOnGpu ? 21 : 5;  ///< timed runs per version; the median is reported
  std::size_t device = 0;                 ///< ordinal
  std::string cache = "hot";              ///< what a timed launch finds in the L2, see sampling()
  std::string only;                       ///< run just these versions, by commas; empty: all
  std::string csv;                        ///< also write the results here; "-": stdout; empty: no

  /// `chapter` is the directory's name, `question` what the chapter asks.
  Options(std::string chapter, std::string question)
      : chapter_(std::move(chapter)), question_(std::move(question)) {
    add("seed", &seed, 0, std::numeric_limits<std::int64_t>::max(), "seed of the test data");
    add("samples", &samples, 1, 10001, "timed runs per version, the median is reported");
    add("device", &device, 0, 1023, "which GPU, from 0");
    add("cache", &cache, {"hot", "cold"},
        "L2 before a timed launch: as the last left it, or flushed");
  }

  /// Names the versions that --only and --list know.
  template <class Problem, std::size_t kCount>
  void versions(const Version<Problem> (&list)[kCount]) {
    for (const auto& v : list) versions_.push_back({v.name, v.summary});
  }
  void version(const std::string& name, const std::string& summary) {
    versions_.push_back({name, summary});
  }

  /// Adds `--name VALUE`, an integer in low..high; *value holds the default. A default below `low`
  /// stands for one that is chosen later; `help` says which.
  template <class Integer>
  void add(const char* name, Integer* value, std::uint64_t low, std::uint64_t high,
           const char* help) {
    static_assert(sizeof(Integer) == sizeof(std::uint64_t), "use size_t or uint64_t");
    numbers_.push_back({name, help, reinterpret_cast<std::uint64_t*>(value), low, high});
  }

  /// Adds `--name WORD`, one of `allowed`; *value holds the default.
  void add(const char* name, std::string* value, std::vector<std::string> allowed,
           const char* help) {
    words_.push_back({name, help, value, std::move(allowed)});
  }

  /// Adds `--name FILE`; *value holds the default, empty for none.
  void add_file(const char* name, std::string* value, const char* help) {
    words_.push_back({name, help, value, {}});
  }

  /// Reads the command line. Bad input: one line that names the option, the value and what is
  /// allowed, then exit status 2, before anything has run. --help and --list print and exit 0.
  void parse(int argc, char** argv) {
    parse(argc, argv, [] {});
  }

  /// The same for a chapter whose versions depend on other options, such as a sweep:
  /// `name_versions` is called when all options have been read, and calls version() for those there
  /// are then.
  template <class NameVersions>
  void parse(int argc, char** argv, NameVersions name_versions) {
    bool list = false;
    // Each option has a value of its own, past those of characters. So an abbreviation that fits
    // two is an error, and optopt is a character only for a short option; there are none of those.
    enum { kOnly = 256, kCsv, kList, kHelp, kOwn };
    std::vector<option> table;
    int own = kOwn;
    for (const Number& o : numbers_) table.push_back({o.name, required_argument, nullptr, own++});
    for (const Word& o : words_) table.push_back({o.name, required_argument, nullptr, own++});
    table.push_back({"only", required_argument, nullptr, kOnly});
    table.push_back({"csv", required_argument, nullptr, kCsv});
    table.push_back({"list", no_argument, nullptr, kList});
    table.push_back({"help", no_argument, nullptr, kHelp});
    table.push_back({nullptr, 0, nullptr, 0});

    opterr = 0;
    optind = 1;
    for (int got; (got = getopt_long(argc, argv, ":", table.data(), nullptr)) != -1;) {
      if (got >= kOwn) {
        set(static_cast<std::size_t>(got - kOwn), optarg);
        continue;
      }
      switch (got) {
        case kOnly:
          only = optarg;
          if (only.empty()) usage_error("--only: expected a version; --list names them");
          break;
        case kCsv:
          csv = optarg;
          if (csv.empty()) usage_error("--csv: expected a file name, or - for standard output");
          break;
        case kList:
          list = true;
          break;
        case kHelp:
          print_help();
          end_after_printing();
        case ':':
          usage_error(std::string(argv[optind - 1]) + ": a value is missing behind it");
        default:
          usage_error((optopt > 0 && optopt < kOnly ? std::string{'-', static_cast<char>(optopt)}
                                                    : std::string(argv[optind - 1])) +
                      ": unknown option; --help lists those there are");
      }
    }
    if (optind < argc)
      usage_error(std::string(argv[optind]) + ": unexpected; options begin with --");
    if (cache == "cold" && !kOnGpu)
      usage_error("--cache cold: the CPU backend has no L2 to flush; only a GPU build takes it");
    name_versions();
    if (list) {
      print_list();
      end_after_printing();
    }
    for (const std::string& version : split_at_commas(only)) {
      if (!knows(version)) {
        usage_error("--only " + version + ": no such version; there are " + names());
      }
    }
  }

  /// True when the version is to run: --only was not given, or names it.
  bool wants(const std::string& version) const {
    for (const std::string& wanted : split_at_commas(only)) {
      if (wanted == version) return true;
    }
    return only.empty();
  }

  /// How versions are to be timed.
  Samples sampling() const { return {samples, cache == "cold"}; }

  /// Prints "<chapter>: <message>" to stderr and exits with status 2. For limits that only the
  /// chapter knows, such as sizes that must divide each other.
  [[noreturn]] void usage_error(const std::string& message) const {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", chapter_.c_str(), message.c_str());
    std::exit(kExitUsage);
  }

  const std::string& chapter() const { return chapter_; }

  /// Width of the longest version name, so that table rows can be aligned as they are printed.
  std::size_t widest_version() const {
    std::size_t width = 7;
    for (const Named& v : versions_) width = v.name.size() > width ? v.name.size() : width;
    return width;
  }

 private:
  struct Number {
    const char* name;
    const char* help;
    std::uint64_t* value;
    std::uint64_t low, high;
  };
  struct Word {
    const char* name;
    const char* help;
    std::string* value;
    std::vector<std::string> allowed;
    bool is_file() const { return allowed.empty(); }  ///< any text will do
  };
  struct Named {
    std::string name, summary;
  };

  static std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      parts.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return parts;
  }

  static std::string joined(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
    return text;
  }

  std::string names() const {
    std::vector<std::string> all;
    for (const Named& v : versions_) all.push_back(v.name);
    return joined(all);
  }

  bool knows(const std::string& version) const {
    for (const Named& v : versions_) {
      if (v.name == version) return true;
    }
    return false;
  }

  void set(std::size_t index, const std::string& text) {
    if (index < numbers_.size()) {
      const Number& o = numbers_[index];
      std::uint64_t value = 0;
      if (!parse_count(text, &value) || value < o.low || value > o.high) {
        usage_error("--" + std::string(o.name) + " " + text + ": expected an integer from " +
                    std::to_string(o.low) + " to " + std::to_string(o.high) +
                    " (suffixes Ki, Mi, Gi)");
      }
      *o.value = value;
      return;
    }
    const Word& o = words_[index - numbers_.size()];
    if (o.is_file()) {
      if (text.empty()) usage_error("--" + std::string(o.name) + ": expected a file name, or -");
      *o.value = text;
      return;
    }
    for (const std::string& allowed : o.allowed) {
      if (text == allowed) {
        *o.value = text;
        return;
      }
    }
    usage_error("--" + std::string(o.name) + " " + text + ": expected one of " + joined(o.allowed));
  }

  /// What was asked for is all that the program does: a full disk is its failure.
  [[noreturn]] void end_after_printing() const {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) std::exit(kExitOk);
    std::fprintf(stderr, "%s: standard output cannot be written\n", chapter_.c_str());
    std::exit(kExitWrong);
  }

  void print_list() const {
    for (const Named& v : versions_) {
      std::printf("%-*s  %s\n", static_cast<int>(widest_version()), v.name.c_str(),
                  v.summary.c_str());
    }
  }

  void print_help() const {
    std::printf("%s: %s\n\nOptions (integers take Ki, Mi, Gi):\n", chapter_.c_str(),
                question_.c_str());
    const auto line = [](const std::string& option, const std::string& help) {
      std::printf("  %-20s %s\n", option.c_str(), help.c_str());
    };
    for (std::size_t i = 3; i < numbers_.size() + 3; ++i) {  // the chapter's own come first
      const Number& o = numbers_[i % numbers_.size()];
      line("--" + std::string(o.name) + " N",
           std::string(o.help) + (*o.value < o.low ? "" : " [" + std::to_string(*o.value) + "]"));
    }
    for (std::size_t i = 1; i < words_.size() + 1; ++i) {  // likewise
      const Word& o = words_[i % words_.size()];
      if (o.is_file()) {
        line("--" + std::string(o.name) + " FILE|-", o.help);
        continue;
      }
      line("--" + std::string(o.name) + " WORD",
           std::string(o.help) + ": " + joined(o.allowed) +
               (o.value->empty() ? std::string() : " [" + *o.value + "]"));
    }
    line("--only VERSION", "run one version, or several with commas between");
    line("--list", "print the versions and what is new in each");
    line("--csv FILE|-", "also write the results as CSV");
    line("--help", "print this");
    std::printf(
        "\nExit status: 0 all right, 1 wrong result or CUDA error, 2 usage, 77 no usable GPU.\n");
  }

  std::string chapter_, question_;
  std::vector<Number> numbers_;
  std::vector<Word> words_;
  std::vector<Named> versions_;
};
