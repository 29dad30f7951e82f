// SPDX-License-Identifier: MIT
#include "call.h"

#include <utility>

#include "../engine/current.h"
#include "../engine/faults.h"
#include "../engine/worker.h"
#include "work_queues.h"

namespace cuda_cpu {

int begin_call() {
  if (in_kernel()) {
    Report it = report_here("runtime call from device code", {}, cudaErrorNotPermitted);
    it.help = "only host code may call the CUDA runtime";
    stop_grid(it);
  }
  prepare_thread_for_faults();
  if (in_host_function()) return cudaErrorNotPermitted;
  return sticky_error();
}

int explain_misuse(Site site, int error, const std::string& headline,
                   std::vector<std::string> details, std::vector<Report::Note> notes,
                   const std::string& help) {
  return misuse({headline, site, {}, std::move(details), std::move(notes), help, error});
}

}  // namespace cuda_cpu
