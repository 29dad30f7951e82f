// SPDX-License-Identifier: MIT
#include "events.h"

#include <algorithm>
#include <map>

#include "../report/text.h"
#include "diagnosis.h"
#include "drawing.h"

namespace xray {
namespace {

using cuda_cpu::format;

constexpr std::size_t kMostBytes = 48000;  // of a kernel's steps and lines

std::string json_text(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += static_cast<unsigned char>(c) < ' ' ? format("\\u%04x", c) : std::string(1, c);
  }
  return json + '"';
}

std::string json_extent(const dim3& d) { return format("[%u,%u,%u]", d.x, d.y, d.z); }

/// The list so far with one more item.
void append(std::string* list, const std::string& item) {
  *list += (list->empty() ? "" : ",\n") + item;
}

class KernelEvents {
 public:
  explicit KernelEvents(const Launch& launch) : launch_(launch) {
    std::size_t bytes = 0;
    steps_kept_ = launch.steps;
    for (auto it = launch.events.begin(); it != launch.events.end();) {
      const std::uint64_t step = it->step;
      std::string events, paths;
      const auto first = it;
      for (; it != launch.events.end() && it->step == step; ++it) {
        append(it->kind == Event::Kind::kPass ? &paths : &events, row(*it));
      }
      std::size_t more = events.size() + paths.size() + 4;
      for (auto e = first; e != it; ++e) {
        if (source_[e->file].emplace(e->line, "").second) {
          source_[e->file][e->line] = json_text(code_of(e->file, e->line));
          more += source_[e->file][e->line].size() + 10;
        }
      }
      if ((bytes += more) > kMostBytes) {
        steps_kept_ = step;
        break;
      }
      if (!events.empty()) append(&events_, events);
      if (!paths.empty()) append(&paths_, paths);
    }
    if (steps_kept_ == launch.steps && !launch.events.empty()) {
      steps_kept_ = std::min(launch.steps, kMostSteps);
    }
  }

  std::string json() const {
    std::string files, source;
    for (const std::string& file : files_) files += (files.empty() ? "" : ",") + json_text(file);
    for (const std::string& file : files_) {
      std::string lines;
      for (const auto& [line, text] : source_.at(file)) {
        append(&lines, format("\"%d\":", line) + text);
      }
      append(&source, json_text(file) + ":{" + lines + "}");
    }
    return "{\"kernel\":" + json_text(launch_.kernel) +
           ",\"arguments\":" + json_text(launch_.arguments) +
           ",\"grid\":" + json_extent(launch_.grid) + ",\"block\":" + json_extent(launch_.block) +
           format(",\"block_number\":%llu,\"steps\":%llu,\"steps_kept\":%llu",
                  static_cast<unsigned long long>(launch_.events_block),
                  static_cast<unsigned long long>(launch_.steps),
                  static_cast<unsigned long long>(steps_kept_)) +
           ",\n\"files\":[" + files + "],\n\"source\":{" + source + "},\n\"events\":[\n" + events_ +
           "],\n\"paths\":[\n" + paths_ + "]}";
  }

  /// What is left out, or nothing.
  std::string cut() const {
    if (steps_kept_ == launch_.steps) return "";
    return launch_.kernel +
           format(": the first %llu of %llu steps are kept; a smaller block or input has fewer",
                  static_cast<unsigned long long>(steps_kept_),
                  static_cast<unsigned long long>(launch_.steps));
  }

 private:
  std::string row(const Event& e) {
    const auto found = std::find(files_.begin(), files_.end(), e.file);
    const auto file = static_cast<int>(found - files_.begin());
    if (found == files_.end()) files_.push_back(e.file);
    const std::string line = file == 0 ? std::to_string(e.line) : format("[%d,%d]", file, e.line);
    std::string text = "[" + std::to_string(e.step) + ",";
    if (e.kind == Event::Kind::kBarrier) return text + "null," + line + ",null,\"barrier\",0,[],0]";
    text += std::to_string(e.warp) + "," + line + ",";
    if (e.kind == Event::Kind::kPass) return text + std::to_string(e.mask) + "]";
    text += json_text(name_of(e.space)) + "," +
            json_text(e.copies ? "copy" : name_of(e.operation)) + "," +
            std::to_string(e.bytes_per_lane) + ",[";
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (lane > 0) text += ',';
      text += e.offsets[lane] < 0 ? "null" : std::to_string(e.offsets[lane]);
    }
    return text + "]," + std::to_string(e.counts.sectors + e.counts.wavefronts + e.counts.words) +
           "]";
  }

  const Launch& launch_;
  std::uint64_t steps_kept_;
  std::vector<std::string> files_;
  std::map<std::string, std::map<int, std::string>> source_;
  std::string events_, paths_;
};

}  // namespace

std::string events_of(const std::vector<Launch>& launches, std::vector<std::string>* cuts) {
  std::string kernels;
  for (const Launch& launch : launches) {
    if (launch.events.empty()) continue;
    const KernelEvents events(launch);
    append(&kernels, events.json());
    if (const std::string cut = events.cut(); !cut.empty()) cuts->push_back(cut);
  }
  return "{\"kernels\":[\n" + kernels + "]}\n";
}

}  // namespace xray
