// SPDX-License-Identifier: MIT
// The file of --csv, for tools and spreadsheets: each row of the table with all that was measured,
// and with what it was measured on.
#pragma once

#include <cmath>
#include <optional>

#include "device.cuh"
#include "timer.cuh"

/// The end of a program: writes `lines` where --csv says. Returns whether they are there, and all
/// that was printed; if not, one line says so.
inline bool write_csv(const Options& opt, const std::string& lines) {
  if (opt.csv == "-") std::fputs(lines.c_str(), stdout);
  const bool is_printed = opt.all_is_printed();
  if (!opt.has_csv_file()) return is_printed;
  std::FILE* const file = std::fopen(opt.csv.c_str(), "w");
  if (file && std::fputs(lines.c_str(), file) >= 0 && std::fclose(file) == 0) return is_printed;
  std::fprintf(stderr, "--csv %s: not all of it could be written\n", opt.csv.c_str());
  return false;
}

/// One row of results. A number that is 0 is not known: an empty field.
struct ResultRow {
  std::string version;
  Timing time;
  std::string unit;            ///< of the rate
  std::optional<double> rate;  ///< may be 0: then that was measured
  std::string yardstick;       ///< what the rate is a share of
  double percent = 0;          ///< that share
  double speedup = 0;
  std::string check;
  double sm_mhz = 0;               ///< clock of a multiprocessor right after it
  std::vector<std::string> cells;  ///< of the program's own columns
};

/// The rows as lines of text.
class Csv {
 public:
  /// `columns` are the program's own, behind those that all programs have.
  Csv(const Options& opt, const Device& device, const std::vector<std::string>& columns)
      : context_(text(opt.program, ",\"", device.name, "\",", device.major, '.', device.minor, ',',
                      version_text(device.driver_version), ',',
                      version_text(device.runtime_version), kOnGpu ? ",gpu," : ",cpu,",
                      opt.workload())) {
    lines_ =
        "chapter,device,cc,driver,cuda,backend,workload,samples,version,median_ms,min_ms,max_ms,"
        "rate,rate_unit,of,of_percent,speedup,check,noise_percent,sm_mhz";
    end_line(columns);
  }

  void add(const ResultRow& row) {
    const Timing& t = row.time;
    lines_ +=
        text(context_, ',', t.samples, ",\"", row.version, "\",", known(t.median_ms), ',',
             known(t.min_ms), ',', known(t.max_ms), ',', row.rate ? number(*row.rate) : "", ',',
             row.unit, ',', row.yardstick, ',', known(row.percent), ',', known(row.speedup), ',',
             row.check, ',', known(t.noise_percent), ',', known(row.sm_mhz));
    end_line(row.cells);
  }

  const std::string& lines() const { return lines_; }

 private:
  /// Counts whole, other numbers to six digits.
  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, value == std::trunc(value) ? "%.0f" : "%.6g", value);
    return text;
  }
  static std::string known(double value) { return value > 0 ? number(value) : std::string(); }

  void end_line(const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) lines_ += ",\"" + cell + '"';
    lines_ += "\n";
  }

  const std::string context_;
  std::string lines_;
};
