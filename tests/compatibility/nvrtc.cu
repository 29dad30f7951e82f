// SPDX-License-Identifier: MIT
// FEATURE: libraries: NVRTC
// NVCC: -lnvrtc
#include <nvrtc.h>

#include "program.h"

int main() {
  nvrtcProgram program;
  const char* const source = "__global__ void show(int* x) { *x = 1; }";
  MUST(nvrtcCreateProgram(&program, source, "show.cu", 0, nullptr, nullptr));
  MUST(nvrtcCompileProgram(program, 0, nullptr));
  size_t bytes = 0;
  MUST(nvrtcGetPTXSize(program, &bytes));
  return answer(bytes > 100);
}
