// SPDX-License-Identifier: MIT
// FEATURE: libraries: `cudaProfilerStart`
#include <cuda_profiler_api.h>

#include "program.h"

int main() {
  MUST(cudaProfilerStart());
  MUST(cudaProfilerStop());
  return answer(true);
}
