// SPDX-License-Identifier: MIT
// Programs of the zoo that are neighbours share a file. Such a program runs the one case that its
// only argument names; --list names them all, for the driver to compare with the CASE lines.
#pragma once

#include <cstdio>
#include <cstring>
#include <vector>

struct Case {
  const char* name;
  void (*program)();
};

inline std::vector<Case>& all_cases() {
  static std::vector<Case> cases;
  return cases;
}

struct Listed {
  Listed(const char* name, void (*program)()) { all_cases().push_back({name, program}); }
};

/// CASE(name) { ... }: the braces are what main would be in a file of its own.
#define CASE(name)                                   \
  void program_##name();                             \
  const Listed listed_##name(#name, program_##name); \
  void program_##name()

/// Launches on device memory of so many elements, which begin as zeros, and waits.
template <class T = int, class Launch>
cudaError_t run_on(std::size_t elements, Launch launch) {
  T* x = nullptr;
  cudaMalloc(&x, elements * sizeof(T));
  cudaMemset(x, 0, elements * sizeof(T));
  launch(x);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  return error;
}

int main(int argc, char** argv) {
  const char* const chosen = argc == 2 ? argv[1] : "";
  const bool list = std::strcmp(chosen, "--list") == 0;
  for (const Case& one : all_cases()) {
    if (list) std::printf("%s\n", one.name);
    if (std::strcmp(chosen, one.name) == 0) return one.program(), 0;
  }
  if (list) return 0;
  std::fprintf(stderr, "%s: there is no case '%s'; --list names them\n", argv[0], chosen);
  return 2;
}
