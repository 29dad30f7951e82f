// SPDX-License-Identifier: MIT
// Reports to people, in a compiler's form, on stderr.
//
// Two kinds. `report` is for a bug that stops the device (an access outside an allocation, a
// divergent barrier): the first one of a process is printed, its error sticks to every later
// runtime call until cudaDeviceReset, and the process ends with a failing status. `misuse` is for a
// runtime call that returns an error anyway (a double free, a copy past the end): the report says
// in plain words why, once per line of source, the error does not stick, and a program that asks
// for it with cudaGetLastError may go on and end well.
#pragma once

#include <string>
#include <vector>

#include "engine.h"

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

/// Prints the report unless one was printed before, sets the sticky error, and returns
/// `cuda_error`.
int report(const Report& report);

/// Prints the report unless this source line was reported before, and returns `cuda_error`.
int misuse(const Report& report);

/// Text of the latest report or misuse, whether or not it was printed; empty after cudaDeviceReset.
std::string last_report_text();

/// Sticky error set by reports and failed kernels; 0 when none. cudaDeviceReset clears it.
int sticky_error();
void set_sticky_error(int cuda_error);

/// Makes `cuda_error` what cudaGetLastError returns next on this thread (0 leaves it alone).
/// Returns it.
int record_error(int cuda_error);

/// What cudaGetLastError and cudaPeekAtLastError return.
int take_last_error();
int peek_last_error();

/// Forgets reports and errors (cudaDeviceReset).
void reset_diagnostics();

/// Source line of a program address (addr2line, atos), frames of the backend and of system headers
/// skipped. Empty string when it cannot be told.
std::string source_line_of(const void* pc);

/// The same as a Site that stays valid; file is nullptr when it cannot be told.
Site source_site_of(const void* pc);

/// The first of several program addresses (innermost frame first) that lies in the learner's code.
/// `return_addresses`: all but the first point behind a call.
Site first_source_site(const void* const* pcs, int count);

/// For each return address all places in the source that it stands for, the innermost inlined
/// function first; the backend and the system's headers are left out.
std::vector<std::vector<Site>> source_frames_of(const std::vector<const void*>& return_addresses);

/// False for addresses in shared libraries.
bool is_in_program(const void* pc);

/// Name of the function that begins at `address`, demangled and without its arguments; `fallback`
/// when the program's symbol table does not tell. Stays valid.
const char* function_name(const void* address, const char* fallback);

/// A copy of `text` that stays valid for the process; equal texts share one.
const char* intern(const std::string& text);

/// "(1,2,3)"
std::string to_text(const uint3& v);
std::string to_text(const dim3& v);

/// printf into a string.
std::string format(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// "0-31, 64" from linear indices.
std::string ranges_text(const std::vector<unsigned>& sorted_indices);

/// Ends the process with one line "CUDA CPU backend: ..." and status 1 (bad environment variable,
/// no memory for stacks).
[[noreturn]] void die(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace cuda_cpu
