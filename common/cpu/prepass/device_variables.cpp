// SPDX-License-Identifier: MIT
#include "device_variables.h"

#include <algorithm>
#include <set>
#include <string>

#include "host_functions.h"

namespace prepass {
namespace {

class HostCode {
 public:
  HostCode(const Structure& structure, const Constructs& found) : s_(structure), found_(found) {
    for (const auto& [semicolon, symbols] : found.symbols) {
      if (symbols.space == "kManaged" || symbols.is_in_function) continue;
      for (const std::size_t name : symbols.names) {
        if (is_known_when_compiling(name)) continue;
        (symbols.space == "kConstant" ? constants_ : variables_).insert(s_.spelling(name));
      }
    }
  }

  void check() const {
    if (variables_.empty() && constants_.empty()) return;
    for (std::size_t i = 0; i < s_.size(); ++i) {
      std::size_t body = i;
      if (is_host_function(i)) {
        check_body(s_.head(i), i, s_.match(i));
      } else if (s_.lambda_body(i) != kNone) {  // of a variable's first value
        body = s_.lambda_body(i);
        if (!may_be_for_device(s_.head(i), body)) check_body(i, body, s_.match(body));
      } else if (!opens_function(i) || is_first_value(i)) {
        continue;
      }
      if (s_.match(body) != kNone) i = s_.match(body);
    }
  }

 private:
  // Constants have the same value on both sides.
  bool is_known_when_compiling(std::size_t name) const {
    bool is_const = false, is_pointer = false;
    for (std::size_t k = s_.head(name); k < name; ++k) {
      if (s_.is(k, "constexpr")) return true;
      is_const = is_const || s_.is(k, "const");
      is_pointer = is_pointer || s_.is(k, "*");
    }
    return is_const && !is_pointer && !s_.is(name + 1, "[");
  }

  // Or an enum's values, or a variable's first value.
  bool opens_function(std::size_t i) const {
    return s_.is(i, "{") && s_.match(i) != kNone && s_.opened_scope(i) == Scope::kBlock &&
           (s_.scope(i) == Scope::kNamespace || s_.scope(i) == Scope::kClass);
  }

  // The `{` at i begins what a host's variable holds at first: = {1, 2}
  bool is_first_value(std::size_t i) const {
    const std::size_t head = s_.head(i);
    if (may_be_for_device(head, i)) return false;
    for (std::size_t k = head; k < i; ++k) {
      if (s_.is(k, "=") && !s_.is(k - 1, "operator")) return true;
      k = s_.skip_brackets(s_.skip_angles(k));
    }
    return false;
  }

  bool may_be_for_device(std::size_t first, std::size_t last) const {
    for (; first < last; ++first)
      if (s_.names_device(first) || (s_.is_identifier(first) && may_be_macro(s_.spelling(first))))
        return true;
    return false;
  }

  // The `{` at i begins the body of a function that is for the host alone.
  bool is_host_function(std::size_t i) const {
    if (!opens_function(i)) return false;
    bool has_parameters = false;
    for (std::size_t k = s_.head(i); k < i; ++k) {
      if (s_.is_any(k, {"__device__", "__global__", "__constant__", "__managed__"})) return false;
      if (s_.is(k, "=") && !s_.is(k - 1, "operator")) return false;
      if (!has_parameters && may_be_macro(s_.spelling(k)) && !s_.is(k + 1, "(")) return false;
      k = s_.skip_angles(k);
      if (!s_.is(k, "(")) continue;
      if (s_.match(k) == kNone) return false;
      has_parameters = true;
      k = s_.match(k);
    }
    return has_parameters;
  }

  void check_body(std::size_t head, std::size_t body, std::size_t end) const {
    std::set<std::string> declared;
    for (std::size_t i = body + 1; i < end; ++i) {
      if (s_.is(i, "__device__")) {  // a lambda, or a member of a local class
        while (i < end && !s_.is_any(i, {"{", ";"})) ++i;
        if (s_.is(i, "{") && s_.match(i) != kNone) i = s_.match(i);
        continue;
      }
      if (!s_.is_identifier(i)) continue;
      const std::string name = s_.spelling(i);
      const bool is_constant = constants_.count(name) != 0;
      const bool is_variable = is_constant || variables_.count(name) != 0;
      if (!is_variable || is_of_another(i) || is_allowed(i, body)) continue;
      if (declared.count(name) == 0 && is_declared(name, head, body, end)) declared.insert(name);
      if (declared.count(name) != 0) continue;
      throw SourceError(s_.token(i).line,
                        "host code names '" + name + "', a " +
                            (is_constant ? "__constant__" : "__device__") +
                            " variable, which lies in the GPU's memory: copy it with "
                            "cudaMemcpyFromSymbol and cudaMemcpyToSymbol, which take the variable "
                            "itself; cudaGetSymbolAddress gives its address");
    }
  }

  // a.f, a->f, a::f, and .f = 1 in a list of initial values
  bool is_of_another(std::size_t i) const {
    return s_.is_any(i - 1, {".", "->"}) ||
           (s_.is(i - 1, "::") && (s_.is_identifier(i - 2) || s_.is(i - 2, ">")));
  }

  // Not evaluated, a template's argument, or handed on to what may take a reference.
  bool is_allowed(std::size_t i, std::size_t body) const {
    std::size_t before = i - 1;  // sizeof *name, sizeof &name
    while (s_.is_any(before, {"*", "&"})) --before;
    if (s_.is_any(before, {"sizeof", "goto"})) return true;
    if (s_.is_any(i - 1, {"<", ","}) && s_.is(i + 1, ">")) return true;
    // Outwards, from bracket to bracket.
    bool is_innermost = true;
    for (std::size_t k = i; k-- > body;) {
      if (s_.is_any(k, {")", "]", "}"}) && s_.match(k) != kNone) {
        k = s_.match(k);
        continue;
      }
      if (s_.is_any(k, {";", "{"})) return false;
      if (!s_.is(k, "(")) continue;
      if (is_launch(k)) return false;
      const std::size_t called = name_before(k);
      if (called == kNone) continue;
      const std::string name = s_.spelling(called);
      if (name.find("Symbol") != std::string::npos) return true;
      if (s_.is_any(called, {"sizeof", "decltype", "alignof", "noexcept", "typeid"})) return true;
      if (is_innermost &&
          s_.is_any(called - 1, {"int", "float", "double", "auto", "unsigned", "char"}))
        return false;  // int value(variable);
      if (is_innermost && is_whole_argument(i) && may_take_reference(called, name))
        return !hands_to_kernel(called, k, i);
      is_innermost = false;
    }
    return false;
  }

  bool is_launch(std::size_t open) const {
    return std::any_of(found_.launches.begin(), found_.launches.end(),
                       [&](const auto& entry) { return entry.second.arguments == open; });
  }

  // The name of what the `(` calls; kNone when it groups an expression.
  std::size_t name_before(std::size_t open) const {
    const bool has_angles = s_.is(open - 1, ">");
    const std::size_t before = (has_angles ? s_.match_angle_backwards(open - 1) : open) - 1;
    return s_.is_identifier(before) ? before : kNone;
  }

  bool is_whole_argument(std::size_t i) const {
    return s_.is_any(s_.is(i - 1, "::") ? i - 2 : i - 1, {"(", ","}) &&
           s_.is_any(i + 1, {")", ","});
  }

  // Some function of somebody's. These take a value or an address.
  bool may_take_reference(std::size_t called, const std::string& name) const {
    if (s_.is_any(called, {"if", "while", "for", "switch", "return", "printf", "fprintf",
                           "snprintf", "static_cast", "reinterpret_cast", "int", "float", "double",
                           "unsigned", "size_t"})) {
      return false;
    }
    return name.compare(0, 7, "cudaMem") != 0;
  }

  // Whether the function that is called with the argument at i, one of this file's, gives it to a
  // kernel: as a pointer or a reference it leads to the host's variable.
  bool hands_to_kernel(std::size_t called, std::size_t open, std::size_t i) const {
    if (s_.is_any(called - 1, {".", "->", "::"})) return false;
    std::size_t body = kNone, parameters = kNone;
    for (std::size_t k = 0; k < s_.size(); ++k) {
      if (!is_host_function(k)) continue;
      std::size_t first = s_.head(k);  // `(` of the parameters
      while (first < k && !s_.is(first, "("))
        first = std::max(s_.skip_angles(first) + 1, s_.skip_attribute(first));
      if (first >= k || s_.spelling(first - 1) != s_.spelling(called)) continue;
      if (body != kNone) return false;  // which of the two?
      body = k, parameters = first;
    }
    const std::size_t count = body == kNone ? kNone : count_parameters(s_, parameters);
    if (count == kNone || count != count_parameters(s_, open)) return false;
    const std::string name = name_of_parameter(parameters, position_in(open, i));
    for (std::size_t k = body; k < s_.match(body); ++k) {
      if (s_.is(k, name.c_str()) && declares(k)) return false;
    }
    for (const auto& [first, launch] : found_.launches) {
      if (first < body || launch.last > s_.match(body)) continue;
      for (std::size_t k = launch.arguments + 1; k < launch.last; ++k) {
        if (s_.is(k, name.c_str()) && !is_of_another(k)) return true;
        k = s_.skip_brackets(k);
      }
    }
    return false;
  }

  // How many commas are before token i, in the parentheses that open there.
  std::size_t position_in(std::size_t open, std::size_t i) const {
    std::size_t position = 0;
    for (std::size_t k = open + 1; k < i; ++k) {
      k = s_.is(k, "<") ? s_.skip_angles(k) : s_.skip_brackets(k);
      if (s_.is(k, ",")) ++position;
    }
    return position;
  }

  // "" for one without a name.
  std::string name_of_parameter(std::size_t open, std::size_t position) const {
    std::string name;
    for (std::size_t k = open + 1; k < s_.match(open); ++k) {
      if (s_.is(k, "[")) k = s_.match(k);
      if (position_in(open, k) == position && s_.is_identifier(k)) name = s_.spelling(k);
    }
    return name;
  }

  // Whether something else has that name in the function: a parameter, or a variable that is
  // declared somewhere in it.
  bool is_declared(const std::string& name, std::size_t head, std::size_t body,
                   std::size_t end) const {
    if (found_.structured_bindings.count(name) != 0) return true;
    for (std::size_t i = head; i < end; ++i) {
      if (!s_.is(i, name.c_str()) || i == 0) continue;
      if (i < body || declares(i)) return true;
    }
    return false;
  }

  bool declares(std::size_t i) const {
    if (s_.is(i - 1, "[") && s_.is(i + 1, "=")) return true;  // [name = e]: a lambda's own
    std::size_t type = i - 1;
    while (s_.is_any(type, {"*", "&", "const"})) --type;
    if (s_.is_any(type, {"return", "else", "do", "case", "throw", "and", "or", "not", "co_return",
                         "sizeof", "delete"}))
      return false;
    const bool has_type = s_.is_identifier(type) || s_.is(type, ">");
    if (has_type && type == i - 1) return true;
    if (has_type) {
      // T* name; and not a * name: it begins a statement or a parameter's declaration.
      if (s_.is_any(type, {"int", "float", "double", "char", "unsigned", "long", "auto", "bool",
                           "void", "size_t"}))
        return true;
      return s_.is_any(type - 1, {";", "{", "}", "const"});
    }
    // T a = 1, name = 2;
    if (!s_.is(i - 1, ",") || !s_.is_any(i + 1, {"=", ";", ",", "{", "["})) return false;
    const std::size_t first = s_.head(i);
    for (std::size_t k = first; k < i; ++k) {
      k = s_.skip_brackets(k);
      if (k > i) return false;
    }
    return s_.is_identifier(first) &&
           (s_.is_identifier(first + 1) || s_.is_any(first + 1, {"*", "<", "::"}));
  }

  const Structure& s_;
  const Constructs& found_;
  std::set<std::string> variables_, constants_;  // names: __device__, __constant__
};

}  // namespace

void refuse_device_variables_in_host_code(const Structure& structure, const Constructs& found) {
  HostCode(structure, found).check();
}

}  // namespace prepass
