// SPDX-License-Identifier: MIT
#include "leaving.h"

#include <utility>

#include "../../types/error_codes.h"
#include "sanitizers.h"

namespace cuda_cpu {

Report report_here(std::string headline, Site site, int cuda_error,
                   std::vector<std::string> details, std::string help,
                   std::vector<Report::Note> notes) {
  Report it;
  it.headline = std::move(headline);
  it.site = site;
  it.where = where();
  it.details = std::move(details);
  it.notes = std::move(notes);
  it.help = std::move(help);
  it.cuda_error = cuda_error;
  return it;
}

void stop_grid(const Report& it) { abandon_grid(report(it)); }

void abandon_grid(int cuda_error) {
  if (!in_kernel()) die("abandon_grid outside of a kernel");
  current_worker->grid->fail(cuda_error != 0 ? cuda_error : cudaErrorLaunchFailure);
  leave_kernel(Exit::kFailed);
}

void leave_kernel(Exit why, const Fault& fault) {
  Worker* const worker = current_worker;
  worker->exit = why;
  worker->fault = fault;
  asan_leave(nullptr, worker->home_bottom, worker->home_size);
  siglongjmp(worker->home_jump, 1);
}

void hold_interrupts() {
  if (current_worker != nullptr) current_worker->interruptible.store(false);
}

}  // namespace cuda_cpu
