// SPDX-License-Identifier: MIT
// The pre-pass of the CPU backend is built from all of common/cpu/prepass/*.cpp.
#include "lexer.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace prepass {
namespace {

bool is_identifier_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_identifier_part(char c) {
  return is_identifier_start(c) || std::isdigit(static_cast<unsigned char>(c));
}

class Lexer {
 public:
  explicit Lexer(std::string text) {
    file_.text = std::move(text);
    // A byte order mark may only come first in a file, and the rewritten text begins with something
    // else.
    if (file_.text.compare(0, 3, "\xEF\xBB\xBF") == 0) file_.text.erase(0, 3);
  }

  LexedFile run() {
    while (position_ < size()) {
      if (skip_space() || skip_comment()) continue;
      if (peek() == '#' && at_line_start_) {
        lex_directive();
        continue;
      }
      at_line_start_ = false;
      const Token token = next_token();
      if (discard_depth_ == 0) file_.tokens.push_back(token);
    }
    return std::move(file_);
  }

 private:
  std::size_t size() const { return file_.text.size(); }
  char peek(std::size_t ahead = 0) const {
    return position_ + ahead < size() ? file_.text[position_ + ahead] : '\0';
  }

  // Length of the line continuation (backslash, newline) at the position; 0 without one.
  std::size_t continuation_length() const {
    if (peek() != '\\') return 0;
    if (peek(1) == '\n') return 2;
    if (peek(1) == '\r' && peek(2) == '\n') return 3;
    return 0;
  }

  void advance(std::size_t count) {
    for (std::size_t i = 0; i < count && position_ < size(); ++i) {
      if (file_.text[position_++] == '\n') ++line_;
    }
  }

  bool skip_space() {
    if (peek() == '\n') at_line_start_ = true;
    const bool is_space = std::isspace(static_cast<unsigned char>(peek())) != 0;
    const std::size_t length = is_space ? 1 : continuation_length();
    advance(length);
    return length != 0;
  }

  bool skip_comment() {
    if (peek() != '/') return false;
    if (peek(1) == '/') {
      while (position_ < size() && peek() != '\n') {
        const std::size_t length = continuation_length();
        advance(length != 0 ? length : 1);
      }
      return true;
    }
    if (peek(1) == '*') {
      const std::size_t end = file_.text.find("*/", position_ + 2);
      if (end == std::string::npos) throw SourceError(line_, "'/*' is never closed by '*/'");
      advance(end + 2 - position_);
      return true;
    }
    return false;
  }

  Token next_token() {
    const std::size_t begin = position_;
    const int line = line_;
    const Token::Kind kind = scan_token();
    file_.all_tokens.push_back({kind, begin, position_, line});
    return file_.all_tokens.back();
  }

  Token::Kind scan_token() {
    const char c = peek();
    if (is_identifier_start(c)) {
      const std::size_t begin = position_;
      while (is_identifier_part(peek())) advance(1);
      const std::string word = file_.text.substr(begin, position_ - begin);
      const bool raw = word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
      if (raw && peek() == '"' && scan_raw_string()) return Token::kString;
      return Token::kIdentifier;
    }
    if (std::isdigit(static_cast<unsigned char>(c == '.' ? peek(1) : c))) {
      scan_number();
      return Token::kNumber;
    }
    if ((c == '"' || c == '\'') && scan_quoted(c)) {
      return c == '"' ? Token::kString : Token::kCharacter;
    }
    scan_punctuation();
    return Token::kPunctuation;
  }

  // A preprocessing number: 0x1p-3f, 1'000'000, 1e+5, 3_km.
  void scan_number() {
    while (position_ < size()) {
      const char c = peek();
      const char next = peek(1);
      if (std::strchr("eEpP", c) != nullptr && c != '\0' && (next == '+' || next == '-')) {
        advance(2);
      } else if (c == '\'' && is_identifier_part(next)) {
        advance(2);
      } else if (is_identifier_part(c) || c == '.') {
        advance(1);
      } else {
        break;
      }
    }
  }

  // False (and nothing consumed) when the literal does not end on its line. Then no later quote of
  // its kind on that line begins one either: it stood after a backslash, and what follows is
  // paired with backslashes as before. Without this a line of 80 kB with \" everywhere takes a
  // minute.
  bool scan_quoted(char quote) {
    std::size_t& hopeless_before = hopeless_before_[quote == '"' ? 0 : 1];
    if (position_ < hopeless_before) return false;
    std::size_t ahead = 1;
    while (true) {
      const char c = peek(ahead);
      if (c == '\0' || c == '\n') {
        hopeless_before = position_ + ahead;
        return false;
      }
      if (c == quote) break;
      if (c == '\\') {
        // An escape, or a continuation: both take what follows, and \r\n counts as one.
        ahead += peek(ahead + 1) == '\r' && peek(ahead + 2) == '\n' ? 3 : 2;
      } else {
        ++ahead;
      }
    }
    advance(ahead + 1);
    return true;
  }

  bool scan_raw_string() {
    std::size_t ahead = 1;
    while (peek(ahead) != '(') {
      // A delimiter has at most 16 characters, none of them a space, a parenthesis or a backslash.
      const char c = peek(ahead);
      if (c == '\0' || c == ')' || c == '\\' || std::isspace(static_cast<unsigned char>(c)) ||
          ahead > 16) {
        return false;
      }
      ++ahead;
    }
    const std::string closing = ")" + file_.text.substr(position_ + 1, ahead - 1) + "\"";
    const std::size_t end = file_.text.find(closing, position_ + ahead);
    if (end == std::string::npos) {
      throw SourceError(line_, "raw string is never closed by '" + closing + "'");
    }
    advance(end + closing.size() - position_);
    return true;
  }

  void scan_punctuation() {
    for (const char* candidate : {"...", "::", "->", "##", "<=", ">=", "==", "!=", "+=", "-=",
                                  "*=",  "/=", "%=", "&=", "|=", "^=", "&&", "||", "++", "--"}) {
      if (file_.text.compare(position_, std::strlen(candidate), candidate) == 0) {
        advance(std::strlen(candidate));
        return;
      }
    }
    advance(1);
  }

  // Reads one directive, up to its newline. Only `#define` has tokens that matter.
  void lex_directive() {
    Directive directive{
        Directive::kOther, position_, 0, line_, file_.tokens.size(), false, {}, {}, {}, {}};
    advance(1);
    std::vector<Token> tokens;
    while (position_ < size() && peek() != '\n') {
      if (!skip_space() && !skip_comment()) tokens.push_back(next_token());
    }
    // The newline, and spaces or a comment before it, do not belong to the directive.
    directive.end = tokens.empty() ? directive.begin + 1 : tokens.back().end;
    classify(&directive, tokens);
    file_.directives.push_back(std::move(directive));
  }

  void classify(Directive* directive, const std::vector<Token>& tokens) {
    const std::string name = tokens.empty() ? "" : file_.spelling(tokens[0]);
    const bool was_discarded = discard_depth_ > 0;
    if (name == "if" || name == "ifdef" || name == "ifndef") {
      directive->kind = Directive::kIf;
      if (was_discarded) {
        ++discard_depth_;
      } else if (name == "if" && tokens.size() == 2 &&
                 (file_.spelling(tokens[1]) == "0" || file_.spelling(tokens[1]) == "false")) {
        discard_depth_ = 1;
      }
    } else if (name == "else" || name == "elif" || name == "elifdef" || name == "elifndef") {
      directive->kind = Directive::kElse;
      if (discard_depth_ == 1) discard_depth_ = 0;
    } else if (name == "endif") {
      directive->kind = Directive::kEndif;
      if (was_discarded) --discard_depth_;
    } else if (name == "line" && tokens.size() >= 2 && !was_discarded) {
      // The next line has this number. Count on from there, as the compiler does.
      line_ = std::atoi(file_.spelling(tokens[1]).c_str()) - 1;
    } else if (name == "define" && tokens.size() >= 2) {
      directive->kind = Directive::kDefine;
      read_define(directive, tokens);
    }
    if (directive->kind == Directive::kIf || directive->kind == Directive::kElse) {
      directive->replacement = tokens;
    }
    // A `#if 0` group's own #if, #else and #endif still count when brackets are matched.
    directive->discarded = was_discarded && discard_depth_ > 0;
  }

  void read_define(Directive* directive, const std::vector<Token>& tokens) {
    std::size_t first = 2;
    directive->name = file_.spelling(tokens[1]);
    directive->macro_name = tokens[1];
    const bool function_like =
        tokens.size() > 2 && tokens[2].begin == tokens[1].end && file_.spelling(tokens[2]) == "(";
    if (function_like) {
      for (first = 3; first < tokens.size() && file_.spelling(tokens[first]) != ")"; ++first) {
        const std::string word = file_.spelling(tokens[first]);
        if (word == "...") {
          const bool named = !directive->parameters.empty() && first > 3 &&
                             tokens[first - 1].kind == Token::kIdentifier;
          if (!named) directive->parameters.push_back("__VA_ARGS__");
        } else if (word != ",") {
          directive->parameters.push_back(word);
        }
      }
      first = std::min(first + 1, tokens.size());
    }
    directive->replacement.assign(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                                  tokens.end());
    if (!function_like && tokens.size() == 3 && file_.spelling(tokens[2]) == "__shared__") {
      file_.words_of_macros[directive->name] = "__shared__";
    }
  }

  LexedFile file_;
  std::size_t position_ = 0;
  bool at_line_start_ = true;
  int line_ = 1;
  std::size_t hopeless_before_[2] = {0, 0};  // for " and ': no literal begins before this place
  int discard_depth_ = 0;  // nesting of conditionals inside an `#if 0` group; 0: not inside one
};

}  // namespace

LexedFile lex(std::string text) { return Lexer(std::move(text)).run(); }

}  // namespace prepass
