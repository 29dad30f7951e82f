// SPDX-License-Identifier: MIT
#include "host_functions.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace prepass {
namespace {

// The name of the function whose declaration begins at `i`; kNone when there is none, or a
// qualified one.
std::size_t function_name(const Structure& s, std::size_t i, std::size_t end) {
  for (; i < end; ++i) {
    if (s.skip_attribute(i) != i) {
      i = s.skip_attribute(i) - 1;
    } else if (s.is(i, "<")) {
      i = s.skip_angles(i);
    } else if (s.is(i, "(")) {
      const bool is_name = s.is_identifier(i - 1) && !s.is(i - 2, "::");
      return is_name ? i - 1 : kNone;
    } else if (s.is_any(i, {"operator", "=", ";", "{"})) {
      return kNone;
    }
  }
  return kNone;
}

// The first token of a definition that an attribute may stand before: after its template's
// parameters. kNone when the function may be for both sides: it is constexpr, or a word beside its
// type may be a macro that says so.
std::size_t place_of_attribute(const Structure& s, std::size_t i, std::size_t name) {
  if (s.is(i + 1, ":")) i += 2;  // public:
  while (s.is(i, "template") && s.match_angle(i + 1) != kNone) i = s.match_angle(i + 1) + 1;
  if (s.is(i, "extern") && s.token(i + 1).kind == Token::kString) i += 2;
  const std::size_t first = i;
  int types = 0;
  for (; i < name; ++i) {
    if (s.is(i, "constexpr") || s.skip_attribute(i) != i) return kNone;
    if (!s.is_identifier(i) && !s.is_any(i, {"::", "*", "&", "<"})) return kNone;
    // What cannot stand beside a type's name.
    const bool is_type =
        s.is_identifier(i) && !s.is(i - 1, "::") &&
        !s.is_any(i, {"static", "inline", "extern", "const", "volatile", "unsigned", "signed",
                      "long", "struct", "virtual", "explicit", "typename", "class", "friend"});
    if (is_type) ++types;
    i = s.skip_angles(i);
  }
  return first < name && types < 2 ? first : kNone;
}

}  // namespace

bool may_be_macro(const std::string& word) {
  return word.size() > 1 && std::all_of(word.begin(), word.end(), [](unsigned char c) {
           return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
         });
}

std::size_t count_parameters(const Structure& s, std::size_t i) {
  const std::size_t close = s.match(i);
  if (close == kNone || s.has_any(i, close, {"=", "..."})) return kNone;
  std::size_t count = close == i + 1 || (close == i + 2 && s.is(i + 1, "void")) ? 0 : 1;
  for (++i; i < close; ++i) {
    i = s.is(i, "<") ? std::min(close, s.match_angle(i)) : s.skip_brackets(i);
    if (s.is(i, ",")) ++count;
  }
  return count;
}

HostFunctions find_host_functions(const Structure& s) {
  HostFunctions found;
  std::set<std::string> others;
  std::map<std::size_t, std::string> definitions;  // where the attribute goes -> name
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s.names_device(i)) {
      const std::size_t name = function_name(s, i, s.size());
      if (name != kNone) others.insert(s.spelling(name));
      if (name != kNone && s.is(i, "__device__")) found.of_device.insert(s.spelling(name));
      continue;
    }
    const bool is_member = s.scope(i) == Scope::kClass;
    const bool opens_function = s.is(i, "{") && (is_member || s.scope(i) == Scope::kNamespace) &&
                                s.opened_scope(i) == Scope::kBlock;
    if (!opens_function) continue;
    const std::size_t name = function_name(s, s.head(i), i);
    if (name == kNone) continue;
    bool only_host = true;
    for (std::size_t k = s.head(i); k < name; ++k) {
      if (s.names_device(k) || may_be_macro(s.spelling(k))) only_host = false;
    }
    const std::string word = s.spelling(name);
    if (!is_member && only_host) found.names[word].insert(count_parameters(s, name + 1));
    if (!is_member && !only_host) others.insert(word);
    const std::size_t first = place_of_attribute(s, s.head(i), name);
    if (only_host && first != kNone) definitions[first] = word;
  }
  for (const std::string& name : others) found.names.erase(name);
  for (const auto& [first, name] : definitions) {
    if (others.count(name) == 0) found.definitions.insert(first);
  }
  return found;
}

std::string refusal_of_std(const Structure& s, std::size_t i) {
  const bool of_std = s.is(i - 1, "::") && s.is(i - 2, "std");
  // cuda::std has these for both sides.
  if (!of_std || (s.is(i - 3, "::") && s.is_identifier(i - 4))) return "";
  const std::string name = s.spelling(i);
  if (name == "min" || name == "max") {
    return "std::" + name + " is for the host: in device code write " + name + "(a, b)";
  }
  if (name == "numeric_limits") {
    const std::size_t member = s.skip_angles(i + 1) + 2;  // a constant, or a function
    if (s.is_identifier(member) && !s.is(member + 1, "(")) return "";
    return "std::numeric_limits is for the host: device code has the macros of <climits> and "
           "<cfloat>";
  }
  const bool is_other = s.is_any(i, {"clamp", "swap", "cout", "cerr", "vector", "string",
                                     "to_string", "sort", "accumulate", "fill", "copy"});
  return is_other ? "std::" + name + " is for the host, not for device code" : "";
}

}  // namespace prepass
