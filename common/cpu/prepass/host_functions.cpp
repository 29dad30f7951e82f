// SPDX-License-Identifier: MIT
#include "host_functions.h"

#include <algorithm>
#include <cctype>

namespace prepass {
namespace {

bool is_device_word(const Structure& s, std::size_t i) {
  return s.is(i, "__device__") || s.is(i, "__global__");
}

// The name of the function whose declaration begins at `i`; kNone when there is none, or a
// qualified one.
std::size_t function_name(const Structure& s, std::size_t i, std::size_t end) {
  for (; i < end; ++i) {
    if (s.skip_attribute(i) != i) {
      i = s.skip_attribute(i) - 1;
    } else if (s.is(i, "<") && s.skip_angles(i) != kNone) {
      i = s.skip_angles(i) - 1;
    } else if (s.is(i, "(")) {
      const bool is_name = i > 0 && s.is_identifier(i - 1) && !(i > 1 && s.is(i - 2, "::"));
      return is_name ? i - 1 : kNone;
    } else if (s.is(i, "operator") || s.is(i, "=") || s.is(i, ";") || s.is(i, "{")) {
      return kNone;
    }
  }
  return kNone;
}

}  // namespace

bool may_be_macro(const std::string& word) {
  return word.size() > 1 && std::all_of(word.begin(), word.end(), [](unsigned char c) {
           return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
         });
}

std::set<std::string> host_functions(const Structure& s) {
  std::set<std::string> found, others;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (is_device_word(s, i)) {
      const std::size_t name = function_name(s, i, s.size());
      if (name != kNone) others.insert(s.spelling(name));
      continue;
    }
    const bool opens_function =
        s.is(i, "{") && s.scope(i) == Scope::kNamespace && s.opened_scope(i) == Scope::kBlock;
    if (!opens_function) continue;
    const std::size_t name = function_name(s, s.head(i), i);
    if (name == kNone) continue;
    bool only_host = true;
    for (std::size_t k = s.head(i); k < name; ++k) {
      if (is_device_word(s, k) || may_be_macro(s.spelling(k))) only_host = false;
    }
    (only_host ? found : others).insert(s.spelling(name));
  }
  for (const std::string& name : others) found.erase(name);
  return found;
}

std::string refusal_of_std(const Structure& s, std::size_t i) {
  const bool of_std = i > 1 && s.is(i - 1, "::") && s.is(i - 2, "std");
  // cuda::std has these for both sides.
  if (!of_std || (i > 3 && s.is(i - 3, "::") && s.is_identifier(i - 4))) return "";
  const std::string name = s.spelling(i);
  if (name == "min" || name == "max") {
    return "std::" + name + " is for the host: in device code write " + name + "(a, b)";
  }
  if (name == "numeric_limits") {
    return "std::numeric_limits is for the host: device code has the macros of <climits> and "
           "<cfloat>";
  }
  for (const char* const other : {"clamp", "swap", "cout", "cerr", "vector", "string", "to_string",
                                  "sort", "accumulate", "fill", "copy"}) {
    if (name == other) return "std::" + name + " is for the host, not for device code";
  }
  return "";
}

}  // namespace prepass
