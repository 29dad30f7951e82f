// SPDX-License-Identifier: MIT
// FEATURE: libraries: NVTX ranges
#include <nvtx3/nvToolsExt.h>

#include "program.h"

int main() {
  nvtxRangePushA("work");
  nvtxRangePop();
  return answer(true);
}
