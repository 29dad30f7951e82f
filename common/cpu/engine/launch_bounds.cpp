// SPDX-License-Identifier: MIT
#include "launch_bounds.h"

#include "../report/diagnostics.h"
#include "../types/error_codes.h"
#include "worker.h"

namespace cuda_cpu {

void exceed_launch_bounds(long long most, const char* file, int line) {
  Report exceeded = report_here(format("a block of %u threads, where __launch_bounds__ allows %lld",
                                       current_block->count, most),
                                {file, line}, cudaErrorInvalidValue);  // as an H200 with CUDA 13.0
  exceeded.details.push_back("a GPU does not launch such a kernel");
  exceeded.help = "launch smaller blocks, or raise the first number of __launch_bounds__";
  stop_grid(exceeded);
}

}  // namespace cuda_cpu
