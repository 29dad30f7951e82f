// SPDX-License-Identifier: MIT
#include "local_arrays.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string>

namespace prepass {
namespace {

class LocalArrays {
 public:
  LocalArrays(const Structure& structure, const LexedFile& file) : s_(structure), file_(file) {
    for (std::size_t i = 0; i < s_.size(); ++i) {
      if (s_.is(i, "constexpr")) {
        for (std::size_t k = i + 1; k < s_.size() && !s_.is_any(k, {";", "(", ")"}); ++k) {
          if (s_.is_any(k + 1, {"=", "{"})) constants_.insert(s_.spelling(k));
        }
      }
      if (s_.is(i, "struct") && s_.is_identifier(i + 1) && s_.is(i + 2, "{")) {
        const std::set<std::string> members = members_of(i + 2);
        if (!members.empty()) structures_[s_.spelling(i + 1)] = members;
      }
    }
  }

  void search(std::size_t open, std::size_t close,
              std::map<std::size_t, std::vector<LocalArrayTokens>>* found) {
    for (std::size_t i = open + 1; i < close; ++i) {
      const bool begins_statement = s_.is_identifier(i) && s_.is_any(i - 1, {";", "{", "}"});
      if (s_.scope(i) != Scope::kBlock || !begins_statement) continue;
      if (const Declared one = read_structure(i); one.name != kNone) {
        const std::size_t last = end_of_statement(one.name);
        if (last < close && has_unknown_index_of_member(one, last)) {
          (*found)[last].push_back({one.name, true});
        }
        continue;
      }
      const std::size_t first_name = first_declared_name(i);
      if (first_name == kNone) continue;
      const std::size_t end = s_.end_of_declaration(first_name);
      if (end >= close || !s_.is(end, ";")) continue;
      for (const std::size_t name : array_names(first_name, end)) {
        const Use use = use_of(name, end);
        if (use == Use::kKnown) continue;
        LocalArrayTokens array{name, use == Use::kUnknown};
        if (can_be_guarded(i, first_name, name) && !may_be_jumped_over(i, open)) {
          array.type = i;
          array.type_end = first_name;
        }
        (*found)[end].push_back(array);
      }
    }
  }

 private:
  enum class Use { kKnown, kHandedOn, kUnknown };

  // The array members of a structure whose `{` stands at token `open`.
  std::set<std::string> members_of(std::size_t open) const {
    std::set<std::string> members;
    if (s_.match(open) == kNone) return members;
    for (std::size_t i = open + 1; i < s_.match(open); ++i) {
      if (s_.is(i, "{") || s_.is(i, "(")) i = s_.skip_brackets(i);
      if (s_.is_identifier(i) && s_.is(i + 1, "[")) members.insert(s_.spelling(i));
    }
    return members;
  }

  struct Declared {
    std::size_t name = kNone;  // kNone: it is something else
    std::set<std::string> arrays;
  };

  // `Ring last;`, `Ring last = ...;`, `struct {...} last;`: where the name stands, and which
  // members are arrays.
  Declared read_structure(std::size_t i) const {
    std::set<std::string> arrays;
    if (s_.is(i, "struct")) ++i;
    const std::size_t open = s_.is(i - 1, "struct") && !s_.is(i, "{") ? i + 1 : i;
    if (s_.is(i - 1, "struct") && s_.is(open, "{") && s_.match(open) != kNone) {
      arrays = members_of(open);
      i = s_.match(open);
    } else if (structures_.count(s_.spelling(i)) > 0) {
      arrays = structures_.at(s_.spelling(i));
    }
    const bool is_one =
        !arrays.empty() && s_.is_identifier(i + 1) && s_.is_any(i + 2, {";", "=", "{"});
    return is_one ? Declared{i + 1, arrays} : Declared{};
  }

  // last.value[k % window], in the block after the declaration
  bool has_unknown_index_of_member(const Declared& one, std::size_t declared) const {
    const std::string word = s_.spelling(one.name);
    const std::size_t end = end_of_block(declared + 1);
    for (std::size_t i = declared + 1; i < end; ++i) {
      if (names(i, word) && s_.is(i + 1, ".") && one.arrays.count(s_.spelling(i + 2)) != 0 &&
          has_unknown_index(i + 3, i)) {
        return true;
      }
    }
    return false;
  }

  // Token i is this name, and not that of a member or of something in a namespace.
  bool names(std::size_t i, const std::string& word) const {
    return s_.is(i, word.c_str()) && !s_.is_any(i - 1, {".", "->", "::"});
  }

  // In one of the [...] that begin at token i; the array stands at `at`.
  bool has_unknown_index(std::size_t i, std::size_t at) const {
    for (; s_.is(i, "[") && s_.match(i) != kNone; i = s_.match(i) + 1) {
      if (!are_known(i + 1, s_.match(i), at)) return true;
    }
    return false;
  }

  // T name[...] ... ;   The first declarator's name; kNone where something else begins.
  std::size_t first_declared_name(std::size_t i) const {
    if (s_.is_any(i, {"return", "if",         "for",           "while",  "do",       "switch",
                      "case",   "default",    "else",          "goto",   "break",    "continue",
                      "using",  "typedef",    "static",        "extern", "const",    "constexpr",
                      "struct", "class",      "union",         "enum",   "template", "delete",
                      "throw",  "__shared__", "static_assert", "asm",    "auto"})) {
      return kNone;
    }
    bool has_type = false;
    for (;; ++i) {
      if (const std::size_t behind = s_.skip_attribute(i); behind != i) {
        i = behind - 1;
      } else if (s_.is(i, "<") && has_type) {
        i = s_.match_angle(i);
        if (i == kNone) return kNone;
      } else if (s_.is_any(i, {"const", "constexpr", "static", "__shared__"})) {
        return kNone;
      } else if (s_.is_identifier(i)) {
        const bool is_name = has_type && !s_.is(i - 1, "::") && !s_.is_identifier(i + 1) &&
                             !s_.is_any(i + 1, {"::", "<", "*"});
        if (is_name) break;
        has_type = has_type || !s_.is_any(i, {"volatile", "typename"});
      } else if (!s_.is_any(i, {"::", "*"}) || (s_.is(i, "*") && !has_type)) {
        return kNone;
      }
    }
    return s_.is_any(i + 1, {"[", "=", ",", "{"}) ? i : kNone;
  }

  std::vector<std::size_t> array_names(std::size_t first, std::size_t end) const {
    std::vector<std::size_t> names;
    bool begins = true;
    for (std::size_t i = first; i < end; i = s_.skip_brackets(i) + 1) {
      if (begins && s_.is_identifier(i) && s_.is(i + 1, "[")) names.push_back(i);
      if (!s_.is(i, "*")) begins = s_.is(i, ",");
    }
    return names;
  }

  // Whether the type can be said in other words: T name[4], with no attribute and no `[]`.
  bool can_be_guarded(std::size_t type, std::size_t first_name, std::size_t name) const {
    const bool is_plain = name == first_name || s_.is(name - 1, ",");
    return is_plain && !s_.has_any(type, first_name, {"(", "["}) && !s_.is(name + 2, "]") &&
           s_.match(name + 1) != kNone;
  }

  // No jump may pass a variable with a destructor.
  bool may_be_jumped_over(std::size_t i, std::size_t body) const {
    for (std::size_t k = body; k < s_.match(body); ++k) {
      if (s_.is(k, "goto")) return true;
      if (!s_.is(k, "switch") || !s_.is(k + 1, "(") || s_.match(k + 1) == kNone) continue;
      const std::size_t cases = s_.match(k + 1) + 1;
      if (cases < i && s_.is(cases, "{") && end_of_block(i) == s_.match(cases)) return true;
    }
    return false;
  }

  // How many [...] follow on token i.
  int subscripts(std::size_t i) const {
    int count = 0;
    for (++i; s_.is(i, "[") && s_.match(i) != kNone; i = s_.match(i) + 1) ++count;
    return count;
  }

  // The `}` of the block that token i stands in.
  std::size_t end_of_block(std::size_t i) const {
    for (; i < s_.size(); ++i) {
      if (s_.is(i, "}")) return i;
      if (s_.is(i, "{")) i = s_.skip_brackets(i);
    }
    return i;
  }

  Use use_of(std::size_t name, std::size_t declared) const {
    const std::string word = s_.spelling(name);
    const std::size_t end = end_of_block(declared + 1);
    Use use = Use::kKnown;
    for (std::size_t i = name + 1; i < end; ++i) {
      if (!names(i, word)) continue;
      if (!s_.is(i + 1, "[")) {
        if (is_walked(i, end)) return Use::kUnknown;
        const bool is_harmless = (s_.is(i - 1, "(") && s_.is(i - 2, "sizeof")) ||
                                 (s_.is(i - 1, ":") && s_.is(i + 1, ")"));  // for (float& v : name)
        if (!is_harmless) use = Use::kHandedOn;
        continue;
      }
      if (has_unknown_index(i + 1, i)) return Use::kUnknown;
      // &name[2], or a row of more than one dimension.
      const bool is_address =
          s_.is(i - 1, "&") && s_.is_any(i - 2, {"=", "(", ",", "return", "{", "?", ":", ";"});
      if (is_address || subscripts(i) < subscripts(name)) use = Use::kHandedOn;
    }
    return use;
  }

  // int* at = name; which moves on later, by a step that only the running program knows. A pointer
  // that is the counter of a loop may be unrolled.
  bool is_walked(std::size_t use, std::size_t end) const {
    const std::size_t pointer = use - 2;
    if (!s_.is(use - 1, "=") || !s_.is_identifier(pointer) || !s_.is(pointer - 1, "*"))
      return false;
    if (opening_of_for(use) != kNone) return false;
    const std::string word = s_.spelling(pointer);
    for (std::size_t i = use + 1; i < end; ++i) {
      if (!names(i, word)) continue;
      if (s_.is_any(i + 1, {"++", "--", "+=", "-=", "="}) || s_.is_any(i - 1, {"++", "--"}))
        return true;
      if (s_.is(i + 1, "[") && s_.match(i + 1) != kNone && !are_known(i + 2, s_.match(i + 1), i)) {
        return true;
      }
    }
    return false;
  }

  // Whether nvcc knows the value of the expression [first, last), which stands at token `at`.
  // In the head of a loop its `counter` is known, and no member.
  bool are_known(std::size_t first, std::size_t last, std::size_t at, int depth = 0,
                 const std::string& counter = {}) const {
    for (std::size_t i = first; i < last; ++i) {
      if (s_.is_any(i, {"[", "->"}) || (s_.is(i, ".") && !counter.empty())) return false;
      if (!s_.is_identifier(i) || is_type(i) || s_.is(i, counter.c_str()) || s_.is(i + 1, "::")) {
        continue;
      }
      if (s_.is(i, "sizeof")) {
        i = s_.skip_brackets(i + 1);
      } else if (!is_known_name(i, at, depth)) {
        return false;
      }
    }
    return true;
  }

  bool is_known_name(std::size_t i, std::size_t at, int depth) const {
    const std::optional<bool> is_known = depth > 8 ? std::nullopt : is_variable_known(i, at, depth);
    if (!is_known.has_value()) return is_constant(i);
    return *is_known || constants_.count(s_.spelling(i)) != 0;
  }

  bool is_type(std::size_t i) const {
    return s_.is_any(
        i, {"static_cast", "int", "unsigned", "long", "short", "char", "size_t", "std", "const"});
  }

  // kWords, WORDS, or declared constexpr.
  bool is_constant(std::size_t i) const {
    const std::string word = s_.spelling(i);
    if (constants_.count(word) != 0) return true;
    if (word[0] == 'k' && std::isupper(static_cast<unsigned char>(word[1])) != 0) return true;
    return std::none_of(word.begin(), word.end(),
                        [](unsigned char c) { return std::islower(c) != 0; });
  }

  // Known is the counter of a loop around `at` that nvcc can unroll, or a const whose value is
  // known. Nothing is returned where no such variable is declared in the function.
  std::optional<bool> is_variable_known(std::size_t i, std::size_t at, int depth) const {
    const std::string word = s_.spelling(i);
    for (std::size_t k = at; k-- > 0;) {
      if (s_.scope(k) == Scope::kNamespace) return std::nullopt;
      if (s_.is(k, "}")) {
        // What was declared in a block that has ended is not seen here.
        if (s_.match(k) != kNone) k = s_.match(k);
        continue;
      }
      const bool is_declared = names(k, word) && s_.is_identifier(k - 1) &&
                               !s_.is(k - 1, "return") && s_.is_any(k + 1, {"=", "{"});
      if (!is_declared) continue;
      const std::size_t open = opening_of_for(k);
      std::size_t last = k + 1;
      while (last < s_.size() && !s_.is_any(last, {";", ","})) last = s_.skip_brackets(last) + 1;
      return open != kNone ? can_unroll(open, k, at, depth)
                           : is_declared_const(k) && are_known(k + 2, last, k, depth + 1);
    }
    return std::nullopt;
  }

  bool is_declared_const(std::size_t i) const {
    for (std::size_t k = i; k-- > 0 && !s_.is_any(k, {";", "{", "}", "("});) {
      if (s_.is_any(k, {"const", "constexpr"})) return true;
    }
    return false;
  }

  // The `(` of `for (` when token i stands in the first part of its head.
  std::size_t opening_of_for(std::size_t i) const {
    const std::size_t open = s_.parenthesis_around(i);
    return open != kNone && s_.is(open - 1, "for") ? open : kNone;
  }

  // for (int counter = known; counter < known; ++counter), around `at`, and no pragma forbids it.
  bool can_unroll(std::size_t open, std::size_t counter, std::size_t at, int depth) const {
    const std::size_t close = s_.match(open);
    if (close == kNone || at < open || at > end_of_statement(close + 1)) return false;
    if (is_forbidden(open - 1)) return false;
    return are_known(counter + 1, close, open - 1, depth + 1, s_.spelling(counter));
  }

  std::size_t end_of_statement(std::size_t i) const {
    if (s_.is(i, "{")) return s_.match(i) != kNone ? s_.match(i) : i;
    if (s_.is_any(i, {"for", "while", "if", "switch"})) {
      std::size_t open = i + 1;
      if (s_.is(open, "constexpr")) ++open;
      if (!s_.is(open, "(") || s_.match(open) == kNone) return i;
      std::size_t end = end_of_statement(s_.match(open) + 1);
      if (s_.is(end + 1, "else")) end = end_of_statement(end + 2);
      return end;
    }
    while (i < s_.size() && !s_.is_any(i, {";", "}"})) i = s_.skip_brackets(i) + 1;
    return i;
  }

  // `#pragma unroll 1` stands before the loop.
  bool is_forbidden(std::size_t loop) const {
    for (const Directive& directive : file_.directives) {
      if (directive.token_index != loop || directive.kind != Directive::kOther) continue;
      const std::string text = file_.text.substr(directive.begin, directive.end - directive.begin);
      const std::size_t at = text.find("unroll");
      if (at == std::string::npos || text.find("pragma") == std::string::npos) continue;
      const std::size_t digit = text.find_first_not_of(" \t(", at + 6);
      const bool is_one = digit != std::string::npos && text[digit] == '1' &&
                          std::isdigit(static_cast<unsigned char>(text[digit + 1])) == 0;
      if (is_one) return true;
    }
    return false;
  }

  const Structure& s_;
  const LexedFile& file_;
  std::set<std::string> constants_;
  std::map<std::string, std::set<std::string>> structures_;  // the members that are arrays
};

}  // namespace

std::map<std::size_t, std::vector<LocalArrayTokens>> find_local_arrays(
    const Structure& structure, const LexedFile& file,
    const std::vector<std::pair<std::size_t, std::size_t>>& bodies) {
  std::map<std::size_t, std::vector<LocalArrayTokens>> found;
  if (bodies.empty()) return found;
  LocalArrays arrays(structure, file);
  for (const auto& [open, close] : bodies) arrays.search(open, close, &found);
  return found;
}

}  // namespace prepass
