// SPDX-License-Identifier: MIT
#include "listing.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "structure.h"

namespace prepass {
namespace {

std::string pair_of(std::size_t begin, std::size_t end) {
  return '[' + std::to_string(begin) + ',' + std::to_string(end) + ']';
}

class Declarations {
 public:
  explicit Declarations(const LexedFile& file) : file_(file), s_(file, nullptr) {}

  std::string list() {
    for (const Directive& directive : file_.directives) {
      if (directive.kind != Directive::kDefine || directive.discarded) continue;
      const Token& name = directive.macro_name;
      add("macro", directive.begin, directive.end, pair_of(name.begin, name.end), "null");
    }
    for (std::size_t i = 0; i < s_.size();) i = read(i);
    return std::move(text_);
  }

 private:
  void add(const char* kind, std::size_t begin, std::size_t end, const std::string& names,
           const std::string& body) {
    if (!text_.empty()) text_ += ',';
    text_ += std::string("[\"") + kind + "\"," + std::to_string(begin) + ',' + std::to_string(end) +
             ",[" + names + "]," + body + ']';
  }

  // One declaration that begins at token i, or what is none; where the next one begins: within a
  // namespace or class at its first.
  std::size_t read(const std::size_t i) {
    if (s_.is_any(i, {"public", "private", "protected"}) && s_.is(i + 1, ":")) return i + 2;
    if (s_.is_any(i, {";", "}"})) return i + 1;
    std::size_t first = i;
    while (s_.is(first, "template") && s_.match_angle(first + 1) != kNone) {
      first = s_.match_angle(first + 1) + 1;
    }
    std::size_t at = first, parameters = kNone, value = kNone, body = kNone;
    bool has_initialisers = false, is_whole = false;
    for (; at < s_.size() && !is_whole && !s_.is_any(at, {";", "}"}); ++at) {
      if (const std::size_t behind = s_.skip_attribute(at); behind != at) {
        at = behind - 1;
      } else if (s_.is(at, "operator")) {
        at += s_.is(at + 1, "(") ? 2 : 1;
        while (at < s_.size() && !s_.is_any(at + 1, {"(", ";"})) ++at;
      } else if (s_.is(at, "{")) {
        if (s_.opened_scope(at) == Scope::kNamespace) return at + 1;
        if (s_.match(at) == kNone) return s_.size();
        const bool is_of_member = has_initialisers && !s_.is_any(at - 1, {")", "}"});
        if (body == kNone && !is_of_member) body = at;
        is_whole = body == at && parameters != kNone && value == kNone;
        at = s_.match(at);
      } else {
        if (s_.is(at, "(") && parameters == kNone) parameters = at;
        if (s_.is(at, "=") && value == kNone) value = at;
        has_initialisers = has_initialisers || (s_.is(at, ":") && parameters != kNone);
        const bool may_be_template = parameters == kNone && value == kNone;
        at = may_be_template ? s_.skip_angles(s_.skip_brackets(at)) : s_.skip_brackets(at);
      }
    }
    if (!is_whole && !s_.is(at++, ";")) return at;  // never ended
    name(i, first, at, parameters < value ? parameters : kNone, body);
    return body != kNone && s_.opened_scope(body) == Scope::kClass ? body + 1 : at;
  }

  // What the tokens [begin, end) declare; `first` is the first behind template<...>.
  void name(std::size_t begin, std::size_t first, std::size_t end, std::size_t parameters,
            std::size_t body) {
    const char* kind = "other";
    std::string names;
    const auto declare = [&](const char* what, std::size_t token) {
      kind = what;
      if (!names.empty()) names += ',';
      names += pair_of(s_.token(token).begin, s_.token(token).end);
    };
    const std::size_t key = key_of_type(first, body != kNone ? body : end);
    if (key != kNone && (body != kNone || s_.is(key + 2, ";"))) {
      std::size_t at = key + 1;
      while (s_.is_any(at, {"class", "struct"}) || s_.skip_attribute(at) != at) {
        at = s_.is_identifier(at) && s_.skip_attribute(at) == at ? at + 1 : s_.skip_attribute(at);
      }
      if (s_.is_identifier(at)) declare("type", at);
    } else if (s_.is_any(first, {"using", "typedef"})) {
      const bool is_using = s_.is(first, "using");
      const std::size_t at = is_using ? first + 1 : end - 2;
      if (s_.is_identifier(at) && (!is_using || s_.is(at + 1, "="))) declare("type", at);
    } else if (parameters != kNone && s_.is_any(parameters + 1, {"*", "&"})) {
      if (s_.is_identifier(parameters + 2)) declare("value", parameters + 2);
    } else if (parameters != kNone) {
      const bool is_name = parameters > first && s_.is_identifier(parameters - 1) &&
                           !s_.is(parameters - 1, "static_assert");
      const bool has_type = parameters > first + 1 || s_.scope(begin) == Scope::kClass;
      const bool is_suffix =  // operator""_x
          parameters > first + 1 && s_.token(parameters - 2).kind == Token::kString;
      if (is_name && has_type && (is_suffix || !has_operator(first, parameters))) {
        declare("function", parameters - 1);
      }
    } else if (!has_operator(first, end)) {
      bool is_known = false;  // the name before the next comma is
      for (std::size_t at = first; at < end; ++at) {
        const bool ends_name = s_.is_any(at, {"=", "[", "{", ",", ";"});
        if (ends_name && !is_known && at > first) {
          const std::size_t angle = s_.is(at - 1, ">") ? s_.match_angle_backwards(at - 1) : at;
          if (angle != kNone && s_.is_identifier(angle - 1)) declare("value", angle - 1);
        }
        is_known = (is_known || ends_name) && !s_.is(at, ",");
        at = s_.skip_angles(s_.skip_brackets(at));
      }
    }
    add(kind, s_.token(begin).begin, s_.token(end - 1).end, names,
        body == kNone ? "null" : pair_of(s_.token(body).begin, s_.token(s_.match(body)).end));
  }

  std::size_t key_of_type(std::size_t first, std::size_t end) const {
    for (; first < end && !s_.is_any(first, {"(", "=", "<", ";"}); ++first) {
      if (s_.is_any(first, {"struct", "class", "union", "enum"})) return first;
      first = s_.skip_attribute(first) == first ? first : s_.skip_attribute(first) - 1;
    }
    return kNone;
  }

  bool has_operator(std::size_t first, std::size_t end) const {
    return s_.has_any(first, end, {"operator"});
  }

  const LexedFile& file_;
  const Structure s_;
  std::string text_;
};

}  // namespace

std::string listing(const LexedFile& file) {
  static const char kKinds[] = "inscp";
  std::string text = "{\"tokens\":[";
  for (const Token& token : file.all_tokens) {
    if (text.back() != '[') text += ',';
    text += std::string("[\"") + kKinds[token.kind] + "\"," + std::to_string(token.begin) + ',' +
            std::to_string(token.end) + ']';
  }
  text += "],\"directives\":[";
  for (const Directive& directive : file.directives) {
    if (text.back() != '[') text += ',';
    text += pair_of(directive.begin, directive.end);
  }
  return text + "],\"declarations\":[" + Declarations(file).list() + "]}\n";
}

}  // namespace prepass
