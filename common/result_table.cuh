// SPDX-License-Identifier: MIT
// What a chapter prints: a context line, one Markdown table, and the same as tidy CSV.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "check.cuh"
#include "device.cuh"
#include "options.cuh"
#include "timer.cuh"

/// "1 GiB", "60 MiB", "1.5 KiB", "12 B": the largest binary unit that leaves at least one.
inline std::string bytes_text(std::size_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, value < 10 && value != std::floor(value) ? "%.1f %s" : "%.0f %s",
                value, units[unit]);
  return text;
}

/// Four significant digits without an exponent, at most seven decimals (of a millisecond: a tenth
/// of a nanosecond): "0.002314", "12.63", "1481".
inline std::string digits_text(double value) {
  const int magnitude = value > 0 ? static_cast<int>(std::floor(std::log10(value))) : 0;
  const int decimals = magnitude >= 3 ? 0 : magnitude <= -4 ? 7 : 3 - magnitude;
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

/// A CSV file that appears whole or not at all: it is written beside its final name and renamed at
/// the end, so that neither a failed run nor a full disk costs the results that were there before.
/// "-" is standard output; devices and pipes are written directly.
class CsvFile {
 public:
  /// Opens the file of --csv for writing. If it cannot be opened: one line, exit status 2,
  /// before anything has run.
  void open(const Options& opt) { open(opt, "--csv", opt.csv); }

  /// The same for another file, `path`, that `option` named. An empty path: nothing is written.
  void open(const Options& opt, const char* option, const std::string& path) {
    if (path.empty()) return;
    option_ = option;
    path_ = path;
    if (path_ == "-") {
      file_ = stdout;
      return;
    }
    const std::string what = option_ + " " + path_;
    struct stat info;
    const bool exists = stat(path_.c_str(), &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) opt.usage_error(what + ": is a directory");
    direct_ = exists && !S_ISREG(info.st_mode);
    written_ = direct_ ? path_ : path_ + ".partial";
    file_ = std::fopen(written_.c_str(), "w");
    if (file_ == nullptr) {
      opt.usage_error(what + ": cannot be written: " + std::strerror(errno));
    }
  }

  bool is_open() const { return file_ != nullptr; }

  /// Writes one line of fields, quoted where they need it.
  void row(const std::vector<std::string>& fields) {
    if (file_ == nullptr) return;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      std::string field = fields[i];
      if (field.find_first_of(",\"\n") != std::string::npos) {
        for (std::size_t at = 0; (at = field.find('"', at)) != std::string::npos; at += 2)
          field.insert(at, 1, '"');
        field = '"' + field + '"';
      }
      std::fprintf(file_, "%s%s", i == 0 ? "" : ",", field.c_str());
    }
    std::fputc('\n', file_);
  }

  /// Puts the file in place. Returns false, with one line on stderr, when not all of it could be
  /// written.
  bool finish() {
    if (file_ == nullptr) return true;
    bool ok = std::fflush(file_) == 0 && std::ferror(file_) == 0;
    int why = errno;
    if (file_ != stdout) {
      if (std::fclose(file_) != 0 && ok) {
        ok = false;
        why = errno;
      }
      if (ok && !direct_ && std::rename(written_.c_str(), path_.c_str()) != 0) {
        ok = false;
        why = errno;
      }
      if (!ok && !direct_) std::remove(written_.c_str());
    }
    file_ = nullptr;
    if (!ok) {
      std::fprintf(stderr, "%s %s: not written: %s; the table above is complete\n", option_.c_str(),
                   path_.c_str(), std::strerror(why));
    }
    return ok;
  }

  /// A file that was never finished leaves nothing behind.
  ~CsvFile() {
    if (file_ == nullptr || file_ == stdout) return;
    std::fclose(file_);
    if (!direct_) std::remove(written_.c_str());
  }

 private:
  std::FILE* file_ = nullptr;
  std::string option_, path_, written_;
  bool direct_ = false;
};

/// The table of one chapter. Rows are printed as they are added.
class ResultTable {
 public:
  /// `workload` is the size as the user gave it ("n = 1048576"), `data_bytes` what a version reads
  /// and writes, compared with the L2 in the context line. `more_columns` names columns of the
  /// chapter's own, which next_row_has() fills; like rates they are printed on a GPU only.
  ResultTable(const Options& opt, const Device& device, const std::string& workload,
              std::size_t data_bytes, const std::vector<std::string>& more_columns = {})
      : opt_(opt),
        device_(device),
        workload_(workload + (opt.sampling().cold ? " · L2 flushed" : "")),
        more_columns_(more_columns) {
    csv_.open(opt);
    const std::string samples =
        std::to_string(opt.samples) + (opt.samples == 1 ? " sample" : " samples, median");
    if (kOnGpu) {
      context_ = device.name + " · sm_" + std::to_string(device.major) +
                 std::to_string(device.minor) + " · CUDA " +
                 Device::version_text(device.runtime_version) + " · " + workload_ + " · " +
                 samples + " · data " + bytes_text(data_bytes) +
                 (data_bytes <= device.l2_bytes ? ", fits the L2 of " : ", L2 ") +
                 bytes_text(device.l2_bytes);
    } else {
      context_ = device.name + " · " + workload_ + " · " + samples + " · data " +
                 bytes_text(data_bytes) + " · times here say nothing about a GPU";
    }
    std::vector<std::string> header = {
        "chapter", "device",    "cc",      "driver",     "cuda",      "date",   "commit",
        "backend", "workload",  "samples", "version",    "median_ms", "min_ms", "max_ms",
        "rate",    "rate_unit", "of",      "of_percent", "speedup",   "check",  "noise_percent",
        "sm_mhz"};
    header.insert(header.end(), more_columns.begin(), more_columns.end());
    csv_.row(header);
  }

  /// The command line that the table was made for.
  const Options& options() const { return opt_; }

  /// Rows get a GB/s column and a share of `yardstick_gbps`; `of` names it ("copy", "read").
  void rate_in_gbps(const char* of, double yardstick_gbps) { set_rate("GB/s", of, yardstick_gbps); }

  /// Rows get a GFLOP/s column and a share of the peak.
  void rate_in_gflops(const char* of, double peak_gflops) { set_rate("GFLOP/s", of, peak_gflops); }

  /// Leaves the speed-up out: for versions that do not all do the same work.
  void without_speedup() { has_speedup_ = false; }

  /// Rows get a column in a unit of the chapter's own, such as "cycles/int", filled by
  /// add_with_rate().
  void rate_in(const char* unit) {
    set_rate(unit, "", 0);
    own_unit_ = true;
  }

  /// What the next row has in the chapter's own columns: one text for each.
  void next_row_has(const std::vector<std::string>& cells) { more_cells_ = cells; }

  /// One row. `amount` is what one launch moves (bytes) or computes (floating-point operations); 0:
  /// none.
  void add(const std::string& version, const Timing& t, double amount, bool ok) {
    const bool has_rate = !own_unit_ && amount > 0 && t.median_ms > 0;
    add_with_rate(version, t, has_rate ? amount / t.median_ms / 1e6 : 0, ok);
  }

  /// One row of a launch that was timed once, if the version is wanted.
  void add_once(const std::string& version, double ms, double amount, bool ok) {
    if (opt_.wants(version)) add(version, {ms, ms, ms, 1, 1}, amount, ok);
  }

  /// One row whose rate is known already; 0: none. `right` is what the check says when `ok`: a
  /// version that shows a bug on purpose has a better word than "ok".
  void add_with_rate(const std::string& version, const Timing& t, double rate, bool ok,
                     const char* right = "ok") {
    if (first_ms_ == 0) first_ms_ = t.median_ms;
    all_ok_ = all_ok_ && ok;
    const bool has_rate = rate_unit_ != nullptr && rate > 0;
    const double percent = has_rate && yardstick_ > 0 ? 100 * rate / yardstick_ : 0;
    const double speedup = t.median_ms > 0 ? first_ms_ / t.median_ms : 0;
    char spread[64];
    std::snprintf(spread, sizeof spread, "%s..%s", digits_text(t.min_ms).c_str(),
                  digits_text(t.max_ms).c_str());
    if (t.samples == 1) std::snprintf(spread, sizeof spread, "-");  // one sample has no spread

    std::vector<std::string> cells = {version, digits_text(t.median_ms), spread};
    if (kOnGpu) {
      char text[32];
      if (rate_unit_ != nullptr) cells.push_back(has_rate ? digits_text(rate) : "-");
      if (rate_unit_ != nullptr && !own_unit_) {
        std::snprintf(text, sizeof text, "%.1f %%", percent);
        cells.push_back(percent > 0 ? text : "-");
      }
      std::snprintf(text, sizeof text, speedup < 10 ? "%.2fx" : "%.0fx", speedup);
      if (has_speedup_) cells.push_back(text);
      for (std::size_t i = 0; i < more_columns_.size(); ++i) {
        cells.push_back(i < more_cells_.size() ? more_cells_[i] : "-");
      }
    }
    cells.push_back(ok ? right : "WRONG");
    print_header_once();
    print_row(cells);
    csv_row(version,
            {number_text(t.median_ms), number_text(t.min_ms), number_text(t.max_ms),
             has_rate ? number_text(rate) : "", has_rate ? rate_unit_ : "", percent > 0 ? of_ : "",
             percent > 0 ? number_text(percent) : "", has_speedup_ ? number_text(speedup) : "",
             ok ? right : "WRONG", t.samples > 1 ? number_text(t.noise_percent) : "",
             t.sm_mhz > 0 ? number_text(t.sm_mhz) : ""},
            std::to_string(t.samples));
    more_cells_.clear();
    keep_conditions(version, t);
  }

  /// A measured number that is no time of a version: `sentence`, unless it is empty, goes below the
  /// table, `value` into the CSV as the rate of a row called `name`.
  void measured(const std::string& name, double value, const char* unit,
                const std::string& sentence) {
    if (!sentence.empty()) note(sentence);
    csv_row(name, {"", "", "", number_text(value), unit, "", "", "", "", "", ""},
            std::to_string(opt_.samples));
  }

  /// A line of text below the table, printed by finish().
  void note(const std::string& text) { notes_.push_back(text); }

  /// Ends the table: notes, CSV in place. Returns the exit status of the program.
  int finish() {
    if (kOnGpu && fastest_mhz_ > 0) notes_.push_back(conditions_text());
    for (const std::string& text : notes_)
      std::printf("%s%s\n", &text == &notes_.front() ? "\n" : "", text.c_str());
    const bool printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    const bool written = csv_.finish();
    if (written && !printed) {
      std::fprintf(stderr, "standard output: the table could not be written: %s\n",
                   std::strerror(errno));
    }
    if (!all_ok_) {
      std::fprintf(stderr, "WRONG: if threads race, make sanitize CH=%s names both lines\n",
                   opt_.chapter().substr(0, opt_.chapter().find('_')).c_str());
    }
    return all_ok_ && written && printed ? kExitOk : kExitWrong;
  }

 private:
  void set_rate(const char* unit, const char* of, double yardstick) {
    rate_unit_ = unit;
    of_ = of;
    yardstick_ = yardstick;
  }

  /// Remembers the clocks that the rows ran at, and the noisiest row.
  void keep_conditions(const std::string& version, const Timing& t) {
    if (t.sm_mhz > 0) {
      slowest_mhz_ = fastest_mhz_ == 0 ? t.sm_mhz : std::min(slowest_mhz_, t.sm_mhz);
      fastest_mhz_ = std::max(fastest_mhz_, t.sm_mhz);
    }
    if (t.noise_percent >= most_noise_) {
      most_noise_ = t.noise_percent;
      noisiest_ = version;
    }
  }

  /// "SM clock 1980 MHz; noise (standard deviation over mean) at most 0.4 %: sum_chunked".
  std::string conditions_text() const {
    char text[160];
    const bool steady = fastest_mhz_ - slowest_mhz_ < 0.005 * fastest_mhz_;
    if (steady) {
      std::snprintf(text, sizeof text, "SM clock %.0f MHz", fastest_mhz_);
    } else {
      std::snprintf(text, sizeof text, "SM clock %.0f to %.0f MHz", slowest_mhz_, fastest_mhz_);
    }
    std::string line = text;
    if (most_noise_ > 0) {
      std::snprintf(text, sizeof text,
                    "; noise (standard deviation over mean) at most %.1f %%: ", most_noise_);
      line += text + noisiest_;
    }
    return line;
  }

  static std::string number_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
  }

  /// The context, then the version, then `fields`: the columns from median_ms on.
  void csv_row(const std::string& version, const std::vector<std::string>& fields,
               const std::string& samples) {
    char date[16];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    const char* commit = std::getenv("TUTORIAL_COMMIT");
    std::vector<std::string> row = {
        opt_.chapter(),
        device_.name,
        std::to_string(device_.major) + "." + std::to_string(device_.minor),
        Device::version_text(device_.driver_version),
        Device::version_text(device_.runtime_version),
        date,
        commit != nullptr ? commit : "unknown",
        kOnGpu ? "gpu" : "cpu",
        workload_,
        samples,
        version};
    row.insert(row.end(), fields.begin(), fields.end());
    for (std::size_t i = 0; i < more_columns_.size(); ++i) {
      row.push_back(i < more_cells_.size() ? more_cells_[i] : "");
    }
    csv_.row(row);
  }

  void print_header_once() {
    if (header_printed_) return;
    header_printed_ = true;
    std::printf("%s\n\n", context_.c_str());
    std::vector<std::string> names = {"version", "time [ms]", "spread"};
    if (kOnGpu) {
      if (rate_unit_ != nullptr) {
        names.push_back(rate_unit_);
        if (!own_unit_) names.push_back("of " + std::string(of_));
      }
      if (has_speedup_) names.push_back("speed-up");
      names.insert(names.end(), more_columns_.begin(), more_columns_.end());
    }
    names.push_back("check");
    widths_ = {opt_.widest_version(), 9, 17};
    while (widths_.size() < names.size()) {
      const std::size_t least = own_unit_ ? 10 : 8;
      widths_.push_back(std::max(least, names[widths_.size()].size()));
    }
    print_row(names);
    std::vector<std::string> rule;
    for (std::size_t i = 0; i < names.size(); ++i) {
      rule.push_back(std::string(widths_[i] - 1, '-') +
                     (i == 0 || i + 1 == names.size() ? "-" : ":"));
    }
    print_row(rule);
  }

  void print_row(const std::vector<std::string>& cells) const {
    std::string line = "|";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t pad = widths_[i] > cells[i].size() ? widths_[i] - cells[i].size() : 0;
      const bool text_column = i == 0 || i + 1 == cells.size();
      line += " " +
              (text_column ? cells[i] + std::string(pad, ' ') : std::string(pad, ' ') + cells[i]) +
              " |";
    }
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }

  const Options& opt_;
  const Device& device_;
  std::string workload_, context_;
  std::vector<std::string> more_columns_, more_cells_;
  CsvFile csv_;
  const char* rate_unit_ = nullptr;
  const char* of_ = "";
  double yardstick_ = 0, first_ms_ = 0;
  double slowest_mhz_ = 0, fastest_mhz_ = 0, most_noise_ = 0;
  std::string noisiest_;
  bool all_ok_ = true, header_printed_ = false, has_speedup_ = true, own_unit_ = false;
  std::vector<std::size_t> widths_;
  std::vector<std::string> notes_;
};
