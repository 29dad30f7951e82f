// SPDX-License-Identifier: MIT
// The structure of a run of tokens, as far as the pre-pass needs it: which brackets belong
// together, in which kind of scope a token stands, where its declaration or statement begins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "lexer.h"

namespace prepass {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

enum class Scope { kNamespace, kClass, kBlock, kMacro };

class Structure {
 public:
  /// Of the file's own tokens, with its directives for conditional compilation, or else of a
  /// macro's replacement list (no directives; outermost scope kMacro). Both must outlive the
  /// structure.
  Structure(const LexedFile& file, const Directive* macro);

  std::size_t size() const { return tokens_.size(); }
  const Token& token(std::size_t i) const { return tokens_[i]; }
  std::string spelling(std::size_t i) const { return file_.spelling(tokens_[i]); }
  /// True when token i exists and reads `text`.
  bool is(std::size_t i, const char* text) const;
  bool is_any(std::size_t i, std::initializer_list<const char*> texts) const {
    return std::any_of(texts.begin(), texts.end(), [&](const char* text) { return is(i, text); });
  }
  /// True when one of the tokens in [first, last) reads so.
  bool has_any(std::size_t first, std::size_t last,
               std::initializer_list<const char*> texts) const {
    while (first < last && !is_any(first, texts)) ++first;
    return first < last;
  }
  bool is_identifier(std::size_t i) const {
    return i < size() && tokens_[i].kind == Token::kIdentifier;
  }
  /// Whether token i says that something is for the device, perhaps for the host as well.
  bool names_device(std::size_t i) const {
    return is(i, "__device__") || is(i, "__global__") ||
           (!file_.names_of_device.empty() && is_identifier(i) &&
            file_.names_of_device.count(spelling(i)) != 0);
  }
  bool names_host(std::size_t i) const {
    return is(i, "__host__") || (is_identifier(i) && file_.names_of_both.count(spelling(i)) != 0);
  }
  /// True when token i follows token i - 1 directly.
  bool adjacent(std::size_t i) const {
    return i > 0 && i < size() && tokens_[i - 1].end == tokens_[i].begin;
  }

  /// The partner of the bracket at i, one of ( ) [ ] { }; kNone without one.
  std::size_t match(std::size_t i) const { return match_[i]; }
  /// Scope in which token i stands.
  Scope scope(std::size_t i) const { return scope_[i]; }
  /// Scope that the `{` at i opens.
  Scope opened_scope(std::size_t i) const { return opened_[i]; }
  /// First token of the declaration or statement that token i stands in.
  std::size_t head(std::size_t i) const { return head_[i]; }

  /// The closing bracket when one of ( [ { with a partner stands at i, else i itself.
  std::size_t skip_brackets(std::size_t i) const;

  /// The `>` of the template argument or parameter list whose `<` is at i; kNone without one.
  std::size_t match_angle(std::size_t i) const;
  /// The same; i itself without one.
  std::size_t skip_angles(std::size_t i) const;
  /// The `<` of the list that the `>` at i closes, or kNone.
  std::size_t match_angle_backwards(std::size_t i) const;
  /// Where the declaration or expression ends that token i stands in: its `;`, the closing bracket
  /// around it, or the token count.
  std::size_t end_of_declaration(std::size_t i) const;
  /// The `(` around token i, in the same statement; kNone without one.
  std::size_t parenthesis_around(std::size_t i) const;
  /// The token after the attribute at i: [[...]], alignas(...), __align__(...),
  /// __attribute__((...)), __launch_bounds__(...), decltype(...). i itself when there is none.
  std::size_t skip_attribute(std::size_t i) const;
  /// First token of the name that ends with the identifier at i: in a macro, a##b is one name.
  std::size_t name_begin(std::size_t i) const;
  /// When the `[` at i begins a lambda: its body's `{`. Else kNone.
  std::size_t lambda_body(std::size_t i) const;

 private:
  Scope classify_brace(std::size_t head, std::size_t brace, Scope outer) const;

  const LexedFile& file_;
  const std::vector<Token>& tokens_;
  std::vector<std::size_t> match_;
  std::vector<Scope> scope_;
  std::vector<Scope> opened_;
  std::vector<std::size_t> head_;
};

}  // namespace prepass
