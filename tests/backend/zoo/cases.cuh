// SPDX-License-Identifier: MIT
// Programs of the zoo that are neighbours share a file. Such a program runs the one case that its
// only argument names; --list names them all, for the driver to compare with the CASE lines.
#pragma once

#include <cstdio>
#include <cstring>
#include <initializer_list>

struct Case {
  const char* name;
  int (*program)();  ///< what main would be in a file of its own
};

inline int run_case(int argc, char** argv, std::initializer_list<Case> cases) {
  const char* const chosen = argc == 2 ? argv[1] : "";
  const bool list = std::strcmp(chosen, "--list") == 0;
  for (const Case& one : cases) {
    if (list) std::printf("%s\n", one.name);
    if (std::strcmp(chosen, one.name) == 0) return one.program();
  }
  if (list) return 0;
  std::fprintf(stderr, "%s: there is no case '%s'; --list names them\n", argv[0], chosen);
  return 2;
}
