// SPDX-License-Identifier: MIT
#include "diagnostics.h"

#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <set>
#include <utility>

#include "streams.h"

namespace cuda_cpu {
namespace {

struct State {
  std::mutex mutex;
  std::set<std::string> texts;  // interned
  std::set<std::pair<std::string, int>> misused;
  std::string last_text;
  bool reported = false;
  // The run fails unless the program itself ends with another status.
  std::atomic<bool> failed{false};
  std::atomic<int> unhandled_misuse{0};
  std::atomic<int> sticky{0};
};

State& state() {
  static State* const s = new State;
  return *s;
}

// The error of this thread that cudaGetLastError hands out, and whether it came with a report.
thread_local int last_error = 0;
thread_local int reported_misuses = 0;

bool wants_colour() {
  const char* const no_colour = std::getenv("NO_COLOR");
  return (no_colour == nullptr || *no_colour == '\0') && isatty(STDERR_FILENO) != 0;
}

std::string location_text(Site site) { return format("%s:%d: ", site.file, site.line); }

/// A line to show: not where a library's header (a smart pointer's, say) called for the program.
bool is_known(Site site) {
  return site.file != nullptr && *site.file != '\0' && std::strncmp(site.file, "/usr/", 5) != 0 &&
         std::strstr(site.file, "/include/c++/") == nullptr;
}

std::string text_of(const Report& report, bool colour) {
  const char* const red = colour ? "\033[1;31m" : "";
  const char* const cyan = colour ? "\033[1;36m" : "";
  const char* const plain = colour ? "\033[0m" : "";
  const Where& where = report.where;
  std::string text;
  if (is_known(report.site)) {
    text = location_text(report.site);
  } else if (where.inside && is_known({where.kernel.file, where.kernel.line})) {
    text = location_text({where.kernel.file, where.kernel.line});
  }
  text += format("%serror:%s %s", red, plain, report.headline.c_str());
  if (where.inside) {
    text += format(" in kernel '%s'", where.kernel.name);
    if (report.names_thread) {
      text += ", block " + to_text(where.block) + ", thread " + to_text(where.thread);
    }
  }
  text += '\n';
  for (const std::string& line : report.details) text += "    " + line + '\n';
  for (const Report::Note& note : report.notes) {
    if (is_known(note.site)) text += location_text(note.site);
    text += format("%snote:%s %s\n", cyan, plain, note.text.c_str());
  }
  if (where.inside) {
    text += location_text({where.kernel.file, where.kernel.line});
    text += format("%snote:%s kernel launched here as <<<%s, %s>>>\n", cyan, plain,
                   to_text(where.grid).c_str(), to_text(where.block_dim).c_str());
  }
  if (!report.help.empty()) text += "    help: " + report.help + '\n';
  return text;
}

/// One write, so that lines of other threads do not come between.
void print(const std::string& text) {
  std::fflush(stdout);
  const char* rest = text.data();
  std::size_t left = text.size();
  while (left != 0) {
    const ssize_t written = write(STDERR_FILENO, rest, left);
    if (written <= 0) return;
    rest += written;
    left -= static_cast<std::size_t>(written);
  }
}

/// Runs when the process ends, after everything of the program: a report must not end in success.
void end_of_process(int status) {
  State& s = state();
  if (status == 0 && !s.failed) note_unfinished_work();
  if (status != 0 || (!s.failed && s.unhandled_misuse <= 0)) return;
  std::cout.flush();
  std::fflush(nullptr);
  _exit(1);
}

#if defined(__GLIBC__)
void end_of_process_glibc(int status, void*) { end_of_process(status); }
__attribute__((constructor(101))) void watch_the_end() { on_exit(end_of_process_glibc, nullptr); }
#else
__attribute__((constructor(101))) void watch_the_end() {
  std::atexit([] { end_of_process(0); });
}
#endif

}  // namespace

int report(const Report& report) {
  hold_interrupts();
  State& s = state();
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    if (!s.reported) {
      s.reported = true;
      s.last_text = text_of(report, false);
      print(wants_colour() ? text_of(report, true) : s.last_text);
    }
    s.failed = true;
  }
  set_sticky_error(report.cuda_error);
  return report.cuda_error;
}

int misuse(const Report& report) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.last_text = text_of(report, false);
  // What follows a report is often its consequence.
  if (!s.reported) {
    const char* const file = report.site.file != nullptr ? report.site.file : "";
    if (s.misused.insert({file, report.site.line}).second) {
      print(wants_colour() ? text_of(report, true) : s.last_text);
    }
    ++s.unhandled_misuse;
    ++reported_misuses;
  }
  return report.cuda_error;
}

std::string last_report_text() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return s.last_text;
}

int sticky_error() { return state().sticky.load(std::memory_order_relaxed); }

void set_sticky_error(int cuda_error) {
  int none = 0;
  if (cuda_error != 0) state().sticky.compare_exchange_strong(none, cuda_error);
}

int record_error(int cuda_error) {
  if (cuda_error != 0) last_error = cuda_error;
  return cuda_error;
}

void set_last_error(int cuda_error) { record_error(cuda_error); }

int take_last_error() {
  const int sticky = sticky_error();
  const int error = sticky != 0 ? sticky : last_error;
  last_error = 0;
  // Asking for the error is handling it.
  state().unhandled_misuse -= reported_misuses;
  reported_misuses = 0;
  return error;
}

int peek_last_error() {
  const int sticky = sticky_error();
  return sticky != 0 ? sticky : last_error;
}

void reset_diagnostics() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.reported = false;
  s.failed = false;
  s.unhandled_misuse = 0;
  s.sticky = 0;
  s.misused.clear();
  s.last_text.clear();
  last_error = 0;
  reported_misuses = 0;
}

const char* intern(const std::string& text) {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return s.texts.insert(text).first->c_str();
}

std::string to_text(const uint3& v) { return format("(%u,%u,%u)", v.x, v.y, v.z); }

std::string to_text(const dim3& v) { return format("(%u,%u,%u)", v.x, v.y, v.z); }

std::string format(const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  if (length > 0) std::vsnprintf(&text[0], text.size() + 1, format, again);
  va_end(again);
  return text;
}

std::string ranges_text(const std::vector<unsigned>& sorted_indices) {
  std::string text;
  for (std::size_t i = 0; i < sorted_indices.size();) {
    std::size_t last = i;
    while (last + 1 < sorted_indices.size() &&
           sorted_indices[last + 1] == sorted_indices[last] + 1) {
      ++last;
    }
    if (!text.empty()) text += ", ";
    text += std::to_string(sorted_indices[i]);
    if (last > i) text += "-" + std::to_string(sorted_indices[last]);
    i = last + 1;
  }
  return text;
}

void die(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  print(std::string("CUDA CPU backend: ") + text + '\n');
  _exit(1);
}

}  // namespace cuda_cpu
