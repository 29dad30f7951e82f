// SPDX-License-Identifier: MIT
// What the programs of this folder share. A file holds those of one area of CUDA, and
// compatibility.py cuts it apart at its FEATURE lines. Each program shows one feature, checks what
// came of it and says "ok" or "differs".
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define MUST(call) must((call), #call)

inline void must(int code, const char* call) {
  if (code == 0) return;
  std::fprintf(stderr, "error: %s: code %d\n", call, code);
  std::exit(2);
}

/// 1024 zeros that host and device can use.
template <class T = int>
T* numbers() {
  T* array = nullptr;
  MUST(cudaMallocManaged(&array, 1024 * sizeof(T)));
  for (int i = 0; i < 1024; ++i) array[i] = T{};
  return array;
}

/// Waits for the device.
inline void wait() {
  MUST(cudaGetLastError());
  MUST(cudaDeviceSynchronize());
}

inline int answer(bool right) {
  std::puts(right ? "ok" : "differs");
  std::fflush(stdout);
  return right ? 0 : 1;
}
