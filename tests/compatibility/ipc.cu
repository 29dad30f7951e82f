// SPDX-License-Identifier: MIT
// FEATURE: memory: memory of another process (IPC)
#include "program.h"

int main() {
  int* x = nullptr;
  cudaIpcMemHandle_t handle;
  MUST(cudaMalloc(&x, 4));
  MUST(cudaIpcGetMemHandle(&handle, x));
  return answer(true);
}
