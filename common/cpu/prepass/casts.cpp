// SPDX-License-Identifier: MIT
#include "casts.h"

namespace prepass {
namespace {

/// What stands before a `(` that begins an expression. After other names it is a call or a
/// declaration, and `sizeof` may be followed by a type alone.
bool begins_operand(const Structure& s, std::size_t open) {
  if (open == 0) return true;
  const std::size_t before = open - 1;
  if (s.is_identifier(before)) {
    return s.is_any(before, {"return", "else", "do", "case", "throw", "and", "or", "not"});
  }
  return !s.is_any(before, {")", "]", ">", "##", "#"});
}

/// `(T*)`, `(const ns::V<int>* __restrict__)`: nothing but a type can read like that. The index of
/// its `)`, or kNone.
std::size_t end_of_pointer_type(const Structure& s, std::size_t open) {
  if (!s.is(open, "(") || s.match(open) == kNone) return kNone;
  const std::size_t close = s.match(open);
  bool has_name = false, has_star = false;
  for (std::size_t i = open + 1; i < close; ++i) {
    if (s.is(i, "*")) {
      if (!has_name) return kNone;
      has_star = true;
    } else if (s.is(i, "<")) {
      i = has_name ? s.match_angle(i) : kNone;
      if (i > close) return kNone;
    } else if (s.is_identifier(i)) {
      // After the first `*` only qualifiers follow; `a * b` is a product.
      if (has_star && !s.is_any(i, {"const", "volatile", "__restrict__", "__restrict"})) {
        return kNone;
      }
      has_name = true;
    } else if (!s.is(i, "::")) {
      return kNone;
    }
  }
  return has_star ? close : kNone;
}

std::size_t end_of_named_cast(const Structure& s, std::size_t i) {
  const std::size_t close = s.match_angle(i + 1);
  return close != kNone && s.is(close + 1, "(") ? s.match(close + 1) : kNone;
}

/// The last token of the unary expression that begins at token i; kNone when it is not plain.
std::size_t end_of_operand(const Structure& s, std::size_t i) {
  while (s.is_any(i, {"&", "*", "+", "-", "~", "!", "++", "--"})) ++i;
  if (i >= s.size()) return kNone;
  if (const std::size_t type = end_of_pointer_type(s, i); type != kNone) {
    return end_of_operand(s, type + 1);
  }
  std::size_t last = i;
  if (s.is(i, "(")) {
    last = s.match(i);
    if (last == kNone) return kNone;
    // (uintptr_t)p: a cast to something else.
    if (s.is_identifier(last + 1)) return end_of_operand(s, last + 1);
  } else if (s.is_identifier(i)) {
    if (s.is_any(i, {"const", "noexcept", "override", "final", "volatile", "requires", "sizeof",
                     "alignof", "new", "co_await"})) {
      return kNone;
    }
  } else if (s.is(i, "::")) {
    last = i + 1;
  } else if (s.token(i).kind == Token::kPunctuation) {
    return kNone;
  }
  for (;;) {
    const std::size_t next = last + 1;
    if (s.is(next, "(") || s.is(next, "[")) {
      if (s.match(next) == kNone) return kNone;
      last = s.match(next);
    } else if (s.is_any(next, {".", "->", "::"}) && s.is_identifier(next + 1)) {
      last = next + 1;
    } else if (s.is(next, "<") && s.is_identifier(last)) {
      const std::size_t close = s.match_angle(next);
      if (close == kNone || !s.is_any(close + 1, {"(", "::"})) return last;
      last = close;
    } else if (s.is_any(next, {"++", "--"})) {
      last = next;
    } else {
      return last;
    }
  }
}

}  // namespace

std::size_t end_of_cast(const Structure& s, std::size_t i) {
  if (s.is(i, "reinterpret_cast")) return end_of_named_cast(s, i);
  if (s.is(i, "static_cast")) {
    const std::size_t close = s.match_angle(i + 1);
    return close != kNone && s.is(close - 1, "*") ? end_of_named_cast(s, i) : kNone;
  }
  if (!begins_operand(s, i)) return kNone;
  const std::size_t close = end_of_pointer_type(s, i);
  return close == kNone ? kNone : end_of_operand(s, close + 1);
}

}  // namespace prepass
