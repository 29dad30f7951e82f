// SPDX-License-Identifier: MIT
#include "listing.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "../report/text.h"
#include "diagnosis.h"
#include "machine_code.h"
#include "model.h"

namespace xray {
namespace {

using cuda_cpu::format;

/// The lines of a source file, the first at index 1; only an empty one at index 0 when the file
/// cannot be read.
const std::vector<std::string>& source(const std::string& file) {
  static auto* const known = new std::map<std::string, std::vector<std::string>>;
  std::vector<std::string>& lines = (*known)[file];
  if (!lines.empty()) return lines;
  lines.emplace_back();
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Widens a range of lines to the function around it: up to the nearest line with __global__ or
/// __device__, down to where its braces close. It looks at 80 lines each way, and upwards no
/// further than the end of another function.
void widen_to_function(const std::vector<std::string>& lines, int* first, int* last) {
  int depth = 1;
  for (int i = *first; i > 0 && i > *first - 80; --i) {
    const std::string& line = lines[static_cast<std::size_t>(i)];
    if (line.find("__global__") != std::string::npos ||
        line.find("__device__") != std::string::npos) {
      *first = i;
      depth = 0;
      break;
    }
    if (i != *first && line.compare(0, 1, "}") == 0) break;
  }
  const int count = std::min(static_cast<int>(lines.size()), *last + 80);
  for (int i = *first; i < count; ++i) {
    bool closes = false;
    for (const char c : lines[static_cast<std::size_t>(i)]) {
      depth += (c == '{') - (c == '}');
      closes = closes || (c == '}' && depth == 0);
    }
    if (!closes || i < *last) continue;
    *last = i;
    break;
  }
}

std::string text_of(const dim3& d) {
  if (d.z != 1) return format("(%u, %u, %u)", d.x, d.y, d.z);
  if (d.y != 1) return format("(%u, %u)", d.x, d.y);
  return format("%u", d.x);
}

std::string of_bytes(std::uint64_t bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 3) {
    value /= 1024;
    ++unit;
  }
  return format(unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

constexpr int kCountsWidth = 51;  // of what stands left of the source

/// Whether lanes are missing in a line, other than the few that the last warp of a grid lacks.
bool lacks_lanes(const Passage& p) { return 20 * p.lanes < 19 * p.lanes_of_warps; }

/// "sum<<<1024, 256>>>"
std::string configured(const Launch& l) {
  return l.kernel + "<<<" + text_of(l.grid) + ", " + text_of(l.block) + ">>>";
}

}  // namespace

std::string lanes_text(const Passage& p) {
  const double whole = static_cast<double>(p.lanes_of_warps) / static_cast<double>(p.visits);
  return format("%.1f of %.0f lanes, ", p.per_visit(), whole) + many(p.visits, "pass", "es");
}

const Access* worst_of(const Launch& launch) {
  const Access* worst = nullptr;
  for (const Access& a : launch.accesses) {
    if (a.counts.waste() > (worst == nullptr ? 0 : worst->counts.waste())) worst = &a;
  }
  return worst;
}

const Passage* emptiest_of(const Launch& launch) {
  const auto missing = [](const Passage& p) { return p.lanes_of_warps - p.lanes; };
  const Passage* found = nullptr;
  for (const Passage& p : launch.passages) {
    if (lacks_lanes(p) && (found == nullptr || missing(p) > missing(*found))) found = &p;
  }
  return found;
}

std::vector<Said> said_of(const std::vector<const Access*>& line, const Access* worst,
                          std::uint64_t all_requests) {
  std::vector<Said> all;
  for (const Access* a : line) {
    const std::string sentence = diagnosis_of(*a, 8 * a->counts.requests >= all_requests);
    if (sentence.empty()) continue;
    const std::string which =
        line.size() > 1 ? format("%s %s", name_of(a->space), name_of(a->operation)) : "";
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Said& said) { return said.sentence == sentence; });
    if (same == all.end()) {
      all.push_back({which, sentence, a == worst});
    } else {
      same->which += " and " + which;
      same->of_worst = same->of_worst || a == worst;
    }
  }
  return all;
}

namespace {

class Listing {
 public:
  explicit Listing(bool colour)
      : bold_(colour ? "\033[1m" : ""),
        red_(colour ? "\033[31m" : ""),
        dim_(colour ? "\033[2m" : ""),
        plain_(colour ? "\033[0m" : "") {}

  std::string text;

  void add(const Launch& launch) {
    heading(launch);
    if (launch.accesses.empty()) {
      text += "  no access to memory (what printf asks for itself is not counted)\n\n";
      return;
    }
    const Access* const worst = worst_of(launch);
    nothing_said_ = true;
    all_requests_ = launch.total().requests;
    text += format("%s  %-13s %9s %5s  %-16s %4s | line%s\n", dim_, "", "requests", "lanes",
                   "each/ideal", "used", plain_);
    // The kernel's own file first; what it calls in other files after it.
    std::vector<std::string> files{launch.file};
    const auto add = [&](const std::string& file) {
      if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    };
    for (const Access& a : launch.accesses) add(a.file);
    for (const Passage& p : launch.passages) add(p.file);
    for (const std::string& file : files) add_file(launch, file, worst);
    totals(launch);
  }

  /// One table for all launches: what each asks for in total, the line that costs it most, and the
  /// one in which most lanes are missing.
  void compare(const std::vector<Launch>& launches) {
    text +=
        format("%s%-44s %9s %9s %10s  %-20s %s%s\n", bold_, "in all, of the blocks counted",
               "requests", "sectors", "wavefronts", "costliest line", "most lanes missing", plain_);
    for (const Launch& l : launches) {
      const Counts all = l.total();
      const Access* const worst = worst_of(l);
      const Passage* const emptiest = emptiest_of(l);
      const std::string cost =
          worst == nullptr ? "-" : format("%d: %s", worst->line, cost_of(*worst).c_str());
      const std::string lanes =
          emptiest == nullptr ? "-"
                              : format("%d: %s", emptiest->line, lanes_text(*emptiest).c_str());
      text += format("%-44s %9s %9s %10s  %-20s %s\n", configured(l).c_str(),
                     std::to_string(all.requests).c_str(), std::to_string(all.sectors).c_str(),
                     std::to_string(all.wavefronts).c_str(), cost.c_str(), lanes.c_str());
    }
    text += '\n';
  }

 private:
  void heading(const Launch& l) {
    text += bold_ + configured(l) + "(" + l.arguments + ")" + plain_ + "  " + l.file + ":" +
            std::to_string(l.line) + "\n";
    text += std::to_string(l.blocks_counted) + " of " + std::to_string(l.blocks) +
            " blocks counted" +
            (l.blocks_counted < l.blocks ? ", spread evenly (BLOCKS=all counts every one)" : "") +
            ", " + many(l.warps_counted, "warp") + "; each thread passes " +
            many(l.barriers, "barrier") + "\n\n";
  }

  void add_file(const Launch& launch, const std::string& file, const Access* worst) {
    struct Told {
      std::vector<const Access*> accesses;
      const Passage* passage = nullptr;
    };
    std::map<int, Told> told;  // of each line
    for (const Access& a : launch.accesses) {
      if (a.file == file) told[a.line].accesses.push_back(&a);
    }
    for (const Passage& p : launch.passages) {
      if (p.file == file && lacks_lanes(p)) told[p.line].passage = &p;
    }
    if (told.empty()) return;
    const std::vector<std::string>& lines = source(file);
    std::set<int> shown;
    for (const auto& entry : told) {
      const int line = entry.first;
      int first = line, last = line;
      if (line < static_cast<int>(lines.size())) widen_to_function(lines, &first, &last);
      for (int i = first; i <= last; ++i) shown.insert(i);
    }
    if (file != launch.file) text += format("  %*s | %s\n", kCountsWidth, "", file.c_str());
    int before = 0;
    for (const int line : shown) {
      if (before != 0 && line != before + 1) text += format("  %*s |  ...\n", kCountsWidth, "");
      before = line;
      const std::string code = static_cast<std::size_t>(line) < lines.size()
                                   ? lines[static_cast<std::size_t>(line)]
                                   : std::string();
      const auto& [of_line, passage] = told[line];
      if (of_line.empty()) {
        const bool has_code = code.find_first_not_of(" \t}") != std::string::npos;
        const std::string margin =
            passage == nullptr || !has_code ? std::string() : lanes_text(*passage);
        text += format("  %*s | %s%4d  %s%s\n", kCountsWidth, margin.c_str(), dim_, line,
                       code.c_str(), plain_);
      }
      for (const Access* a : of_line) {
        const bool is_first = a == of_line.front();
        row(*a, a == worst, is_first ? format("%4d  %s", line, code.c_str()) : std::string());
      }
      explain(of_line, worst);
      say_what_nvcc_made(of_line);
      if (code.substr(0, code.find("//")).find("printf") == std::string::npos) continue;
      text += format(
          "%s  ~ what printf asks of memory for itself is not counted: each call of a warp "
          "makes some 200 stores on an H200, a sector for every lane, and 3 loads for each "
          "character%s\n",
          dim_, plain_);
    }
  }

  void row(const Access& a, bool worst, const std::string& code) {
    const Counts& c = a.counts;
    const double share =
        100.0 * static_cast<double>(c.bytes) / (32.0 * static_cast<double>(c.sectors));
    const std::string used = c.sectors > 0 ? format("%3.0f%%", share) : "";
    text += format("%s%s %-6s %-6s %9s %5.1f  %-16s %4s%s | %s\n", worst ? red_ : "",
                   worst ? "*" : " ", name_of(a.space), name_of(a.operation),
                   std::to_string(c.requests).c_str(), c.per_request(c.lanes), cost_of(a).c_str(),
                   used.c_str(), worst ? plain_ : "", code.c_str());
  }

  /// Says what can be improved.
  void explain(const std::vector<const Access*>& line, const Access* worst) {
    const std::vector<Said> all = said_of(line, worst, all_requests_);
    const bool has_worst =
        std::any_of(all.begin(), all.end(), [](const Said& said) { return said.of_worst; });
    for (const auto& [which, sentence, of_worst] : all) {
      nothing_said_ = false;
      text += std::string(has_worst ? red_ : "") + "  ^ " + (has_worst ? "worst: " : "") +
              (which.empty() ? "" : which + ": ") + sentence + (has_worst ? plain_ : "") + "\n";
    }
  }

  /// Says what nvcc made of the line, where its machine code was read.
  void say_what_nvcc_made(const std::vector<const Access*>& line) {
    std::set<std::string> said;
    const auto say = [&](const Access& a, const std::string& what) {
      if (what.empty() || !said.insert(what).second) return;
      const std::string which =
          line.size() > 1 ? format("%s %s: ", name_of(a.space), name_of(a.operation)) : "";
      text += format("%s  ~ %s%s%s\n", dim_, which.c_str(), what.c_str(), plain_);
    };
    for (const Access* a : line) {
      say(*a, a->compiled);
      if (const std::uint64_t off = a->counts.switched_off; off > 0) {
        say(*a, "nvcc made predicates of the branch before it: " + std::to_string(off) +
                    " more are executed for no lane");
      }
    }
  }

  void totals(const Launch& launch) {
    text += '\n';
    for (const Space space :
         {Space::kGlobal, Space::kHost, Space::kLocal, Space::kShared, Space::kConstant}) {
      for (const Operation operation : {Operation::kLoad, Operation::kStore, Operation::kAtomic}) {
        const Counts c = launch.total(space, operation);
        if (c.requests == 0) continue;
        const auto add = [&](std::uint64_t count, const char* noun) {
          if (count > 0) text += ", " + std::to_string(count) + " " + noun;
        };
        text += format("  %s %ss: ", name_of(space), name_of(operation)) +
                std::to_string(c.requests) + " requests";
        add(c.sectors, "sectors");
        if (c.sectors > 0) {
          text +=
              " = " + of_bytes(32 * c.sectors) + " asked for, " + of_bytes(c.bytes) + " of it used";
        }
        add(c.wavefronts, "wavefronts");
        add(c.words, "words");
        add(c.addresses, "addresses");
        add(c.switched_off, "more for no lane, a wavefront each");
        text += '\n';
      }
    }
    if (launch.has_others_copy) {
      text += "  not counted: bulk copies, and what wgmma reads; no lane asks for these\n";
    }
    if (launch.partings > 0) {
      text += "  branches: lanes of a warp went different ways " + many(launch.partings, "time");
      if (const Passage* const emptiest = emptiest_of(launch); emptiest != nullptr) {
        text +=
            format("; most lanes are missing in line %d: ", emptiest->line) + lanes_text(*emptiest);
      }
      text += '\n';
    }
    if (nothing_said_) text += "  No request costs more than it must.\n";
    text += '\n';
  }

  const char *bold_, *red_, *dim_, *plain_;
  std::uint64_t all_requests_ = 0;  // of the launch
  bool nothing_said_ = true;
};

std::string number(std::uint64_t v) { return std::to_string(v) + ","; }
std::string quoted(const std::string& s) { return "\"" + s + "\","; }
std::string extent(const dim3& d) { return format("%ux%ux%u,", d.x, d.y, d.z); }

constexpr char kLaunchColumns[] =
    "kernel,arguments,launch,grid,block,blocks,blocks_counted,warps_counted,";

std::string launch_cells(const Launch& l) {
  return quoted(l.kernel) + quoted(l.arguments) + quoted(l.file + ":" + std::to_string(l.line)) +
         extent(l.grid) + extent(l.block) + number(l.blocks) + number(l.blocks_counted) +
         number(l.warps_counted);
}

/// Loads from global memory come through the banks of the L1, which are those of shared memory.
bool passes_through_banks(const Access& a) {
  if (a.operation == Operation::kAtomic) return false;
  return a.space == Space::kShared || a.space == Space::kGlobal || a.space == Space::kHost;
}

}  // namespace

std::string code_of(const std::string& file, int line) {
  constexpr std::size_t kMost = 120;
  const auto number = static_cast<std::size_t>(line);
  if (number >= source(file).size()) return "";
  std::string text = source(file)[number];
  text.erase(0, std::min(text.size(), text.find_first_not_of(" \t")));
  if (text.size() > kMost) text = text.substr(0, kMost) + " ...";
  return text;
}

std::string listing_of(std::vector<Launch> launches, bool colour) {
  const auto shows_something = [](const Launch& l) { return l.total().requests > 1; };
  std::stable_partition(launches.begin(), launches.end(), shows_something);
  Listing listing(colour);
  for (const Launch& launch : launches) listing.add(launch);
  if (launches.size() > 1) listing.compare(launches);
  return listing.text;
}

std::string passages_csv_of(const std::vector<Launch>& launches) {
  std::string text = kLaunchColumns;
  text += "partings,file,line,visits,lanes,lanes_of_warps\n";
  for (const Launch& l : launches) {
    const std::string launch = launch_cells(l) + number(l.partings);
    for (const Passage& p : l.passages) {
      text += launch + quoted(p.file) + number(static_cast<std::uint64_t>(p.line)) +
              number(p.visits) + number(p.lanes) + std::to_string(p.lanes_of_warps) + '\n';
    }
    if (l.passages.empty()) text += launch + "\"\",0,0,0,0\n";
  }
  return text;
}

std::string csv_of(const std::vector<Launch>& launches) {
  std::string text = kLaunchColumns;
  text +=
      "barriers_per_thread,file,line,space,operation,name,bytes_per_lane,"
      "requests,lanes,bytes,sectors,ideal_sectors,wavefronts,ideal_wavefronts,words,addresses,"
      "collisions,offsets,passes";
  text += has_machine_code() ? ",switched_off\n" : "\n";
  for (const Launch& l : launches) {
    for (const Access& a : l.accesses) {
      const Counts& c = a.counts;
      text += launch_cells(l) + number(l.barriers) + quoted(a.file) +
              number(static_cast<std::uint64_t>(a.line)) + name_of(a.space) + "," +
              name_of(a.operation) + "," + quoted(a.name) + number(a.bytes_per_lane) +
              number(c.requests) + number(c.lanes) + number(c.bytes) + number(c.sectors) +
              number(c.ideal_sectors) + number(c.wavefronts) + number(c.ideal_wavefronts) +
              number(c.words) + number(c.addresses) + number(c.collisions);
      const auto add_lanes = [&](const auto& item) {
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          if (lane > 0) text += ' ';
          text += a.first[lane] < 0 ? "-" : std::to_string(item(lane));
        }
      };
      add_lanes([&](unsigned lane) { return a.first[lane]; });
      text += ',';
      if (passes_through_banks(a)) {
        const Passes passes = passes_of(request_of(a, a.first));
        if (passes.count == 1) {
          text += '1';
        } else {
          add_lanes([&](unsigned lane) { return passes.of_lane[lane] + 1; });
        }
      }
      if (has_machine_code()) text += "," + std::to_string(c.switched_off);
      text += '\n';
    }
  }
  return text;
}

}  // namespace xray
