// SPDX-License-Identifier: MIT
#include "structure.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace prepass {
namespace {

char closing_of(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

// An expression begins after these words, so a `[` after them begins a lambda.
bool is_expression_keyword(const std::string& word) {
  static const std::set<std::string> kWords = {"return",   "case",     "else", "do",
                                               "throw",    "co_await", "and",  "co_return",
                                               "co_yield", "or",       "not",  "xor"};
  return kWords.count(word) != 0;
}

}  // namespace

Structure::Structure(const LexedFile& file, const std::vector<Token>& tokens,
                     const std::vector<Directive>* directives, Scope outermost)
    : file_(file),
      tokens_(tokens),
      outermost_(outermost),
      match_(tokens.size(), kNone),
      scope_(tokens.size(), outermost),
      opened_(tokens.size(), outermost),
      head_(tokens.size(), 0) {
  match_brackets(directives);
}

bool Structure::is(std::size_t i, const char* text) const {
  if (i >= size()) return false;
  const Token& token = tokens_[i];
  const std::size_t length = std::strlen(text);
  if (!file_.names_of_shared.empty() && file_.spelling(token) == "__shared__") {
    return std::strcmp(text, "__shared__") == 0;
  }
  return token.end - token.begin == length &&
         file_.text.compare(token.begin, length, text, length) == 0;
}

void Structure::match_brackets(const std::vector<Directive>* directives) {
  struct Conditional {
    Stack before;
    std::size_t head_before;
    std::vector<Stack> branches;  // the stack at the end of each
  };
  Stack stack;
  std::vector<Conditional> conditionals;
  std::size_t head = 0;
  std::size_t next_directive = 0;
  const std::size_t directive_count = directives != nullptr ? directives->size() : 0;

  // Every branch of an #if starts from the same open brackets. Where the branches leave different
  // ones open, these count as alternatives.
  const auto apply_directives = [&](std::size_t token_index) {
    while (next_directive < directive_count &&
           (*directives)[next_directive].token_index <= token_index) {
      const Directive& directive = (*directives)[next_directive++];
      if (directive.discarded) continue;
      if (directive.kind == Directive::kIf) {
        conditionals.push_back({stack, head, {}});
      } else if (directive.kind == Directive::kElse && !conditionals.empty()) {
        conditionals.back().branches.push_back(stack);
        stack = conditionals.back().before;
        head = conditionals.back().head_before;
      } else if (directive.kind == Directive::kEndif && !conditionals.empty()) {
        std::vector<Stack> branches = std::move(conditionals.back().branches);
        conditionals.pop_back();
        if (branches.empty()) continue;
        branches.push_back(stack);
        stack = branches.front();
        for (const Stack& branch : branches) {
          if (branch.size() != stack.size()) continue;
          for (std::size_t level = 0; level < stack.size(); ++level) {
            for (const std::size_t position : branch[level].positions) {
              std::vector<std::size_t>& known = stack[level].positions;
              if (std::find(known.begin(), known.end(), position) == known.end()) {
                known.push_back(position);
              }
            }
          }
        }
      }
    }
  };

  for (std::size_t i = 0; i < size(); ++i) {
    apply_directives(i);
    Scope scope = stack.empty() ? outermost_ : stack.back().inner;
    scope_[i] = scope;
    head_[i] = head;
    if (tokens_[i].kind != Token::kPunctuation || tokens_[i].end - tokens_[i].begin != 1) continue;
    const char c = file_.text[tokens_[i].begin];
    switch (c) {
      case '(':
      case '[':
        opened_[i] = scope;
        stack.push_back({{i}, c, scope, head});
        break;
      case '{':
        opened_[i] = classify_brace(head, i, scope);
        stack.push_back({{i}, c, opened_[i], head});
        head = i + 1;
        break;
      case ')':
      case ']':
      case '}': {
        if (stack.empty() || closing_of(stack.back().bracket) != c) break;
        const Open open = std::move(stack.back());
        stack.pop_back();
        for (const std::size_t position : open.positions) match_[position] = i;
        match_[i] = open.positions.front();
        // Both ends of a pair of brackets stand in the scope around it.
        scope_[i] = scope_[match_[i]];
        head_[i] = open.outer_head;
        const bool ends_statement = c == '}' && (stack.empty() || stack.back().bracket == '{');
        if (ends_statement) {
          head = i + 1;
        } else {
          head = open.outer_head;
        }
        break;
      }
      case ';':
        if (stack.empty() || stack.back().bracket == '{') head = i + 1;
        break;
      default:
        break;
    }
  }
}

Scope Structure::classify_brace(std::size_t head, std::size_t brace, Scope outer) const {
  bool is_class = false;
  for (std::size_t i = head; i < brace; ++i) {
    if (is(i, "namespace")) return Scope::kNamespace;
    if (is(i, "extern") && i + 2 == brace && tokens_[i + 1].kind == Token::kString) {
      return Scope::kNamespace;
    }
    if (is(i, "enum")) return Scope::kBlock;
    if (is(i, "template") && is(i + 1, "<")) {
      const std::size_t behind = skip_angles(i + 1);
      if (behind != kNone) i = behind - 1;
      continue;
    }
    const std::size_t behind = skip_attribute(i);
    if (behind != i && behind <= brace) {
      i = behind - 1;
      continue;
    }
    if (is(i, "class") || is(i, "struct") || is(i, "union")) {
      is_class = true;
    } else if (is(i, ":") && is_class) {
      break;  // the base classes may contain anything
    } else if (is(i, "(") || is(i, "=")) {
      is_class = false;
      break;
    }
  }
  if (is_class) return Scope::kClass;
  return outer == Scope::kMacro ? Scope::kMacro : Scope::kBlock;
}

std::size_t Structure::skip_angles(std::size_t i) const {
  int depth = 0;
  while (i < size()) {
    if (is(i, "<")) {
      ++depth;
    } else if (is(i, ">")) {
      if (--depth == 0) return i + 1;
    } else if (is(i, "(") || is(i, "[") || is(i, "{")) {
      if (match_[i] != kNone) {
        i = match_[i];
      } else {
        // Not matched yet while brackets are still being matched: count it out.
        int open = 0;
        for (; i < size(); ++i) {
          if (is(i, "(") || is(i, "[") || is(i, "{")) ++open;
          if ((is(i, ")") || is(i, "]") || is(i, "}")) && --open == 0) break;
        }
      }
    } else if (is(i, ";") || is(i, ")") || is(i, "]") || is(i, "}")) {
      return kNone;
    }
    ++i;
  }
  return kNone;
}

std::size_t Structure::match_angle_backwards(std::size_t i) const {
  int depth = 0;
  while (true) {
    if (is(i, ">")) {
      ++depth;
    } else if (is(i, "<")) {
      if (i > 0 && is(i - 1, "<") && adjacent(i)) {
        --i;  // a left shift among the arguments
      } else if (--depth == 0) {
        return i;
      }
    } else if (is(i, ")") || is(i, "]") || is(i, "}")) {
      if (match_[i] == kNone) return kNone;
      i = match_[i];
    } else if (is(i, ";") || is(i, "(") || is(i, "[") || is(i, "{")) {
      return kNone;
    }
    if (i == 0) return kNone;
    --i;
  }
}

std::size_t Structure::skip_attribute(std::size_t i) const {
  if (is(i, "[") && is(i + 1, "[") && adjacent(i + 1)) {
    return match_[i] != kNone ? match_[i] + 1 : i;
  }
  static const char* const kWithParentheses[] = {
      "alignas",  "__align__",         "__attribute__", "__launch_bounds__",
      "decltype", "__builtin_align__", "__declspec",    "__cluster_dims__",
      "typeof",   "__typeof__",        "noexcept"};
  for (const char* word : kWithParentheses) {
    if (is(i, word) && is(i + 1, "(") && match_[i + 1] != kNone) return match_[i + 1] + 1;
  }
  return i;
}

std::size_t Structure::name_begin(std::size_t i) const {
  while (i >= 2 && is(i - 1, "##")) i -= 2;
  return i;
}

std::size_t Structure::lambda_body(std::size_t i) const {
  if (!is(i, "[") || is(i + 1, "[") || match_[i] == kNone) return kNone;
  if (i > 0) {
    const Token& before = tokens_[i - 1];
    if (before.kind == Token::kIdentifier && !is_expression_keyword(spelling(i - 1))) return kNone;
    if (before.kind == Token::kString || is(i - 1, ")") || is(i - 1, "]") ||
        (is(i - 1, "[") && adjacent(i))) {
      return kNone;
    }
  }
  std::size_t at = match_[i] + 1;
  if (is(at, "<")) {
    at = skip_angles(at);
    if (at == kNone) return kNone;
  }
  while (at < size()) {
    if (is(at, "{")) return at;
    if (const std::size_t behind = skip_attribute(at); behind != at) {
      at = behind;
    } else if (is(at, "(")) {
      if (match_[at] == kNone) return kNone;
      at = match_[at] + 1;
    } else if (is(at, "<")) {
      at = skip_angles(at);
      if (at == kNone) return kNone;
    } else if (is_identifier(at) || is(at, "->") || is(at, "::") || is(at, "*") || is(at, "&") ||
               is(at, "&&")) {
      ++at;  // mutable, __device__, or part of the return type
    } else {
      return kNone;
    }
  }
  return kNone;
}

}  // namespace prepass
