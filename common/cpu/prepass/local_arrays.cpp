// SPDX-License-Identifier: MIT
#include "local_arrays.h"

#include <cctype>
#include <initializer_list>
#include <set>
#include <string>

namespace prepass {
namespace {

class LocalArrays {
 public:
  LocalArrays(const Structure& structure, const LexedFile& file) : s_(structure), file_(file) {
    for (std::size_t i = 0; i < s_.size(); ++i) {
      if (!s_.is(i, "constexpr")) continue;
      for (std::size_t k = i + 1; k < s_.size() && !s_.is_any(k, {";", "(", ")"}); ++k) {
        if (s_.is_any(k + 1, {"=", "{"})) constants_.insert(s_.spelling(k));
      }
    }
    for (std::size_t i = 0; i < s_.size(); ++i) {
      if (s_.is(i, "struct") && s_.is_identifier(i + 1) && s_.is(i + 2, "{")) {
        note_members(s_.spelling(i + 1), i + 2);
      }
    }
  }

  void search(std::size_t open, std::size_t close,
              std::map<std::size_t, std::vector<LocalArrayTokens>>* found) {
    for (std::size_t i = open + 1; i < close; ++i) {
      if (s_.scope(i) != Scope::kBlock || !begins_statement(i)) continue;
      std::size_t first_name = kNone, end = kNone;
      if (const Declared one = read_structure(i); one.name != kNone) {
        const std::size_t last = end_of_statement(one.name);
        if (last < close && use_of_members(one.name, last, one.arrays) == Use::kUnknown) {
          (*found)[last].push_back({one.name, true});
        }
        continue;
      }
      if (!read_declaration(i, &first_name, &end) || end >= close) continue;
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

  std::size_t skip_brackets(std::size_t i) const {
    const bool opens = s_.is(i, "(") || s_.is(i, "[") || s_.is(i, "{");
    return opens && s_.match(i) != kNone ? s_.match(i) : i;
  }

  // The array members of a structure whose `{` stands at token `open`.
  std::set<std::string> members_of(std::size_t open) const {
    std::set<std::string> members;
    if (s_.match(open) == kNone) return members;
    for (std::size_t i = open + 1; i < s_.match(open); ++i) {
      if (s_.is(i, "{") || s_.is(i, "(")) i = skip_brackets(i);
      if (s_.is_identifier(i) && s_.is(i + 1, "[")) members.insert(s_.spelling(i));
    }
    return members;
  }

  void note_members(const std::string& type, std::size_t open) {
    const std::set<std::string> members = members_of(open);
    if (!members.empty()) structures_[type] = members;
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

  // As of an array: last.value[k % window]
  Use use_of_members(std::size_t name, std::size_t declared,
                     const std::set<std::string>& members) const {
    const std::string word = s_.spelling(name);
    const std::size_t end = end_of_block(declared + 1);
    for (std::size_t i = declared + 1; i < end; ++i) {
      if (!s_.is(i, word.c_str()) || s_.is_any(i - 1, {".", "->", "::"}) || !s_.is(i + 1, ".") ||
          members.count(s_.spelling(i + 2)) == 0) {
        continue;
      }
      for (std::size_t k = i + 3; s_.is(k, "[") && s_.match(k) != kNone; k = s_.match(k) + 1) {
        if (!are_known(k + 1, s_.match(k), i)) return Use::kUnknown;
      }
    }
    return Use::kKnown;
  }

  bool begins_statement(std::size_t i) const {
    return s_.is_any(i - 1, {";", "{", "}"}) && s_.is_identifier(i);
  }

  // T name[...] ... ;   `first_name`: the first declarator's.
  bool read_declaration(std::size_t i, std::size_t* first_name, std::size_t* end) const {
    if (s_.is_any(i, {"return", "if",         "for",           "while",  "do",       "switch",
                      "case",   "default",    "else",          "goto",   "break",    "continue",
                      "using",  "typedef",    "static",        "extern", "const",    "constexpr",
                      "struct", "class",      "union",         "enum",   "template", "delete",
                      "throw",  "__shared__", "static_assert", "asm",    "auto"})) {
      return false;
    }
    bool has_type = false;
    for (;; ++i) {
      if (const std::size_t behind = s_.skip_attribute(i); behind != i) {
        i = behind - 1;
      } else if (s_.is(i, "<") && has_type) {
        const std::size_t behind = s_.skip_angles(i);
        if (behind == kNone) return false;
        i = behind - 1;
      } else if (s_.is_any(i, {"const", "constexpr", "static", "__shared__"})) {
        return false;
      } else if (s_.is_identifier(i)) {
        const bool is_name = has_type && !s_.is(i - 1, "::") && !is_part_of_type(i + 1);
        if (is_name) break;
        has_type = has_type || !s_.is_any(i, {"volatile", "typename"});
      } else if (!s_.is_any(i, {"::", "*"}) || (s_.is(i, "*") && !has_type)) {
        return false;
      }
    }
    if (!s_.is_any(i + 1, {"[", "=", ",", "{"})) return false;
    *first_name = i;
    std::size_t last = i;
    while (last < s_.size() && !s_.is_any(last, {";", ")", "]", "}"})) {
      last = skip_brackets(last) + 1;
    }
    *end = last;
    return s_.is(last, ";");
  }

  bool is_part_of_type(std::size_t i) const {
    return s_.is_identifier(i) || s_.is_any(i, {"::", "<", "*"});
  }

  std::vector<std::size_t> array_names(std::size_t first, std::size_t end) const {
    std::vector<std::size_t> names;
    bool begins = true;
    for (std::size_t i = first; i < end; i = skip_brackets(i) + 1) {
      if (begins && s_.is_identifier(i) && s_.is(i + 1, "[")) names.push_back(i);
      if (!s_.is(i, "*")) begins = s_.is(i, ",");
    }
    return names;
  }

  // Whether the type can be said in other words: T name[4], with no attribute and no `[]`.
  bool can_be_guarded(std::size_t type, std::size_t first_name, std::size_t name) const {
    for (std::size_t i = type; i < first_name; ++i) {
      if (s_.is_any(i, {"(", "["})) return false;
    }
    const bool is_plain = name == first_name || s_.is(name - 1, ",");
    return is_plain && !s_.is(name + 2, "]") && s_.match(name + 1) != kNone;
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

  bool is_address(std::size_t name) const {
    return s_.is(name - 1, "&") &&
           s_.is_any(name - 2, {"=", "(", ",", "return", "{", "?", ":", ";"});
  }

  // The `}` of the block that token i stands in.
  std::size_t end_of_block(std::size_t i) const {
    for (; i < s_.size(); ++i) {
      if (s_.is(i, "}")) return i;
      if (s_.is(i, "{")) i = skip_brackets(i);
    }
    return i;
  }

  Use use_of(std::size_t name, std::size_t declared) const {
    const std::string word = s_.spelling(name);
    const std::size_t end = end_of_block(declared + 1);
    Use use = Use::kKnown;
    for (std::size_t i = name + 1; i < end; ++i) {
      if (!s_.is(i, word.c_str()) || s_.is_any(i - 1, {".", "->", "::"})) continue;
      if (!s_.is(i + 1, "[")) {
        if (is_walked(i, end)) return Use::kUnknown;
        const bool is_harmless = (s_.is(i - 1, "(") && s_.is(i - 2, "sizeof")) ||
                                 (s_.is(i - 1, ":") && s_.is(i + 1, ")"));  // for (float& v : name)
        if (!is_harmless) use = Use::kHandedOn;
        continue;
      }
      std::size_t k = i + 1;
      for (; s_.is(k, "[") && s_.match(k) != kNone; k = s_.match(k) + 1) {
        if (!are_known(k + 1, s_.match(k), i)) return Use::kUnknown;
      }
      // &name[2], or a row of more than one dimension.
      if (is_address(i) || subscripts(i) < subscripts(name)) use = Use::kHandedOn;
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
      if (!s_.is(i, word.c_str()) || s_.is_any(i - 1, {".", "->", "::"})) continue;
      if (s_.is_any(i + 1, {"++", "--", "+=", "-=", "="}) || s_.is_any(i - 1, {"++", "--"}))
        return true;
      if (s_.is(i + 1, "[") && s_.match(i + 1) != kNone && !are_known(i + 2, s_.match(i + 1), i)) {
        return true;
      }
    }
    return false;
  }

  // Whether nvcc knows the value of the expression [first, last), which stands at token `at`.
  bool are_known(std::size_t first, std::size_t last, std::size_t at, int depth = 0) const {
    for (std::size_t i = first; i < last; ++i) {
      if (s_.is_any(i, {"[", "->"})) return false;
      if (!s_.is_identifier(i) || is_type(i) || s_.is(i + 1, "::")) continue;
      if (s_.is(i, "sizeof")) {
        i = skip_brackets(i + 1);
      } else if (!is_known_name(i, at, depth)) {
        return false;
      }
    }
    return true;
  }

  bool is_known_name(std::size_t i, std::size_t at, int depth) const {
    if (depth > 8) return is_constant(i);
    switch (variable(i, at, depth)) {
      case Variable::kKnown:
        return true;
      case Variable::kUnknown:
        return constants_.count(s_.spelling(i)) != 0;
      case Variable::kNone:
        return is_constant(i);
    }
    return false;
  }

  bool is_type(std::size_t i) const {
    return s_.is_any(
        i, {"static_cast", "int", "unsigned", "long", "short", "char", "size_t", "std", "const"});
  }

  // kWords, WORDS, or declared constexpr.
  bool is_constant(std::size_t i) const {
    const std::string word = s_.spelling(i);
    if (constants_.count(word) != 0) return true;
    const auto is_upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
    if (word.size() > 1 && word[0] == 'k' && is_upper(word[1])) return true;
    for (const char c : word) {
      if (std::islower(static_cast<unsigned char>(c)) != 0) return false;
    }
    return true;
  }

  enum class Variable { kKnown, kUnknown, kNone };

  // Known: the counter of a loop around `at` that nvcc can unroll, or a const whose value is known.
  // None: no such variable is declared in the function.
  Variable variable(std::size_t i, std::size_t at, int depth) const {
    const std::string word = s_.spelling(i);
    for (std::size_t k = at; k-- > 0;) {
      if (s_.scope(k) == Scope::kNamespace) return Variable::kNone;
      if (s_.is(k, "}")) {
        // What was declared in a block that has ended is not seen here.
        if (s_.match(k) != kNone) k = s_.match(k);
        continue;
      }
      if (!s_.is(k, word.c_str()) || k == 0 || s_.is_any(k - 1, {".", "->", "::"})) continue;
      const bool is_declared =
          s_.is_identifier(k - 1) && !s_.is(k - 1, "return") && s_.is_any(k + 1, {"=", "{"});
      if (!is_declared) continue;
      const std::size_t open = opening_of_for(k);
      if (open != kNone)
        return can_unroll(open, k, at, depth) ? Variable::kKnown : Variable::kUnknown;
      std::size_t last = k + 1;
      while (last < s_.size() && !s_.is_any(last, {";", ","})) last = skip_brackets(last) + 1;
      return is_declared_const(k) && are_known(k + 2, last, k, depth + 1) ? Variable::kKnown
                                                                          : Variable::kUnknown;
    }
    return Variable::kNone;
  }

  bool is_declared_const(std::size_t i) const {
    for (std::size_t k = i; k-- > 0 && !s_.is_any(k, {";", "{", "}", "("});) {
      if (s_.is_any(k, {"const", "constexpr"})) return true;
    }
    return false;
  }

  // The `(` of `for (` when token i stands in the first part of its head.
  std::size_t opening_of_for(std::size_t i) const {
    for (std::size_t k = i; k-- > 0 && !s_.is_any(k, {";", "{", "}"});) {
      if (s_.is(k, ")")) {
        if (s_.match(k) == kNone) return kNone;
        k = s_.match(k);
      } else if (s_.is(k, "(")) {
        return k > 0 && s_.is(k - 1, "for") ? k : kNone;
      }
    }
    return kNone;
  }

  // for (int counter = known; counter < known; ++counter), around `at`, and no pragma forbids it.
  bool can_unroll(std::size_t open, std::size_t counter, std::size_t at, int depth) const {
    const std::size_t close = s_.match(open);
    if (close == kNone || at < open || at > end_of_statement(close + 1)) return false;
    if (is_forbidden(open - 1)) return false;
    const std::string word = s_.spelling(counter);
    for (std::size_t i = counter + 1; i < close; ++i) {
      if (s_.is_any(i, {"[", "->", "."})) return false;
      if (!s_.is_identifier(i) || is_type(i) || s_.is(i, word.c_str()) || s_.is(i + 1, "::"))
        continue;
      if (s_.is(i, "sizeof")) {
        i = skip_brackets(i + 1);
      } else if (!is_known_name(i, open - 1, depth + 1)) {
        return false;
      }
    }
    return true;
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
    while (i < s_.size() && !s_.is_any(i, {";", "}"})) i = skip_brackets(i) + 1;
    return i;
  }

  // `#pragma unroll 1` stands before the loop.
  bool is_forbidden(std::size_t loop) const {
    for (const Directive& directive : file_.directives) {
      if (directive.token_index != loop || directive.kind != Directive::kOther) continue;
      std::string text = file_.text.substr(directive.begin, directive.end - directive.begin);
      const std::size_t at = text.find("unroll");
      if (at == std::string::npos || text.find("pragma") == std::string::npos) continue;
      text = text.substr(at + 6);
      const std::size_t digit = text.find_first_not_of(" \t(");
      const bool is_one = digit != std::string::npos && text[digit] == '1' &&
                          (digit + 1 == text.size() ||
                           std::isdigit(static_cast<unsigned char>(text[digit + 1])) == 0);
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
