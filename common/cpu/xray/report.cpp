// SPDX-License-Identifier: MIT
// Writes the counts when a program that is built for X-ray ends.
//
// The environment says what is reported:
//
//   XRAY_LISTING=FILE   the annotated source (`-`: standard output)
//   XRAY_CSV=FILE       the counts of requests
//   XRAY_PASSAGES=FILE  how often warps came by each line, with how many lanes
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

#include "../engine/state/settings.h"
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
        variable("XRAY_PASSAGES").empty() && variable("XRAY_EVENTS").empty()) {
      return;
    }
    if (const std::string code = variable("XRAY_MACHINE_CODE"); !code.empty()) {
      if (!read_machine_code(code)) stop(code + ": cannot be read");
    }
    if (cuda_cpu::races_are_wanted()) stop("counts nothing under CUDA_CPU_RACES=1");
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
