// SPDX-License-Identifier: MIT
// What a program prints: a context line, one Markdown table, and the same as tidy CSV.
#pragma once

#include <cmath>
#include <ctime>
#include <sstream>

#include "device.cuh"

/// One version of a ladder: its name in the table, what is new in it, how to launch it on the
/// program's data, a Problem, and how to see that the right thing came out.
template <class Problem>
struct Version {
  const char* name;
  const char* summary;
  void (*launch)(const Problem&);
  bool (Problem::*is_right)(const std::string& version) const = &Problem::is_right;
};

/// The texts that a Problem has for the program's own columns: its cells(), if it has any.
template <class Problem>
auto cells_of(const Problem& problem, int) -> decltype(problem.cells()) {
  return problem.cells();
}
template <class Problem>
std::vector<std::string> cells_of(const Problem&, long) {
  return {};
}

/// "1 GiB", "60 MiB", "1.5 KiB", "12 B": the largest binary unit that leaves at least one.
inline std::string bytes_text(std::size_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  const int decimals = value < 10 && value != std::floor(value) ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, units[unit]);
  return text;
}

/// Four significant digits without an exponent, at most seven decimals: "0.002314", "12.63",
/// "1481".
inline std::string digits_text(double value) {
  const int magnitude = value > 0 ? static_cast<int>(std::floor(std::log10(value))) : 0;
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", std::min(std::max(3 - magnitude, 0), 7), value);
  return text;
}

/// The table of one program. Rows are printed as they are added, and written to the file of --csv.
class ResultTable {
 public:
  const Device device;  ///< that of --device

  /// Opens the device. A version reads and writes `data_bytes`; where they and `more_bytes` do not
  /// fit, or --csv cannot be opened: one line, exit status 2. `more_columns` are the program's own.
  ResultTable(const Options& opt, std::size_t data_bytes, std::size_t more_bytes = 0,
              const std::vector<std::string>& more_columns = {})
      : device(open_device(opt)), opt_(opt), more_columns_(more_columns) {
    std::size_t free_bytes = 0, all_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    const std::size_t wanted = data_bytes + more_bytes;
    if (wanted > free_bytes)
      opt.usage_error(opt.workload() + ": needs " + std::to_string(wanted) +
                      " bytes of device memory, " + std::to_string(free_bytes) + " are free");
    const auto l2_bytes = static_cast<std::size_t>(device.l2CacheSize);
    context_ =
        device.name + (opt.workload().empty() ? "" : " · " + opt.workload()) + " · " +
        std::to_string(opt.samples) + " samples, median · data " + bytes_text(data_bytes) +
        (!kOnGpu ? " · times here say nothing about a GPU"
                 : (data_bytes <= l2_bytes ? ", fits the L2 of " : ", L2 ") + bytes_text(l2_bytes) +
                       " · CUDA " + version_text(device.runtime_version));
    if (std::FILE* const file = opt.open_csv("a")) std::fclose(file);  // it can be written
    csv_ =
        "chapter,device,cc,driver,cuda,date,commit,backend,workload,samples,version,median_ms,"
        "min_ms,max_ms,rate,rate_unit,of,of_percent,speedup,check,noise_percent,sm_mhz";
    end_line(more_columns);
  }

  /// Rows get a column for their rate in `unit`, and their share of a yardstick, named `of`.
  void rate_in(const std::string& unit, const std::string& of = "", double yardstick = 0) {
    unit_ = unit;
    of_ = of;
    yardstick_ = kOnGpu ? yardstick : 0;  // a GPU's peak says nothing of the CPU backend
  }

  /// Leaves the speed-up out: for versions that do not all do the same work.
  void without_speedup() { has_speedup_ = false; }

  /// Whether the row is to be measured: --only was not given, or names it. With --list it is named.
  bool wants(const std::string& name, const std::string& summary = "") {
    if (opt_.list && !has(offered_, name)) std::printf("%-24s %s\n", name.c_str(), summary.c_str());
    offered_ += (offered_.empty() ? "" : ",") + name;
    return !opt_.list && (opt_.only.empty() || has(opt_.only, name));
  }

  /// One row: poisons what the version leaves, launches, checks, times, and checks again. A Problem
  /// has poison(), is_right(), and amount(): the bytes or operations of one launch. Returns the
  /// median time in ms, or 0 if the row is not wanted. `right` is what the check says when it is.
  template <class Problem>
  double add(const Version<Problem>& version, const Problem& problem,
             const std::string& right = "ok") {
    return add(
        version.name, problem.amount(), [&] { problem.poison(); }, [&] { version.launch(problem); },
        [&] {
          const bool is_right = (problem.*version.is_right)(version.name);
          const std::vector<std::string> cells = cells_of(problem, 0);
          if (!cells.empty()) more_cells_ = cells;
          return is_right;
        },
        version.summary, right);
  }

  /// The same of anything that can be poisoned, launched and checked.
  template <class Poison, class Launch, class IsRight>
  double add(const std::string& name, double amount, Poison&& poison, Launch&& launch,
             IsRight&& is_right, const std::string& summary = "", const std::string& right = "ok") {
    if (!wants(name, summary)) return 0;
    const auto run = [&] {
      launch();
      CUDA_CHECK_LAUNCH();
    };
    poison();
    run();
    const bool right_at_first = is_right();
    const Timing t = time_launches(opt_.samples, run);
    sm_mhz_ = kOnGpu ? sm_clock_mhz() : 0;
    row(name, t, amount / t.median_ms / 1e6, is_right() && right_at_first, right);
    return t.median_ms;
  }

  /// What the next row has in the program's own columns: one text for each.
  void next_row_has(const std::vector<std::string>& cells) { more_cells_ = cells; }

  /// One row that is measured already, with its rate (0: none). When `ok`, the check says `right`.
  void row(const std::string& name, const Timing& t, double rate, bool ok,
           const std::string& right = "ok") {
    if (first_ms_ == 0) first_ms_ = t.median_ms;
    all_ok_ = all_ok_ && ok;
    if (unit_.empty()) rate = 0;
    const double share = yardstick_ > 0 ? 100 * rate / yardstick_ : 0;
    const double speedup = has_speedup_ ? first_ms_ / t.median_ms : 0;
    const std::string check = ok ? right : "WRONG";
    write_row(name, t, rate > 0 ? number(rate) : "", rate > 0 ? unit_ : "", share, speedup, check);

    std::vector<std::string> header = {"version", "time [ms]", "spread"};
    std::vector<std::string> cells = {name, digits_text(t.median_ms), "-"};
    if (t.samples > 1) cells[2] = digits_text(t.min_ms) + ".." + digits_text(t.max_ms);
    const auto column = [&](const std::string& title, const std::string& cell) {
      header.push_back(title);
      cells.push_back(cell);
    };
    if (kOnGpu) {  // what follows from times says nothing elsewhere
      if (!unit_.empty()) column(unit_, rate > 0 ? digits_text(rate) : "-");
      if (yardstick_ > 0) column("of " + of_, share > 0 ? digits_text(share) + " %" : "-");
      if (has_speedup_) column("speed-up", digits_text(speedup) + "x");
      for (std::size_t i = 0; i < more_columns_.size(); ++i)
        column(more_columns_[i], i < more_cells_.size() ? more_cells_[i] : "-");
    }
    column("check", check);
    if (!std::exchange(header_printed_, true)) {
      std::printf("%s\n\n", context_.c_str());
      print(header);
      for (std::size_t i = 0; i < header.size(); ++i)
        header[i] = std::string(width(i) - 1, '-') + (i == 0 ? '-' : ':');
      print(header);
    }
    print(cells);
    more_cells_.clear();
    sm_mhz_ = 0;
  }

  /// A measured number that is no time of a version: it goes into the CSV as the rate of a row
  /// `name`, and `sentence` below the table.
  void measured(const std::string& name, double value, const std::string& unit,
                const std::string& sentence) {
    if (!sentence.empty()) note(sentence);
    write_row(name, {0, 0, 0, opt_.samples}, number(value), unit, 0, 0, "");
  }

  /// A line of text below the table, printed by finish().
  void note(const std::string& text) { notes_ += text + "\n"; }

  /// Ends the table: notes, CSV. Returns the exit status of the program. A row of --only that was
  /// never offered: one line with those that were, exit status 2.
  int finish() {
    std::istringstream wanted(opt_.only);
    for (std::string name; std::getline(wanted, name, ',');)
      if (!has(offered_, name))
        opt_.usage_error("--only " + name + ": no such version; there are " + offered_);
    std::printf("%s%s", notes_.empty() || opt_.list ? "" : "\n", opt_.list ? "" : notes_.c_str());
    const bool stored = opt_.write_csv(csv_);
    const bool printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!printed) std::fprintf(stderr, "standard output: not all of it could be written\n");
    if (!all_ok_)
      std::fprintf(stderr, "WRONG: if threads race, make sanitize CH=%.2s names both lines\n",
                   opt_.program.c_str());
    return all_ok_ && stored && printed ? kExitOk : kExitWrong;
  }

 private:
  /// Whether a list with commas between has the name.
  static bool has(const std::string& list, const std::string& name) {
    return ("," + list + ",").find("," + name + ",") != std::string::npos;
  }

  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, value == std::trunc(value) ? "%.0f" : "%.6g", value);
    return text;
  }

  /// One line of the CSV: the context, then the row. What is 0 is not known: an empty field.
  void write_row(const std::string& name, const Timing& t, const std::string& rate,
                 const std::string& unit, double share, double speedup, const std::string& check) {
    const auto known = [](double value) { return value > 0 ? number(value) : std::string(); };
    char date[16];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    const char* const commit = std::getenv("TUTORIAL_COMMIT");
    std::ostringstream line;
    line << opt_.program << ",\"" << device.name << "\"," << device.major << '.' << device.minor
         << ',' << version_text(device.driver_version) << ','
         << version_text(device.runtime_version) << ',' << date << ','
         << (commit != nullptr ? commit : "unknown") << ',' << (kOnGpu ? "gpu," : "cpu,")
         << opt_.workload() << ',' << t.samples << ",\"" << name << "\"," << known(t.median_ms)
         << ',' << known(t.min_ms) << ',' << known(t.max_ms) << ',' << rate << ',' << unit << ','
         << (share > 0 ? of_ : "") << ',' << known(share) << ',' << known(speedup) << ',' << check
         << ',' << known(t.noise_percent) << ',' << known(sm_mhz_);
    csv_ += line.str();
    end_line(more_cells_);
  }

  /// What stands in the program's own columns, and the end of a line of the CSV.
  void end_line(const std::vector<std::string>& more) {
    for (const std::string& field : more) csv_ += ",\"" + field + '"';
    csv_ += "\n";
  }

  static int width(std::size_t column) { return column == 0 ? 22 : column == 2 ? 17 : 9; }
  static void print(const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      std::printf(i == 0 ? "| %-*s " : "| %*s ", width(i), cells[i].c_str());
    std::printf("|\n");
    std::fflush(stdout);
  }

  const Options& opt_;
  const std::vector<std::string> more_columns_;
  std::vector<std::string> more_cells_;
  std::string context_, notes_, offered_, unit_, of_;
  std::string csv_;  // written as a whole, when all rows are there
  double yardstick_ = 0, first_ms_ = 0, sm_mhz_ = 0;
  bool all_ok_ = true, header_printed_ = false, has_speedup_ = true;
};
