// SPDX-License-Identifier: MIT
#include "remarks.h"

#include <cctype>
#include <cstddef>
#include <utility>

#include "../report/text.h"

namespace xray {
namespace {

using cuda_cpu::format;

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string without_comment(const std::string& line) { return line.substr(0, line.find("//")); }

/// The v of `float4 v = ...;`, "" for any other line. `behind`: where the `=` stands.
std::string declared_name(const std::string& line, std::size_t* behind) {
  *behind = line.find(" = ");
  if (*behind == std::string::npos) return "";
  std::size_t begin = *behind;
  while (begin > 0 && is_part_of_name(line[begin - 1])) --begin;
  const bool has_type = begin > 1 && line[begin - 1] == ' ' && is_part_of_name(line[begin - 2]);
  return has_type ? line.substr(begin, *behind - begin) : "";
}

/// Adds the members that a line uses of the structure `name`; false if it uses more than members.
bool add_members(const std::string& line, const std::string& name, std::string* members) {
  for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool is_name = (at == 0 || (!is_part_of_name(line[at - 1]) && line[at - 1] != '.')) &&
                         (end >= line.size() || !is_part_of_name(line[end]));
    if (!is_name) continue;
    const bool is_member = end + 1 < line.size() && line[end] == '.' &&
                           (end + 2 >= line.size() || !is_part_of_name(line[end + 2]));
    if (!is_member) return false;
    if (members->find(line[end + 1]) == std::string::npos) *members += line[end + 1];
  }
  return true;
}

/// Of four words that are loaded at once only two are used, and these do not make a load of 8
/// bytes.
std::string of_members(const Access& a, const std::vector<std::string>& lines) {
  const auto line = static_cast<std::size_t>(a.line);
  if (a.operation != Operation::kLoad || a.bytes_per_lane != 16 || line >= lines.size()) return "";
  std::size_t behind = 0;
  const std::string name = declared_name(lines[line], &behind);
  if (name.empty()) return "";
  std::string members;
  if (!add_members(without_comment(lines[line].substr(behind)), name, &members)) return "";
  for (std::size_t i = line + 1; i < lines.size() && i < line + 80; ++i) {
    if (!add_members(without_comment(lines[i]), name, &members)) return "";
    if (!lines[i].empty() && lines[i][0] == '}') break;
  }
  if (members.size() != 2) return "";
  if (members[0] == 'w' || (members[1] != 'w' && members[0] > members[1])) {
    std::swap(members[0], members[1]);
  }
  if (members == "xy" || members == "zw") return "";
  return format(
      "of %s only .%c and .%c are used, so nvcc probably loads each by itself: 2 requests for 1",
      name.c_str(), members[0], members[1]);
}

}  // namespace

std::string remark_of(const Access& a, const std::vector<std::string>& lines) {
  const Counts& c = a.counts;
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  if (a.space == Space::kConstant && 2 * c.repeated > c.requests) {
    return format(
        "nvcc probably fetches this once, before the loop: %llu of %llu requests are for the words "
        "of "
        "the one before",
        number(c.repeated), number(c.requests));
  }
  // A loop around an atomic mostly waits for something: nobody knows its turns beforehand.
  if (a.operation != Operation::kAtomic && 50 * c.more_unrolled > c.requests) {
    return format(
        "lanes leave this loop after different turns: if nvcc can tell their number beforehand and "
        "unrolls it, %llu requests instead of %llu; #pragma unroll 1 prevents that",
        number(c.requests + c.more_unrolled), number(c.requests));
  }
  if (a.space == Space::kLocal) {
    return format(
        "nvcc decides where %s lies: where an index is known only at run time it takes local "
        "memory, or a register that it finds by comparing, if the array is small or such places "
        "are few; -Xptxas -v shows a stack frame of 0 bytes then, and there are no such requests",
        a.name.c_str());
  }
  return of_members(a, lines);
}

}  // namespace xray
