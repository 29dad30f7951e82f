// SPDX-License-Identifier: MIT
// The ways out of a kernel that must not go on, and reports on what the running thread does.
#pragma once

#include <string>
#include <vector>

#include "../../report/diagnostics.h"
#include "current.h"
#include "worker.h"

namespace cuda_cpu {

/// While it lives the watchdog does not stop the running worker, and time does not count as time
/// without progress: what is done is not the kernel's.
class Undisturbed {
 public:
  Undisturbed() : before_(current_worker->interruptible.exchange(false)) {}
  ~Undisturbed() { current_worker->interruptible.store(before_); }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  const bool before_;
};

/// A report on what the running CUDA thread does, or the host where none runs; or its beginning.
Report report_here(std::string headline, Site site, int cuda_error,
                   std::vector<std::string> details = {}, std::string help = "",
                   std::vector<Report::Note> notes = {});
/// Prints the report and ends the grid.
[[noreturn]] void stop_grid(const Report& report);

/// Ends the grid from inside device code, after a report was printed. Never returns.
[[noreturn]] void abandon_grid(int cuda_error);

/// The way out of a kernel, also for signal handlers. The worker's own loop then reports why, if
/// nobody has.
[[noreturn]] void leave_kernel(Exit why, const Fault& fault = {});

/// The watchdog leaves the calling worker alone until its grid has ended. Every report begins with
/// this, since it must not be interrupted while it holds a lock.
void hold_interrupts();

}  // namespace cuda_cpu
