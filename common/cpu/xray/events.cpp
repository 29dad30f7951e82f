// SPDX-License-Identifier: MIT
#include "events.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "../report/text.h"
#include "diagnosis.h"
#include "listing.h"
#include "model.h"

namespace xray {
namespace {

using cuda_cpu::format;

// Of a kernel's steps and lines.
constexpr std::size_t kMostBytes = 48000, kMostBytesOfPage = 1000000;

std::string json_text(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += static_cast<unsigned char>(c) < ' ' ? format("\\u%04x", c) : std::string(1, c);
  }
  return json + '"';
}

/// [0,1,1,..]: what `item` says of each lane; null for those that are not active.
template <typename Item>
std::string json_lanes(std::uint32_t mask, const Item& item) {
  std::string json = "[";
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (lane > 0) json += ',';
    json += (mask >> lane & 1) == 0 ? "null" : std::to_string(item(lane));
  }
  return json + "]";
}

const char* operation_of(const Event& e) {
  if (e.form == Form::kCopied) return "copy";
  if (e.form == Form::kCompareAndSwap) return "swap";
  return e.form == Form::kIncrementUnused ? "increment" : name_of(e.operation);
}

constexpr std::uint64_t kBytesOfArray = kLinesOfArray * kLineBytes;

/// Where a request begins: its first line or byte.
std::uint64_t start_of(const Served& served) {
  if (!served.sectors.empty()) return served.sectors.front().line % kLinesOfArray;
  return served.fetches.empty() ? 0 : served.fetches.front().address % kBytesOfArray;
}

/// How a request is served, an entry of "requests".
std::string json_request(const Event& e) {
  const Served& served = e.served;
  const std::uint64_t start = start_of(served);
  const std::uint64_t ideal = e.counts.ideal_sectors + e.counts.ideal_wavefronts;
  std::string list, json = "{\"ideal\":" + std::to_string(std::max<std::uint64_t>(1, ideal)) + ",";
  const auto add = [&](const std::string& item) {
    list += (list.empty() ? "[" : ",[") + item + "]";
  };
  for (const Sector& s : served.sectors) {
    const auto line = static_cast<std::int64_t>(s.line % kLinesOfArray - start);
    add(std::to_string(s.line / kLinesOfArray) + "," + std::to_string(line) +
        format(",%u,%u,%u,%u", s.column, s.lanes, s.bytes, s.turns));
  }
  for (const Address& a : served.fetches) {
    const auto byte = static_cast<std::int64_t>(a.address % kBytesOfArray - start);
    add(std::to_string(byte) + format(",%u", a.lanes));
  }
  if (!served.sectors.empty()) return json + "\"sectors\":[" + list + "]}";
  if (!served.fetches.empty()) return json + "\"fetches\":[" + list + "]}";
  return json + format("\"parts\":%u,\"passes\":", served.passes.parts) +
         json_lanes(e.mask, [&](unsigned lane) { return served.passes.of_lane[lane]; }) + "}";
}

/// For a page: [first, distance] where all lanes are active and lie evenly apart.
std::string json_offsets(const Event& e, bool for_page) {
  const std::int64_t distance = e.offsets[1] - e.offsets[0];
  bool is_even = for_page && e.mask == ~0u;
  for (unsigned lane = 1; lane < kLanes; ++lane) {
    is_even = is_even && e.offsets[lane] - e.offsets[lane - 1] == distance;
  }
  if (is_even) return "[" + std::to_string(e.offsets[0]) + "," + std::to_string(distance) + "]";
  return json_lanes(e.mask, [&](unsigned lane) { return e.offsets[lane]; });
}

std::string text_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string json_extent(const dim3& d) { return format("[%u,%u,%u]", d.x, d.y, d.z); }

/// The list so far with one more item.
void append(std::string* list, const std::string& item) {
  *list += (list->empty() ? "" : ",\n") + item;
}

class KernelEvents {
 public:
  KernelEvents(const Launch& launch, bool for_page)
      : launch_(launch), for_page_(for_page), steps_kept_(std::min(launch.steps, most_steps)) {
    std::size_t bytes = 0, most_bytes = for_page ? kMostBytesOfPage : kMostBytes;
    if (most_steps == kAllSteps) most_bytes = kAllSteps;
    for (auto it = launch.events.begin(); it != launch.events.end();) {
      const std::uint64_t step = it->step;
      std::string events, paths;
      std::size_t more = 4;
      const std::size_t requests_before = requests_.size();
      for (; it != launch.events.end() && it->step == step; ++it) {
        append(it->kind == Event::Kind::kPass ? &paths : &events, row(*it));
        if (for_page) continue;
        std::string& code = source_[it->file][it->line];
        if (!code.empty()) continue;
        code = json_text(code_of(it->file, it->line));
        more += code.size() + 10;
      }
      for (std::size_t i = requests_before; i < requests_.size(); ++i)
        more += requests_[i].size() + 2;
      if ((bytes += events.size() + paths.size() + more) > most_bytes) {
        steps_kept_ = step;
        requests_.resize(requests_before);
        break;
      }
      if (!events.empty()) append(&events_, events);
      if (!paths.empty()) append(&paths_, paths);
    }
  }

  std::string json() {
    const std::string said = for_page_ ? in_short() : "";
    std::string files, source, requests;
    for (const std::string& request : requests_) append(&requests, request);
    for (const std::string& file : files_) {
      files += (files.empty() ? "" : ",") + json_text(file);
      if (for_page_) continue;
      std::string lines;
      for (const auto& [line, text] : source_.at(file)) {
        append(&lines, format("\"%d\":", line) + text);
      }
      append(&source, json_text(file) + ":{" + lines + "}");
    }
    return "{\"kernel\":" + json_text(launch_.kernel) +
           ",\"arguments\":" + json_text(launch_.arguments) +
           ",\"grid\":" + json_extent(launch_.grid) + ",\"block\":" + json_extent(launch_.block) +
           ",\"block_number\":" + std::to_string(launch_.events_block) +
           ",\"steps\":" + std::to_string(launch_.steps) +
           ",\"steps_kept\":" + std::to_string(steps_kept_) + ",\n\"files\":[" + files +
           "],\n\"source\":{" + source + "},\n" + said + "\"events\":[\n" + events_ +
           "],\n\"requests\":[\n" + requests + "],\n\"paths\":[\n" + paths_ + "]}";
  }

  const std::vector<std::string>& files() const { return files_; }

  /// What is left out, or nothing.
  std::string cut() const {
    if (steps_kept_ == launch_.steps) return "";
    return launch_.kernel + ": the first " + std::to_string(steps_kept_) + " of " +
           std::to_string(launch_.steps) + " steps are kept; a smaller block or input has fewer";
  }

 private:
  /// 56, or [1,56] of the second file.
  std::string json_line(const std::string& of_file, int line) {
    const auto found = std::find(files_.begin(), files_.end(), of_file);
    const auto file = static_cast<int>(found - files_.begin());
    if (found == files_.end()) files_.push_back(of_file);
    return file == 0 ? std::to_string(line) : format("[%d,%d]", file, line);
  }

  /// For a page: what the listing says of the launch.
  std::string in_short() {
    const Counts all = launch_.total();
    const Access* const worst = worst_of(launch_);
    const Passage* const emptiest = emptiest_of(launch_);
    std::map<std::pair<std::string, int>, std::vector<const Access*>> lines;
    for (const Access& a : launch_.accesses) lines[{a.file, a.line}].push_back(&a);
    std::string said;
    for (const auto& [place, accesses] : lines) {
      const std::string line = json_line(place.first, place.second);
      for (const auto& [which, sentence, of_worst] : said_of(accesses, worst, all.requests)) {
        const std::string text = (which.empty() ? "" : which + ": ") + sentence;
        append(&said, "[" + line + "," + (of_worst ? "1" : "0") + "," + json_text(text) + "]");
      }
    }
    const auto place = [&](const auto* of, const std::string& text) {
      return "[" + json_line(of->file, of->line) + "," + json_text(text) + "]";
    };
    return format("\"sums\":[%llu,%llu,%llu,%llu],\n",
                  static_cast<unsigned long long>(all.requests),
                  static_cast<unsigned long long>(all.sectors),
                  static_cast<unsigned long long>(all.wavefronts),
                  static_cast<unsigned long long>(all.words)) +
           "\"costliest\":" + (worst == nullptr ? "null" : place(worst, cost_of(*worst))) +
           ",\n\"emptiest\":" +
           (emptiest == nullptr ? "null" : place(emptiest, lanes_text(*emptiest))) +
           ",\n\"said\":[\n" + said + "],\n";
  }

  std::string row(const Event& e) {
    const std::string line = json_line(e.file, e.line);
    std::string text = "[" + std::to_string(e.step) + ",";
    if (e.kind == Event::Kind::kBarrier) return text + "null," + line + ",null,\"barrier\",0,[],0]";
    text += std::to_string(e.warp) + "," + line + ",";
    if (e.kind == Event::Kind::kPass) return text + std::to_string(e.mask) + "]";
    text += json_text(name_of(e.space)) + "," + json_text(operation_of(e)) + "," +
            std::to_string(e.bytes_per_lane) + ",";
    text += json_offsets(e, for_page_) + ",";
    const Counts& c = e.counts;
    text += std::to_string(c.sectors + c.wavefronts + c.words) + ",";
    text += std::to_string(number_of(json_request(e))) + "," + std::to_string(start_of(e.served));
    return text + (e.name.empty() ? "" : "," + json_text(e.name)) + "]";
  }

  /// Where the request stands in the list, at whose end it is added if it is new.
  std::size_t number_of(const std::string& request) {
    const auto found = numbers_.emplace(request, requests_.size());
    if (found.second) requests_.push_back(request);
    return found.first->second;
  }

  const Launch& launch_;
  const bool for_page_;
  std::uint64_t steps_kept_;
  std::vector<std::string> files_, requests_;
  std::map<std::string, std::size_t> numbers_;  // of requests_
  std::map<std::string, std::map<int, std::string>> source_;
  std::string events_, paths_;
};

}  // namespace

std::string events_of(const std::vector<Launch>& launches, bool for_page,
                      std::vector<std::string>* cuts) {
  std::string kernels, texts;
  std::set<std::string> files;
  for (const Launch& launch : launches) {
    if (launch.events.empty()) continue;
    KernelEvents events(launch, for_page);
    append(&kernels, events.json());
    if (const std::string cut = events.cut(); !cut.empty()) cuts->push_back(cut);
    files.insert(events.files().begin(), events.files().end());
  }
  if (for_page) {
    for (const std::string& file : files) {
      append(&texts, json_text(file) + ":" + json_text(text_of(file)));
    }
    texts = ",\n\"texts\":{" + texts + "}";
  }
  return "{\"kernels\":[\n" + kernels + "]" + texts + "}\n";
}

}  // namespace xray
