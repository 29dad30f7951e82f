// SPDX-License-Identifier: MIT
// Chapter 02, two errors: which check sees which. Included by single_thread_sum.cu, whose kernel it
// launches.
#pragma once

#include <cstdio>
#include <string>

#include "../../common/common.cuh"

// Fails at the launch or in the kernel. The program ends at the check that notices.
int break_on_purpose(const std::string& where, const OneThreadSum& s) {
  if (where == "launch") {
    sum_single_thread<<<1, 2048>>>(s.x, s.n, s.result);  // a block has at most 1024: refused
  } else {
    sum_single_thread<<<1, 1>>>(nullptr, s.n, s.result);  // accepted; fails at its first load
  }
  std::printf("right behind the launch the last error is %s\n",
              cudaGetErrorName(cudaPeekAtLastError()));
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  return kExitWrong;
}
