// SPDX-License-Identifier: MIT
#include "diagnostics.h"

#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "../types/the_only.h"

namespace cuda_cpu {
namespace {

struct Printed {
  std::mutex mutex;
  std::set<std::string> misused, noted;  // lines of source
  std::string last_text;
  bool reported = false;
  // The run fails unless the program itself ends with another status.
  std::atomic<bool> failed{false};
};

bool wants_colour() {
  const char* const unwanted = std::getenv("NO_COLOR");
  return (unwanted == nullptr || *unwanted == '\0') && isatty(STDERR_FILENO) != 0;
}

std::string location_text(Site site) { return format("%s:%d: ", site.file, site.line); }

/// Whether the line is one to show: not where a library's header (a smart pointer's, say) made the
/// call.
bool is_known(Site site) {
  return site.file != nullptr && *site.file != '\0' && std::strncmp(site.file, "/usr/", 5) != 0 &&
         std::strstr(site.file, "/include/c++/") == nullptr;
}

std::string text_of(const Report& report, bool colour) {
  const char* const red = colour ? "\033[1;31m" : "";
  const char* const cyan = colour ? "\033[1;36m" : "";
  const char* const plain = colour ? "\033[0m" : "";
  const Where& where = report.where;
  const Site launched{where.kernel.file, where.kernel.line};
  std::string text;
  if (is_known(report.site)) {
    text = location_text(report.site);
  } else if (where.inside && is_known(launched)) {
    text = location_text(launched);
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
    text += location_text(launched);
    text += format("%snote:%s kernel launched here as <<<%s, %s>>>\n", cyan, plain,
                   to_text(where.grid).c_str(), to_text(where.block_dim).c_str());
  }
  if (!report.help.empty()) text += "    help: " + report.help + '\n';
  return text;
}

/// Whether the line that the program prints has begun and not ended, as far as that can be seen.
bool is_within_line() {
#if defined(__GLIBC__)
  return stdout->_IO_write_ptr > stdout->_IO_write_base && stdout->_IO_write_ptr[-1] != '\n';
#else
  return false;
#endif
}

/// One write, so that no lines of other threads come in between.
void print(const std::string& text) {
  if (is_within_line()) std::fputc('\n', stdout);
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

/// Prints the report and returns its text without colours.
std::string print(const Report& report) {
  std::string text = text_of(report, false);
  print(wants_colour() ? text_of(report, true) : text);
  return text;
}

}  // namespace

int report(const Report& report) {
  consequences.report_begins();
  {
    const auto [p, lock] = locked<Printed>();
    if (!p.reported) {
      p.reported = true;
      p.last_text = print(report);
    }
    p.failed = true;
  }
  consequences.error_sticks(report.cuda_error);
  return report.cuda_error;
}

int misuse(Site site, int error, const std::string& headline, std::vector<std::string> details,
           std::vector<Report::Note> notes, const std::string& help) {
  const Report report{headline, site, {}, std::move(details), std::move(notes), help, error};
  const auto [p, lock] = locked<Printed>();
  p.last_text = text_of(report, false);
  // Reports after the first are often its consequences.
  if (!p.reported) {
    const char* const file = site.file != nullptr ? site.file : "";
    if (p.misused.insert(location_text({file, site.line})).second) {
      print(wants_colour() ? text_of(report, true) : p.last_text);
    }
    consequences.misuse_is_explained();
  }
  return error;
}

std::string finding(const Report& report) {
  const auto [p, lock] = locked<Printed>();
  p.failed = true;
  return print(report);
}

void say_note(Site site, const std::string& text, const std::string& help) {
  const auto [p, lock] = locked<Printed>();
  const bool has_place = is_known(site);
  if (has_place && !p.noted.insert(location_text(site)).second) return;
  print((has_place ? location_text(site) : "") + "note: " + text + '\n' +
        (help.empty() ? "" : "    help: " + help + '\n'));
}

std::string last_report_text() {
  const auto [p, lock] = locked<Printed>();
  return p.last_text;
}

void reset_diagnostics(bool status_too) {
  const auto [p, lock] = locked<Printed>();
  p.reported = false;
  if (status_too) p.failed = false;
  p.misused.clear();
  p.last_text.clear();
  consequences.all_is_forgotten(status_too);
}

extern "C" int cuda_cpu_has_failed() { return the_only<Printed>().failed ? 1 : 0; }

void die(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  consequences.report_begins();
  print(std::string("CUDA CPU backend: ") + text + '\n');
  _exit(1);
}

}  // namespace cuda_cpu
