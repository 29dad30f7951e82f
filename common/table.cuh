// SPDX-License-Identifier: MIT
// What a program prints: a context line and one Markdown table.
#pragma once

#include <array>
#include <sstream>

#include "csv.cuh"
#include "yardsticks.cuh"

/// One version of a ladder: its name in the table, what is new in it, how to launch it on the
/// program's data, a Problem, and how to see that the right thing came out.
template <class Problem>
struct Version {
  const char* name;
  const char* summary;
  void (*launch)(const Problem&);
  bool (Problem::*is_right)(const std::string& version) const = &Problem::is_right;
};

/// The table of one program. Rows are printed as they are added, and written to the file of --csv
/// at the end.
class ResultTable {
 public:
  const Options& opt;
  const Device device;  ///< that of --device

  /// Opens the device. A version reads and writes `data_bytes`; where they and `more_bytes` do not
  /// fit: one line, exit status 2. `more_columns` are the program's own, which a GPU's table shows.
  ResultTable(const Options& options, std::size_t data_bytes, std::size_t more_bytes = 0,
              const std::vector<std::string>& more_columns = {})
      : opt(options),
        device(open_device(opt)),
        more_columns_(more_columns),
        csv_(opt, device, more_columns),
        amount_(data_bytes) {
    std::size_t free_bytes = 0, all_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    const std::size_t wanted = data_bytes + more_bytes;
    if (wanted > free_bytes)
      opt.usage_error(opt.workload(), ": needs ", wanted, " bytes of device memory, ", free_bytes,
                      " are free");
    const std::size_t l2 = device.l2CacheSize;
    context_ = text(device.name, opt.workload().empty() ? "" : " · ", opt.workload(), " · ",
                    opt.samples, " samples, median · data ", bytes_text(data_bytes));
    context_ += !kOnGpu ? " · times here say nothing about a GPU"
                        : text(data_bytes <= l2 ? ", fits the L2 of " : ", L2 ", bytes_text(l2),
                               " · CUDA ", version_text(device.runtime_version));
  }

  /// Rows get a column for their rate in `unit`, and their share of a yardstick, named `of`.
  void rate_in(const std::string& unit, const std::string& of = "", double yardstick = 0) {
    unit_ = unit;
    of_ = of;
    yardstick_ = kOnGpu ? yardstick : 0;  // a GPU's peak says nothing of the CPU backend
  }

  /// The bytes or operations of each launch that is added from now on. Before, a launch moves the
  /// program's data once.
  void each_launch_does(double amount) { amount_ = amount; }

  /// Leaves the speed-up out: for versions that do not all do the same work.
  void without_speedup() { has_speedup_ = false; }

  /// Makes the names' column as wide as this one, where it has more than 22 characters.
  void longest_name(const std::string& name) { name_width_ = std::max(name_width_, name.size()); }

  /// Whether the row is to be measured: --only was not given, or names it. With --list it is named.
  bool wants(const std::string& name, const std::string& summary = "") {
    if (opt.list && !has(offered_, name)) std::printf("%-24s %s\n", name.c_str(), summary.c_str());
    offered_ += (offered_.empty() ? "" : ",") + name;
    return !opt.list && (opt.only.empty() || has(opt.only, name));
  }

  /// One row: poisons what the version leaves, launches, checks, times, and checks again. Returns
  /// the median time in ms, or 0 if the row is not wanted. `right` is what the check says if it is.
  template <class Problem>
  double add(const Version<Problem>& version, const Problem& problem,
             const std::string& right = "ok") {
    return add(
        version.name, problem, [&] { version.launch(problem); },
        [&] { return (problem.*version.is_right)(version.name); }, version.summary, right);
  }

  /// The same of anything that a launch leaves and that can be poisoned, such as a DeviceArray.
  template <class Left, class Launch, class IsRight>
  double add(const std::string& name, const Left& left, Launch&& launch, IsRight&& is_right,
             const std::string& summary = "", const std::string& right = "ok") {
    if (!wants(name, summary)) return 0;
    const auto run = [&] {
      launch();
      CUDA_CHECK_LAUNCH();
    };
    left.poison();
    run();
    const bool right_at_first = is_right();
    const Timing t = time_launches(opt.samples, run);
    sm_mhz_ = kOnGpu ? sm_clock_mhz() : 0;
    const bool right_at_last = is_right();
    row(name, t, amount_ / t.median_ms / 1e6, right_at_first && right_at_last, right);
    return t.median_ms;
  }

  /// What the next row has in the program's own columns: a text or a number for each.
  template <class... Cells>
  void next_row_has(const Cells&... cells) {
    more_cells_ = {text(cells)...};
  }

  /// One row that is measured already, with its rate (0: none). When `ok`, the check says `right`.
  void row(const std::string& name, const Timing& t, double rate, bool ok,
           const std::string& right = "ok") {
    if (first_ms_ == 0) first_ms_ = t.median_ms;
    all_ok_ = all_ok_ && ok;
    ResultRow row;
    row.version = name;
    row.time = t;
    if (!unit_.empty() && rate > 0) {
      row.rate = rate;
      row.unit = unit_;
      if (yardstick_ > 0) {
        row.yardstick = of_;
        row.percent = 100 * rate / yardstick_;
      }
    }
    if (has_speedup_) row.speedup = first_ms_ / t.median_ms;
    row.check = ok ? right : "WRONG";
    row.sm_mhz = std::exchange(sm_mhz_, 0);
    row.cells = std::exchange(more_cells_, {});
    csv_.add(row);
    print(row);
  }

  /// A measured number that is no time of a version: it goes into the CSV as the rate of a row
  /// `name`, and the parts of a sentence below the table.
  template <class... Parts>
  void measured(const std::string& name, double value, const std::string& unit,
                const Parts&... parts) {
    if (sizeof...(parts) > 0) note(parts...);
    ResultRow row;
    row.version = name;
    row.time.samples = opt.samples;
    row.rate = value;
    row.unit = unit;
    csv_.add(row);
  }

  /// A line below the table, printed by finish(): texts and numbers side by side.
  template <class... Parts>
  void note(const Parts&... parts) {
    notes_ += text(parts..., "\n");
  }

  /// Ends the table: notes, CSV. Returns the exit status of the program. A row of --only that was
  /// never offered: one line with those that were, exit status 2.
  int finish() {
    std::istringstream wanted(opt.only);
    for (std::string name; std::getline(wanted, name, ',');)
      if (!has(offered_, name))
        opt.usage_error("--only ", name, ": no such version; there are ", offered_);
    std::printf("%s%s", notes_.empty() || opt.list ? "" : "\n", opt.list ? "" : notes_.c_str());
    const bool is_written = write_csv(opt, csv_.lines());
    if (!all_ok_)
      std::fprintf(stderr, "WRONG: if threads race, make sanitize CH=%.2s names both lines\n",
                   opt.program.c_str());
    return all_ok_ && is_written ? kExitOk : kExitWrong;
  }

 private:
  using Column = std::array<std::string, 2>;  // its title, and what a row has there

  static bool has(const std::string& list, const std::string& name) {
    return ("," + list + ",").find("," + name + ",") != std::string::npos;
  }

  void print(const ResultRow& row) {
    const Timing& t = row.time;
    std::vector<Column> columns = {{"version", row.version}, {"time [ms]", text(t.median_ms)}};
    columns.push_back({"spread", t.samples > 1 ? text(t.min_ms, "..", t.max_ms) : "-"});
    if (kOnGpu) {  // what follows from times says nothing elsewhere
      if (!unit_.empty()) columns.push_back({unit_, row.rate ? text(*row.rate) : "-"});
      if (yardstick_ > 0)
        columns.push_back({"of " + of_, row.percent > 0 ? text(row.percent, " %") : "-"});
      if (has_speedup_) columns.push_back({"speed-up", text(row.speedup, "x")});
      for (std::size_t i = 0; i < more_columns_.size(); ++i)
        columns.push_back({more_columns_[i], i < row.cells.size() ? row.cells[i] : "-"});
    }
    columns.push_back({"check", row.check});
    if (!std::exchange(header_printed_, true)) {
      std::printf("%s\n\n", context_.c_str());
      print_line(columns, 0);
      for (std::size_t i = 0; i < columns.size(); ++i)
        columns[i][0] = std::string(width(i) - 1, '-') + (i == 0 ? '-' : ':');
      print_line(columns, 0);
    }
    print_line(columns, 1);
  }

  int width(std::size_t column) const {
    return column == 0 ? static_cast<int>(name_width_) : column == 2 ? 17 : 9;
  }
  void print_line(const std::vector<Column>& columns, std::size_t which) const {
    for (std::size_t i = 0; i < columns.size(); ++i)
      std::printf(i == 0 ? "| %-*s " : "| %*s ", width(i), columns[i][which].c_str());
    std::printf("|\n");
    std::fflush(stdout);
  }

  const std::vector<std::string> more_columns_;
  Csv csv_;  // written as a whole, when all rows are there
  std::vector<std::string> more_cells_;
  std::string context_, notes_, offered_, unit_, of_;
  std::size_t name_width_ = 22;
  double amount_, yardstick_ = 0, first_ms_ = 0, sm_mhz_ = 0;
  bool all_ok_ = true, header_printed_ = false, has_speedup_ = true;
};
