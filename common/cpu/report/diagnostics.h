// SPDX-License-Identifier: MIT
// Reports to people, in a compiler's form, on stderr.
//
// Three kinds. `report` is for a bug that stops the device (an access outside an allocation, a
// divergent barrier): the first one in a process is printed, every later runtime call returns its
// error until cudaDeviceReset, and the process ends with a failing status. `misuse` is for a
// runtime call that returns an error anyway (a double free, a copy past the end): the report says
// in plain words why, once per line of source. The error does not stick, and a program that asks
// for it with cudaGetLastError may go on and end well. `finding` is for a bug that stops nothing, a
// race: the program goes on, and ends with a failing status.
#pragma once

#include <string>
#include <vector>

#include "../types/site.h"
#include "text.h"

namespace cuda_cpu {

/// One report. `where.inside` adds "in kernel 'k', block (x,y,z), thread (x,y,z)" to the headline,
/// and a note that names the launch.
struct Report {
  std::string headline;              ///< "out-of-bounds read"
  Site site{nullptr, 0};             ///< the learner's line; nullptr: unknown
  Where where{};                     ///< kernel, block, thread
  std::vector<std::string> details;  ///< indented lines under the headline
  struct Note {
    Site site;
    std::string text;
  };
  std::vector<Note> notes;   ///< "file:line: note: text"
  std::string help;          ///< what to do next; may be empty
  int cuda_error = 0;        ///< the error it means (cudaError_t)
  bool names_thread = true;  ///< false: leave block and thread out of the headline
};

/// What else a report brings about, set before main by those who know: the engine and the runtime
/// are above this room.
struct Consequences {
  void (*report_begins)() = [] {};
  void (*error_sticks)(int cuda_error) = [](int) {};
  void (*misuse_is_explained)() = [] {};
  void (*all_is_forgotten)(bool status_too) = [](bool) {};
};
inline Consequences consequences;

/// Prints the report unless one was printed before, makes its error stick, and returns
/// `cuda_error`.
int report(const Report& report);

/// Reports in plain words what is wrong with a call, at its line, unless that line was reported
/// before, and returns `error` for the caller.
int misuse(Site site, int error, const std::string& headline, std::vector<std::string> details = {},
           std::vector<Report::Note> notes = {}, const std::string& help = "");

/// Prints the report and returns its text without colours. The process will end with a failing
/// status.
std::string finding(const Report& report);

/// Prints a note about something that is not an error but probably a mistake, once for each line of
/// source. `help`: what to do instead; may be empty.
void say_note(Site site, const std::string& text, const std::string& help);

/// Text of the latest report or misuse, whether or not it was printed; empty after cudaDeviceReset.
std::string last_report_text();

/// Forgets reports and errors. After cudaDeviceReset the process ends with a failing status all the
/// same; a test that has looked at them forgets that, too.
void reset_diagnostics(bool status_too = true);

/// Whether the process will end with a failing status because of a report or finding. For the
/// checks of labs, which use nothing else of the backend.
extern "C" int cuda_cpu_has_failed();

/// Ends the process with one line "CUDA CPU backend: ..." and status 1 (bad environment variable,
/// no memory for stacks).
[[noreturn]] void die(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace cuda_cpu
