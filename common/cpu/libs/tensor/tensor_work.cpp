// SPDX-License-Identifier: MIT
#include "tensor_work.h"

#include <utility>

#include "../../engine/state/leaving.h"
#include "../../report/diagnostics.h"
#include "../../types/error_codes.h"

namespace cuda_cpu {

TensorWork& tensor_work(const char* call) {
  if (current_thread == nullptr) die("%s called outside of a kernel", call);
  if (current_block->tensors == nullptr) current_block->tensors = new TensorWork;
  return *current_block->tensors;
}

void refuse_cluster(Site site) {
  refuse_instruction("the CPU backend has no clusters of blocks", site, {}, "");
}

void refuse_instruction(const std::string& headline, Site site, std::vector<std::string> details,
                        const std::string& help, Site other, const char* note) {
  Report it = report_here(headline, site, cudaErrorLaunchFailure, std::move(details), help);
  if (other.file != nullptr) it.notes.push_back({other, note});
  stop_grid(it);
}

}  // namespace cuda_cpu
