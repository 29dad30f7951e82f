// SPDX-License-Identifier: MIT
// The pre-pass: turns a .cu or .cuh file into C++ for the CPU backend. Usage: prepass IN OUT
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>

#include "lexer.h"
#include "rewriter.h"

namespace {

// Written beside the target and renamed, so that an interrupted build leaves no half file behind.
bool write_file(const std::string& path, const std::string& text) {
  const std::filesystem::path target(path);
  std::error_code error;
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), error);
  const std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
      std::remove(temporary.c_str());
      return false;
    }
  }
  std::filesystem::rename(temporary, target, error);
  if (error) std::remove(temporary.c_str());
  return !error;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: prepass IN OUT\n";
    return 2;
  }
  const std::string in_path = argv[1];
  const std::string out_path = argv[2];
  std::ifstream in(in_path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) {
    std::cerr << "prepass: cannot read " << in_path << ": " << std::strerror(errno) << "\n";
    return 1;
  }
  try {
    const prepass::LexedFile file = prepass::lex(text.str());
    if (!write_file(out_path, prepass::rewrite(file, in_path))) {
      std::cerr << "prepass: cannot write " << out_path << "\n";
      return 1;
    }
  } catch (const prepass::SourceError& error) {
    std::cerr << in_path << ":" << error.line << ": error: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
