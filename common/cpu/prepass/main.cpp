// SPDX-License-Identifier: MIT
// The pre-pass: turns a .cu or .cuh file into C++ for the CPU backend. Usage: prepass IN OUT
//
// Reads and writes by the C library: the streams of C++ would double what compiling this file
// costs.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "lexer.h"
#include "rewriter.h"

namespace {

bool read_file(const std::string& path, std::string* text) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  char buffer[1 << 16];
  std::size_t count = 0;
  while ((count = std::fread(buffer, 1, sizeof(buffer), file)) > 0) text->append(buffer, count);
  const int error = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  errno = error;
  return error == 0;
}

void make_folders_of(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    mkdir(path.substr(0, at).c_str(), 0777);  // most are there; a real failure shows when writing
  }
}

// Written beside the target and renamed, so that an interrupted build leaves no half file behind.
bool write_file(const std::string& path, const std::string& text) {
  make_folders_of(path);
  const std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  std::FILE* const file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return false;
  const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && whole && std::rename(temporary.c_str(), path.c_str()) == 0) {
    return true;
  }
  std::remove(temporary.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: prepass IN OUT\n");
    return 2;
  }
  const std::string in_path = argv[1];
  const std::string out_path = argv[2];
  std::string text;
  if (!read_file(in_path, &text)) {
    std::fprintf(stderr, "prepass: cannot read %s: %s\n", in_path.c_str(), std::strerror(errno));
    return 1;
  }
  try {
    const prepass::LexedFile file = prepass::lex(text);
    if (!write_file(out_path, prepass::rewrite(file, in_path))) {
      std::fprintf(stderr, "prepass: cannot write %s\n", out_path.c_str());
      return 1;
    }
  } catch (const prepass::SourceError& error) {
    std::fprintf(stderr, "%s:%d: error: %s\n", in_path.c_str(), error.line, error.what());
    return 1;
  }
  return 0;
}
