// SPDX-License-Identifier: MIT
#include "structure.h"

#include <cstring>
#include <set>
#include <utility>

namespace prepass {

Structure::Structure(const LexedFile& file, const Directive* macro)
    : file_(file),
      tokens_(macro != nullptr ? macro->replacement : file.tokens),
      match_(size(), kNone),
      scope_(size()),
      opened_(size()),
      head_(size()) {
  struct Open {
    std::set<std::size_t> positions;  // several when #if branches each have such a bracket
    char closing;
    Scope inner;
    std::size_t outer_head;
  };
  using Stack = std::vector<Open>;
  struct Conditional {
    Stack before;
    std::size_t head_before;
    std::vector<Stack> branches;  // the stack at the end of each
  };
  Stack stack;
  std::vector<Conditional> conditionals;
  std::size_t head = 0;
  auto next_directive = macro != nullptr ? file.directives.end() : file.directives.begin();

  // Every branch of an #if starts from the same open brackets. Where the branches leave different
  // ones open, these count as alternatives.
  const auto apply_directives = [&](std::size_t token_index) {
    while (next_directive != file.directives.end() && next_directive->token_index <= token_index) {
      const Directive& directive = *next_directive++;
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
        for (Stack& branch : branches) {
          if (branch.size() != stack.size()) continue;
          for (std::size_t level = 0; level < stack.size(); ++level) {
            stack[level].positions.merge(branch[level].positions);
          }
        }
      }
    }
  };

  for (std::size_t i = 0; i < size(); ++i) {
    apply_directives(i);
    const Scope outermost = macro != nullptr ? Scope::kMacro : Scope::kNamespace;
    const Scope scope = stack.empty() ? outermost : stack.back().inner;
    scope_[i] = scope;
    head_[i] = head;
    if (tokens_[i].kind != Token::kPunctuation || tokens_[i].end - tokens_[i].begin != 1) continue;
    const char c = file_.text[tokens_[i].begin];
    switch (c) {
      case '(':
      case '[':
        opened_[i] = scope;
        stack.push_back({{i}, c == '(' ? ')' : ']', scope, head});
        break;
      case '{':
        opened_[i] = classify_brace(head, i, scope);
        stack.push_back({{i}, '}', opened_[i], head});
        head = i + 1;
        break;
      case ')':
      case ']':
      case '}': {
        if (stack.empty() || stack.back().closing != c) break;
        const Open open = std::move(stack.back());
        stack.pop_back();
        for (const std::size_t position : open.positions) match_[position] = i;
        match_[i] = *open.positions.begin();
        // Both ends of a pair of brackets stand in the scope around it.
        scope_[i] = scope_[match_[i]];
        head_[i] = open.outer_head;
        const bool ends_statement = c == '}' && (stack.empty() || stack.back().closing == '}');
        head = ends_statement ? i + 1 : open.outer_head;
        break;
      }
      case ';':
        if (stack.empty() || stack.back().closing == '}') head = i + 1;
        break;
      default:
        break;
    }
  }
}

bool Structure::is(std::size_t i, const char* text) const {
  if (i >= size()) return false;
  const Token& token = tokens_[i];
  const std::size_t length = std::strlen(text);
  if (!file_.words_of_macros.empty() && token.kind == Token::kIdentifier) {
    const auto known = file_.words_of_macros.find(file_.text_of(token));
    if (known != file_.words_of_macros.end()) return known->second == text;
  }
  return token.end - token.begin == length &&
         file_.text.compare(token.begin, length, text, length) == 0;
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
      i = skip_angles(i + 1);
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

std::size_t Structure::skip_brackets(std::size_t i) const {
  return is_any(i, {"(", "[", "{"}) && match_[i] != kNone ? match_[i] : i;
}

std::size_t Structure::match_angle(std::size_t i) const {
  if (!is(i, "<")) return kNone;
  int depth = 0;
  for (; i < size(); ++i) {
    if (is(i, "<")) {
      ++depth;
    } else if (is(i, ">")) {
      if (--depth == 0) return i;
    } else if (is_any(i, {"(", "[", "{"})) {
      if (match_[i] != kNone) {
        i = match_[i];
      } else {
        // Not matched yet while brackets are still being matched: count it out.
        int open = 0;
        for (; i < size(); ++i) {
          if (is_any(i, {"(", "[", "{"})) ++open;
          if (is_any(i, {")", "]", "}"}) && --open == 0) break;
        }
      }
    } else if (is_any(i, {";", ")", "]", "}"})) {
      return kNone;
    }
  }
  return kNone;
}

std::size_t Structure::skip_angles(std::size_t i) const {
  const std::size_t close = match_angle(i);
  return close != kNone ? close : i;
}

std::size_t Structure::match_angle_backwards(std::size_t i) const {
  int depth = 0;
  while (true) {
    if (is(i, ">")) {
      ++depth;
    } else if (is(i, "<")) {
      if (is(i - 1, "<") && adjacent(i)) {
        --i;  // a left shift among the arguments
      } else if (--depth == 0) {
        return i;
      }
    } else if (is_any(i, {")", "]", "}"})) {
      if (match_[i] == kNone) return kNone;
      i = match_[i];
    } else if (is_any(i, {";", "(", "[", "{"})) {
      return kNone;
    }
    if (i == 0) return kNone;
    --i;
  }
}

std::size_t Structure::end_of_declaration(std::size_t i) const {
  while (i < size() && !is_any(i, {";", ")", "]", "}"})) i = skip_brackets(i) + 1;
  return i;
}

std::size_t Structure::parenthesis_around(std::size_t i) const {
  while (i-- > 0 && !is_any(i, {";", "{", "}"})) {
    if (is(i, "(")) return i;
    if (is_any(i, {")", "]"}) && match_[i] != kNone) i = match_[i];
  }
  return kNone;
}

std::size_t Structure::skip_attribute(std::size_t i) const {
  if (is(i, "[") && is(i + 1, "[") && adjacent(i + 1)) {
    return match_[i] != kNone ? match_[i] + 1 : i;
  }
  const bool has_parentheses =
      is(i + 1, "(") && match_[i + 1] != kNone &&
      is_any(i, {"alignas", "__align__", "__attribute__", "__launch_bounds__", "decltype",
                 "__builtin_align__", "__declspec", "__cluster_dims__", "typeof", "__typeof__",
                 "noexcept"});
  return has_parentheses ? match_[i + 1] + 1 : i;
}

std::size_t Structure::name_begin(std::size_t i) const {
  while (i >= 2 && is(i - 1, "##")) i -= 2;
  return i;
}

std::size_t Structure::lambda_body(std::size_t i) const {
  if (!is(i, "[") || is(i + 1, "[") || match_[i] == kNone) return kNone;
  if (i > 0) {
    // After these words an expression begins.
    const bool is_operand = is_identifier(i - 1) &&
                            !is_any(i - 1, {"return", "case", "else", "do", "throw", "co_await",
                                            "and", "co_return", "co_yield", "or", "not", "xor"});
    if (is_operand || tokens_[i - 1].kind == Token::kString || is_any(i - 1, {")", "]"}) ||
        (is(i - 1, "[") && adjacent(i))) {
      return kNone;
    }
  }
  for (std::size_t at = match_[i] + 1; at < size(); ++at) {
    if (is(at, "{")) return at;
    if (const std::size_t behind = skip_attribute(at); behind != at) {
      at = behind - 1;
    } else if (is_any(at, {"(", "<"})) {
      at = is(at, "(") ? match_[at] : match_angle(at);
      if (at == kNone) return kNone;
    } else if (!is_identifier(at) && !is_any(at, {"->", "::", "*", "&", "&&"})) {
      return kNone;  // else mutable, __device__, or part of the return type
    }
  }
  return kNone;
}

}  // namespace prepass
