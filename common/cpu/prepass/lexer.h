// SPDX-License-Identifier: MIT
// Splits CUDA C++ into tokens, in enough detail to tell a launch from a comment, a string or a
// shift.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace prepass {

/// An error in the input, and its line (1-based).
struct SourceError : std::runtime_error {
  SourceError(int error_line, const std::string& message)
      : std::runtime_error(message), line(error_line) {}
  int line;
};

/// `<` and `>` are always tokens of their own: the parser decides whether `>>` closes two
/// templates, shifts, or begins the end of a launch. Raw string literals are one kString token.
struct Token {
  enum Kind { kIdentifier, kNumber, kString, kCharacter, kPunctuation };
  Kind kind;
  std::size_t begin, end;  ///< byte offsets into the text
  int line;                ///< line of the first byte, as the compiler counts
};

/// A preprocessor directive. Its bytes belong to no token of the main stream.
struct Directive {
  enum Kind { kIf, kElse, kEndif, kDefine, kOther };  ///< kElse: #else and #elif
  Kind kind;
  std::size_t begin, end;  ///< from `#` to the end of the (continued) line, newline excluded
  int line;
  std::size_t token_index;  ///< the main-stream token that follows
  bool discarded;           ///< inside `#if 0`
  // Of `#define`: the name, the replacement list and the parameters ("__VA_ARGS__" for an
  // ellipsis). Of conditions: all words.
  std::string name;
  Token macro_name = {};
  std::vector<Token> replacement;
  std::vector<std::string> parameters;
};

struct LexedFile {
  std::string text;
  std::vector<Token> tokens;      ///< outside directives and outside `#if 0`
  std::vector<Token> all_tokens;  ///< these and the others
  std::vector<Directive> directives;
  std::set<std::string> names_defined;  ///< macros of the program
  /// Macros that say where something lies: for `__shared__` alone, say, or for `__managed__` with
  /// others.
  std::map<std::string, std::string> words_of_macros;
  std::set<std::string> names_of_device;  ///< for `__device__`, perhaps with other specifiers
  std::set<std::string> names_of_both;    ///< the same with `__host__`

  /// Directives that become others, by offset: an #include of what is not here.
  std::map<std::size_t, std::string> other_directives;

  /// Lines that go before all others: macros for what is not here.
  std::string first_lines;

  std::string text_of(const Token& token) const {
    return text.substr(token.begin, token.end - token.begin);
  }
  /// What a token reads as: `__shared__` for a macro that stands for it.
  std::string spelling(const Token& token) const {
    const std::string word = text_of(token);
    const auto known =
        token.kind == Token::kIdentifier ? words_of_macros.find(word) : words_of_macros.end();
    return known != words_of_macros.end() ? known->second : word;
  }
};

/// Throws SourceError for a comment or raw string that never ends. Other bad literals are left to
/// the compiler, whose messages are better.
LexedFile lex(std::string text);

}  // namespace prepass
