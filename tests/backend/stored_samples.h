// SPDX-License-Identifier: MIT
// What a GPU printed, stored in a file: a name in each line, and behind its first comma the rest.
#pragma once

#include <fstream>
#include <map>
#include <string>

/// By name. Empty if there is no such file; the line that heads the columns is one of them.
inline std::map<std::string, std::string> stored_samples(const std::string& path) {
  std::ifstream file(path);
  std::map<std::string, std::string> stored;
  for (std::string line; std::getline(file, line);) {
    const std::size_t comma = line.find(',');
    stored[line.substr(0, comma)] = line.substr(comma + 1);
  }
  return stored;
}
