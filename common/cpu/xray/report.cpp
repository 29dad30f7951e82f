// SPDX-License-Identifier: MIT
// Writes the counts when a program that is built for X-ray ends.
//
// The environment says what is reported:
//
//   XRAY_LISTING=FILE   the annotated source (`-`: standard output)
//   XRAY_CSV=FILE       the counts of requests
//   XRAY_PASSAGES=FILE  how often warps came by each line, with how many lanes
//   XRAY_LINE=N XRAY_SVG=FILE   a drawing of that line's costliest request; or FILE:N, where
//                               several files have a line N
//   XRAY_FILE=FILE      only kernels that use memory in this file, and of each the launch that asks
//                       most; also what the program itself counted (xray/counts.h)
//   XRAY_MACHINE_CODE=FILE      what nvcc made of each line (see machine_code.h)
//   XRAY_EVENTS=FILE    what happens in block XRAY_BLOCK (0), step by step: see events.h. Then
//                       only this block of each grid is counted. With XRAY_PAGE=1 for a page,
//                       with XRAY_PAGE=all the same with all steps
//   XRAY_COLOUR=1       the listing with a terminal's colours
//   XRAY_BLOCKS=N|all   how many blocks of a grid are counted; 64 if it is not set
//
// `make xray` sets these. A setting that cannot be followed ends the program with one line on
// standard error and exit status 2.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "../engine/state/settings.h"
#include "drawing.h"
#include "events.h"
#include "launches.h"
#include "listing.h"
#include "machine_code.h"

namespace xray {
namespace {

constexpr std::uint64_t kBlocks = 64;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[noreturn]] void stop(const std::string& why) {
  std::fflush(stdout);
  std::fprintf(stderr, "xray: %s\n", why.c_str());
  _exit(2);
}

bool parse_number(const std::string& text, std::uint64_t* number) {
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, *number);
  return parsed == end && error == std::errc();
}

/// Writes a whole file or nothing: writes another file and renames it.
void write(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fputs(text.c_str(), stdout);
    return;
  }
  const std::string partial = path + ".partial";
  std::FILE* const file = std::fopen(partial.c_str(), "w");
  if (file == nullptr) stop(path + ": cannot be written: " + std::strerror(errno));
  const bool whole = std::fputs(text.c_str(), file) >= 0;
  if (std::fclose(file) != 0 || !whole || std::rename(partial.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    std::remove(partial.c_str());
    stop(path + ": cannot be written: " + why);
  }
}

/// "57" or "chapters/03_x/x.cu:57" as a file and a line.
std::pair<std::string, int> parse_line(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string digits = colon == std::string::npos ? text : text.substr(colon + 1);
  char* end = nullptr;
  const long line = std::strtol(digits.c_str(), &end, 10);
  if (digits.empty() || *end != '\0' || line < 1 || line > 1000000) {
    stop("LINE=" + text + ": expected a line's number, or FILE:NUMBER");
  }
  return {colon == std::string::npos ? "" : text.substr(0, colon), static_cast<int>(line)};
}

/// Whether `wanted` names the file: not at all, by its path, or by the end of its path.
bool names(const std::string& file, const std::string& wanted) {
  if (wanted.empty() || file == wanted) return true;
  return file.size() > wanted.size() && file[file.size() - wanted.size() - 1] == '/' &&
         file.compare(file.size() - wanted.size(), wanted.size(), wanted) == 0;
}

void draw(const std::vector<Launch>& launches) {
  const std::string text = variable("XRAY_LINE");
  const auto [wanted_file, wanted_line] = parse_line(text);
  const Launch* launch = nullptr;
  const Access* access = nullptr;
  std::string lines;
  for (const Launch& l : launches) {
    for (const Access& a : l.accesses) {
      const std::string number = std::to_string(a.line);
      if (!names(a.file, wanted_file)) continue;
      if ((" " + lines + ",").find(" " + number + ",") == std::string::npos) {
        lines += (lines.empty() ? "" : ", ") + number;
      }
      if (a.line != wanted_line) continue;
      const bool is_first = access == nullptr;
      if (!is_first && (launch != &l || a.counts.waste() <= access->counts.waste())) continue;
      launch = &l;
      access = &a;
    }
  }
  if (access == nullptr) {
    stop("LINE=" + text + ": no access to memory in that line; there is in " +
         (lines.empty() ? "none that ran" : lines));
  }
  write(variable("XRAY_SVG"), drawing_of(*launch, *access));
}

/// For a lab: of each kernel that uses memory in lines of `file` the launch with the most requests.
std::vector<Launch> of_file(const std::vector<Launch>& launches, const std::string& file) {
  std::vector<Launch> kept;
  for (const Launch& launch : launches) {
    const auto& accesses = launch.accesses;
    if (std::none_of(accesses.begin(), accesses.end(),
                     [&](const Access& a) { return a.file == file; })) {
      continue;
    }
    const auto same = std::find_if(kept.begin(), kept.end(),
                                   [&](const Launch& k) { return k.kernel == launch.kernel; });
    if (same == kept.end()) {
      kept.push_back(launch);
    } else if (launch.total().requests > same->total().requests) {
      *same = launch;
    }
  }
  return kept;
}

void report() {
  std::vector<Launch> launches = take_launches();
  if (const std::string file = variable("XRAY_FILE"); !file.empty()) {
    launches = of_file(kept_launches(), file);
  }
  const std::string csv = variable("XRAY_CSV"), listing = variable("XRAY_LISTING");
  const std::string passages = variable("XRAY_PASSAGES");
  if (!variable("XRAY_LINE").empty()) draw(launches);
  if (const std::string path = variable("XRAY_EVENTS"); !path.empty()) {
    std::vector<std::string> cuts;
    const std::string events = events_of(launches, !variable("XRAY_PAGE").empty(), &cuts);
    const bool has_block = std::any_of(launches.begin(), launches.end(),
                                       [](const Launch& l) { return l.blocks_counted > 0; });
    const std::string block = variable("XRAY_BLOCK");
    if (!block.empty() && !launches.empty() && !has_block) {
      stop("BLOCK=" + block + ": no kernel has such a block");
    }
    write(path, events);
    for (const std::string& cut : cuts) std::fprintf(stderr, "xray: %s\n", cut.c_str());
  }
  if (!csv.empty()) write(csv, csv_of(launches));
  if (!passages.empty()) write(passages, passages_csv_of(launches));
  if (!listing.empty()) write(listing, listing_of(launches, !variable("XRAY_COLOUR").empty()));
  std::fflush(stdout);
}

/// Reads the environment before main, so that a mistake in it is reported before anything runs.
struct AtStart {
  AtStart() {
    if (variable("XRAY_LISTING").empty() && variable("XRAY_CSV").empty() &&
        variable("XRAY_PASSAGES").empty() && variable("XRAY_SVG").empty() &&
        variable("XRAY_EVENTS").empty()) {
      return;
    }
    if (const std::string code = variable("XRAY_MACHINE_CODE"); !code.empty()) {
      if (!read_machine_code(code)) stop(code + ": cannot be read");
    }
    if (cuda_cpu::races_are_wanted()) stop("counts nothing under CUDA_CPU_RACES=1");
    if (!variable("XRAY_LINE").empty()) parse_line(variable("XRAY_LINE"));
    if (!variable("XRAY_FILE").empty()) keep_launches();
    const std::string blocks = variable("XRAY_BLOCKS"), block = variable("XRAY_BLOCK");
    std::uint64_t count = kBlocks, number = 0;
    if (blocks == "all") {
      count = kAllBlocks;
    } else if (!blocks.empty() && (!parse_number(blocks, &count) || count == 0)) {
      stop("BLOCKS=" + blocks + ": expected a number of blocks, or all");
    }
    sample_blocks(count);
    if (!variable("XRAY_EVENTS").empty()) {
      if (variable("XRAY_PAGE") == "all") most_steps = kAllSteps;
      if (!block.empty() && !parse_number(block, &number)) {
        stop("BLOCK=" + block + ": expected a block's number, from 0");
      }
      keep_events_of(number);
    }
    watch();
    std::atexit(report);
  }
} at_start;

}  // namespace

}  // namespace xray
