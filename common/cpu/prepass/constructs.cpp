// SPDX-License-Identifier: MIT
#include "constructs.h"

#include "device_variables.h"
#include "host_functions.h"
#include "refused.h"

namespace prepass {
namespace {

// Words that cannot be part of a kernel's name before `<<<`.
bool is_statement_word(const Structure& s, std::size_t i) {
  return s.is_any(i, {"return", "else", "do", "case", "throw", "goto", "new", "delete", "co_return",
                      "co_yield", "co_await", "sizeof", "and", "or", "not", "typename"});
}

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

/// The last token of the cast to a pointer that begins at token i, where one can become misaligned:
/// `reinterpret_cast<T>(e)`, `static_cast<T*>(e)` or `(T*)e`. kNone when none begins there.
std::size_t end_of_cast(const Structure& s, std::size_t i) {
  if (s.is_any(i, {"reinterpret_cast", "static_cast"})) {
    const std::size_t close = s.match_angle(i + 1);
    const bool is_to_pointer = s.is(i, "reinterpret_cast") || s.is(close - 1, "*");
    return close != kNone && is_to_pointer && s.is(close + 1, "(") ? s.match(close + 1) : kNone;
  }
  if (!begins_operand(s, i)) return kNone;
  const std::size_t close = end_of_pointer_type(s, i);
  return close == kNone ? kNone : end_of_operand(s, close + 1);
}

class Finder {
 public:
  explicit Finder(const Structure& structure)
      : s_(structure),
        in_macro_(s_.size() > 0 && s_.scope(0) == Scope::kMacro),
        host_functions_(find_host_functions(structure)) {}

  Constructs run() {
    found_.host_functions = host_functions_.definitions;
    for (std::size_t i = 0; i < s_.size(); ++i) {
      if (s_.is(i, "__global__")) note_kernel(i);
      if (s_.is(i, "volatile") && s_.scope(i) == Scope::kNamespace) note_volatile(i);
      if (s_.is(i, "cudaDeviceProp")) note_properties(i);
      has_operators_ = has_operators_ || s_.is(i, "operator");
    }
    for (std::size_t i = 0; i < s_.size(); ++i) {
      if (in_macro_) {  // it may be used in device code
        read_copy(i);
        read_cast(i);
        read_store(i);
      }
      if (s_.is(i, "(") || s_.is(i, "reinterpret_cast")) read_kernel_address(i);
      if (s_.names_device(i)) read_device_code(i);
      if (s_.is(i, ".") || s_.is(i, "->")) read_gone_member(i);
      if (starts_launch(i)) {
        read_launch(i);
        i += 2;
      } else if (s_.is(i, "<") && i > 1) {
        refuse_shifts(i);
      } else if (s_.is(i, "__shared__")) {
        read_shared(i);
      } else if (s_.is(i, "__global__")) {
        read_kernel(i);
      } else if (s_.is_any(i, {"__device__", "__constant__", "__managed__"})) {
        read_symbols(i);
      } else if (s_.is(i, "static") && is_in_device_code(i)) {
        read_symbols(i);
      } else if (s_.is(i, "auto")) {
        read_structured_binding(i);
      } else if (s_.is_any(i, {"atomicAdd", "atomicAdd_block", "atomicAdd_system", "atomicInc",
                               "atomicInc_block", "atomicInc_system"})) {
        read_atomic(i);
      } else if (s_.is_any(i, {"__syncthreads", "__syncthreads_count", "__syncthreads_and",
                               "__syncthreads_or"}) ||
                 (s_.is(i, "sync") && is_of_a_block(i))) {
        read_barrier(i);
      } else if (s_.is_any(i, {"thread_block", "thread_group", "this_thread_block", "grid_group",
                               "this_grid"})) {
        read_group(i);
      } else if (s_.is_any(
                     i, {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"})) {
        read_shuffle(i);
      }
    }
    if (!in_macro_) refuse_device_variables_in_host_code(s_, found_);
    return std::move(found_);
  }

 private:
  // Exactly three `<`: four or more are a conflict marker, and `operator<<<T>` is a template. Some
  // formatters make `k << <1, 2 >> >(x)` of a launch.
  bool starts_launch(std::size_t i) const {
    const bool are_three = s_.is(i, "<") && s_.is(i + 1, "<") && s_.adjacent(i + 1) &&
                           s_.is(i + 2, "<") && !s_.is(i + 3, "<");
    return are_three && !(s_.is(i - 1, "<") && s_.adjacent(i)) && !s_.is(i - 1, "operator");
  }

  // At such a token no launch that began before it can still be open.
  bool ends_search(std::size_t i) const {
    return i >= s_.size() || s_.is_any(i, {";", ")", "]", "}"});
  }

  // Of the `>` at i; 3 for `>> >(`, too.
  std::size_t run_length(std::size_t i) const {
    std::size_t length = 0;
    while (s_.is(i + length, ">") && (length == 0 || s_.adjacent(i + length))) ++length;
    return length == 2 && s_.is(i + 2, ">") && s_.is(i + 3, "(") ? 3 : length;
  }

  bool later_close(std::size_t i) const {
    for (; !ends_search(i); ++i) {
      if (starts_launch(i)) return false;
      const std::size_t length = run_length(i);
      if (length >= 3 && s_.is(i + length, "(")) return true;
      i = s_.skip_brackets(i);
    }
    return false;
  }

  // Finds `>>>` for the `<<<` at `open`. The configuration may contain templates, f<g<h<int>>>(x),
  // whose closing brackets look the same.
  std::size_t find_close(std::size_t open) const {
    std::size_t open_angles = 0;  // `<` after a name: perhaps a template, perhaps less-than
    for (std::size_t i = open + 3; !ends_search(i); ++i) {
      if (s_.is(i, "<")) {
        if (s_.is(i + 1, "<") && s_.adjacent(i + 1)) {
          ++i;  // a shift
        } else if (s_.is_identifier(i - 1)) {
          ++open_angles;
        }
      } else if (s_.is(i, ">")) {
        const std::size_t length = run_length(i);
        if (length < 3) {
          open_angles -= length <= open_angles ? length : 0;
        } else if (length <= open_angles && (!s_.is(i + length, "(") || later_close(i + length))) {
          open_angles -= length;
        } else {
          return i + length - 3;
        }
        i += length - 1;
      } else {
        i = s_.skip_brackets(i);
      }
    }
    throw SourceError(s_.token(open).line,
                      "'<<<' without '>>>': a launch reads kernel<<<grid, block>>>(arguments)");
  }

  // First token of the postfix expression that ends before `open`.
  std::size_t find_kernel(std::size_t open) const {
    std::size_t i = open;  // everything from i on belongs to the kernel
    while (i > 0) {
      const std::size_t before = i - 1;
      if (s_.is(before, ")") || s_.is(before, "]")) {
        if (s_.match(before) == kNone) break;
        i = s_.match(before);
        // A call's or subscript's own operand, or a whole parenthesised expression.
        const bool has_operand = (s_.is_identifier(i - 1) && !is_control_word(i - 1)) ||
                                 s_.is(i - 1, "]") ||
                                 (s_.is(i - 1, ")") && !closes_control(i - 1)) ||
                                 (s_.is(i - 1, ">") && s_.match_angle_backwards(i - 1) != kNone);
        if (!has_operand) return i;
        continue;
      }
      if (s_.is(before, ">")) {
        const std::size_t angle = s_.match_angle_backwards(before);
        if (angle == kNone || angle == 0 || !s_.is_identifier(angle - 1)) break;
        i = angle;
        continue;
      }
      if (!s_.is_identifier(before) || is_statement_word(s_, before)) break;
      i = before;
      if (s_.is(i - 1, "template")) --i;
      if (!s_.is_any(i - 1, {"::", ".", "->"})) return i;
      --i;
      const bool is_global = s_.is(i, "::") && !s_.is(i - 1, ">") &&
                             (!s_.is_identifier(i - 1) || is_statement_word(s_, i - 1));
      if (is_global) return i;
    }
    throw SourceError(s_.token(open).line, "expected the kernel's name before '<<<'");
  }

  bool is_control_word(std::size_t i) const {
    return is_statement_word(s_, i) || s_.is_any(i, {"if", "while", "for", "switch"});
  }

  // The `)` at i ends the head of an if, while, for or switch.
  bool closes_control(std::size_t i) const {
    return s_.is_any(s_.match(i) - 1, {"if", "while", "for", "switch", "constexpr"});
  }

  void read_launch(std::size_t open) {
    LaunchTokens launch{};
    launch.open = open;
    launch.first = find_kernel(open);
    launch.close = find_close(open);
    launch.arguments = launch.close + 3;
    const int line = s_.token(open).line;
    if (launch.close == open + 3) {
      throw SourceError(line, "nothing between '<<<' and '>>>': expected the grid and the block");
    }
    if (!has_block(open + 3, launch.close)) {
      throw SourceError(line,
                        "a launch needs a grid and a block: kernel<<<grid, block>>>(arguments)");
    }
    if (!s_.is(launch.arguments, "(")) {
      throw SourceError(s_.token(launch.close).line,
                        "expected '(' and the kernel's arguments after '>>>'");
    }
    launch.last = s_.match(launch.arguments);
    if (launch.last == kNone) {
      throw SourceError(s_.token(launch.arguments).line,
                        "'(' of the kernel's arguments is never closed");
    }
    refuse_no_kernel(open);
    found_.launches[launch.first] = launch;
  }

  void refuse_no_kernel(std::size_t open) const {
    const std::size_t at = (s_.is(open - 1, ">") ? s_.match_angle_backwards(open - 1) : open) - 1;
    const std::string name = s_.is_identifier(at) ? s_.spelling(at) : "";
    const bool is_device = host_functions_.of_device.count(name) != 0;
    const bool is_known = is_device || host_functions_.names.count(name) != 0;
    if (!is_known || kernels_.count(name) != 0) return;
    for (std::size_t k = 0; k < s_.size(); ++k) {  // a pointer may have the same name
      if (s_.is(k, name.c_str()) && !s_.is_any(k + 1, {"(", "<"})) return;
    }
    throw SourceError(s_.token(at).line,
                      "'" + name + "' is launched and is no kernel: declare it __global__" +
                          (is_device ? " in place of __device__" : ""));
  }

  // k<<1, 2>>(x): CUDA's are three of each.
  void refuse_shifts(std::size_t i) const {
    const bool are_two = s_.is(i, "<") && s_.is(i + 1, "<") && s_.adjacent(i);
    if (!are_two || kernels_.count(s_.spelling(i - 1)) == 0) return;
    if (!s_.is_any(i - 2, {";", "{", "}", ")", "else", "do"})) return;
    for (std::size_t k = i + 2; !ends_search(k); k = s_.skip_brackets(k) + 1) {
      if (!s_.is(k, ">") || !s_.is(k + 1, ">") || !s_.is(k + 2, "(")) continue;
      throw SourceError(s_.token(i).line, "a launch has three angle brackets on each side: " +
                                              s_.spelling(i - 1) + "<<<grid, block>>>(arguments)");
    }
  }

  // The configuration has no comma, but a macro or a pack may still stand for two values.
  bool has_block(std::size_t first, std::size_t last) const {
    if (s_.scope(first) == Scope::kMacro) return true;
    if (last == first + 1 && s_.is_identifier(first)) return true;
    for (std::size_t i = first; i < last; i = s_.skip_brackets(i) + 1) {
      if (s_.is(i, ",") || s_.is(i, "...")) return true;
    }
    return false;
  }

  // The `{` of the function that the attribute belongs to; kNone for a declaration.
  std::size_t find_body(std::size_t attribute) const {
    std::size_t body = attribute;
    while (!ends_search(body) && !s_.is(body, "{")) {
      if ((s_.is(body, "(") || s_.is(body, "[")) && s_.match(body) == kNone) return kNone;
      body = s_.skip_brackets(body) + 1;
    }
    return s_.is(body, "{") ? body : kNone;
  }

  // Finds code that means something else in device code, or nothing here. In a function for both
  // sides clock() keeps the C library's meaning.
  void read_device_code(std::size_t attribute) {
    const std::size_t body = find_body(attribute);
    if (body == kNone || s_.match(body) == kNone) return;
    const std::size_t first = first_specifier(attribute), end = s_.match(body);
    if (!found_.bodies.empty() && found_.bodies.back().open == body) return;
    bool is_for_both = false;
    for (std::size_t i = first; i < body; ++i) is_for_both = is_for_both || s_.names_host(i);
    found_.bodies.push_back({body, end, is_for_both});
    if (is_for_both) {
      for (std::size_t i = body + 1; i < end; ++i) {
        read_assembly(i, true);
        read_copy(i);
      }
      return;
    }
    // A lambda may be in the body of another one.
    const bool is_inside =
        !found_.device_bodies.empty() && found_.device_bodies.back().second > body;
    const bool may_poll = names_volatile(first, end);
    if (may_poll) {  // so may those that call it
      std::size_t close = body;
      while (close > first && !s_.is(close, ")")) --close;
      if (s_.is(close, ")") && s_.match(close) > first) {
        volatile_names_.insert(s_.spelling(s_.match(close) - 1));
      }
    }
    // In a constexpr function is no place for a static variable.
    if (!is_inside && !s_.has_any(first, body, {"constexpr"})) {
      found_.device_bodies.emplace_back(body, end);
    }
    for (std::size_t i = body + 1; i < end; ++i) {
      if (starts_launch(i)) {
        throw SourceError(s_.token(i).line,
                          "a launch inside device code is not supported by the CPU backend: launch "
                          "from the host");
      }
      if (s_.is(i, "static_assert")) i = s_.skip_brackets(i + 1);
      refuse_host_function(i, first, end);
      read_cast(i);
      read_store(i);
      if (may_poll) read_loop(i);
      read_copy(i);
      read_assembly(i, false);
      if (is_long_double(i)) found_.long_doubles.insert(i);
      if (s_.is(i, "new") && !s_.is(i - 1, "operator") && !s_.is(i + 1, "(")) {
        found_.reworded[i] = {"new (::cuda_cpu::here())"};
      }
      if (!s_.is(i + 1, "(") || belongs_to_another(i)) continue;
      // The C library's, here the backend's.
      if (s_.is_any(i, {"malloc", "free"}) || (s_.is(i, "clock") && s_.is(i + 2, ")"))) {
        const char* const scope = s_.is(i - 1, "::") ? "cuda_cpu::" : "::cuda_cpu::";
        found_.reworded[i] = {scope + ("device_" + s_.spelling(i))};
      }
      // printf(...)  ->  ::cuda_cpu::printf(NUMBER, ...): which statement it is.
      if (s_.is(i, "printf") && !s_.is(i - 1, "::")) {
        const std::size_t number = printfs_on_line_[s_.token(i).line]++;
        found_.reworded[i] = {"printf", "::cuda_cpu::"};
        found_.reworded[i + 1] = {"(" + std::to_string(s_.token(i).line + (number << 24)) + "u, "};
      }
    }
  }

  // __builtin_memcpy(...)  ->  CUDA_CPU_SEEN __builtin_memcpy(...)
  void read_copy(std::size_t i) {
    if (!s_.is_any(i, {"__builtin_memcpy", "__builtin_memmove", "__builtin_memset"})) return;
    if (!s_.is(i - 1, "::")) found_.reworded[i] = {s_.spelling(i), "CUDA_CPU_SEEN "};
  }

  // cudaDeviceProp a, *b; and std::vector<cudaDeviceProp> c;
  void note_properties(std::size_t i) {
    do {
      ++i;
      while (s_.is_any(i, {">", "*", "&", "const"})) ++i;
      if (s_.is_identifier(i)) properties_.insert(s_.spelling(i++));
    } while (s_.is(i, ","));
  }

  // a.clockRate  ->  a. "the error" major
  void read_gone_member(std::size_t dot) {
    const std::size_t name = dot + 1;
    for (const Refused& gone : kGoneMembers) {
      const std::string member = gone.names[0];
      if (!s_.is(name, member.c_str())) continue;
      const std::size_t object = s_.is(dot - 1, "]") ? s_.match(dot - 1) - 1 : dot - 1;
      if (!s_.is_identifier(object) || properties_.count(s_.spelling(object)) == 0) continue;
      found_.reworded[name] = {
          "major", "CUDA_CPU_ERROR(\"" + member + ": the CPU backend has " + gone.what + "\") "};
    }
  }

  void note_volatile(std::size_t i) {
    for (; i + 1 < s_.size() && !s_.is_any(i, {";", "=", "(", "{"}); ++i) {
      if (s_.is_identifier(i) && s_.is_any(i + 1, {";", "=", "{", "[", ","})) {
        volatile_names_.insert(s_.spelling(i));
      }
    }
  }

  // Whether there is a volatile variable in these tokens, or a name of one, or of a function with
  // one.
  bool names_volatile(std::size_t first, std::size_t end) const {
    for (std::size_t i = first; i < end; ++i) {
      if (s_.is(i, "volatile") ||
          (s_.is_identifier(i) && volatile_names_.count(s_.spelling(i)) != 0)) {
        return true;
      }
    }
    return false;
  }

  // while, do, and a for without a step: if a volatile variable is in them they may poll what
  // another thread writes, so each turn tells. (No other thread may change a plain variable, so a
  // loop that waits for one never ends, as with nvcc; atomics count by themselves.)
  void read_loop(std::size_t i) {
    std::size_t body = i + 1;
    if (s_.is_any(i, {"while", "for"})) {
      const std::size_t close = s_.is(body, "(") ? s_.match(body) : kNone;
      if (close == kNone || (s_.is(i, "for") && !s_.is(close - 1, ";"))) return;
      body = close + 1;
      // The end of do { ... } while (...);
      if (s_.is(body, ";") && s_.is(i - 1, "}") && s_.is(s_.match(i - 1) - 1, "do")) return;
    } else if (!s_.is(i, "do")) {
      return;
    }
    if (s_.is(body, "{")) found_.reworded[body] = {"{ CUDA_CPU_TURN;"};
    if (s_.is(body, ";")) found_.reworded[body] = {"CUDA_CPU_TURN;"};
  }

  // `long` beside `double`, or 1.5L: nvcc makes it a double.
  bool is_long_double(std::size_t i) const {
    if (s_.is(i, "long")) return s_.is(i + 1, "double") || s_.is(i - 1, "double");
    if (s_.token(i).kind != Token::kNumber) return false;
    const std::string number = s_.spelling(i);
    const bool is_hex = number.find_first_of("xX") != std::string::npos;
    return (number.back() == 'L' || number.back() == 'l') &&
           number.find_first_of(is_hex ? ".pP" : ".eE") != std::string::npos;
  }

  // a.f, a->f, a::f; but f, and ::f, is the namespace's own.
  bool belongs_to_another(std::size_t i) const {
    return s_.is_any(i - 1, {".", "->"}) ||
           (s_.is(i - 1, "::") && s_.is_identifier(i - 2) && !is_statement_word(s_, i - 2));
  }

  // nvcc refuses such a call and a C++ compiler does not, so the pre-pass refuses it for those who
  // have no nvcc. [first, end) is the device function.
  void refuse_host_function(std::size_t i, std::size_t first, std::size_t end) const {
    if (!s_.is_identifier(i)) return;
    if (const std::string refusal = refusal_of_std(s_, i); !refusal.empty()) {
      throw SourceError(s_.token(i).line, refusal);
    }
    const std::string name = s_.spelling(i);
    const auto host = host_functions_.names.find(name);
    if (!s_.is(i + 1, "(") || host == host_functions_.names.end()) return;
    // CUDA may have another one of that name.
    const std::size_t count = count_parameters(s_, i + 1);
    const auto& counts = host->second;
    if (count != kNone && counts.count(count) == 0 && counts.count(kNone) == 0) return;
    const bool is_evaluated =
        !s_.is_any(s_.parenthesis_around(i) - 1, {"sizeof", "decltype", "alignof", "noexcept"});
    if (belongs_to_another(i) || !is_evaluated) return;
    // A variable with that name may be declared here, or somewhere else in the function.
    if (s_.is_identifier(i - 1) && !is_statement_word(s_, i - 1)) return;
    for (std::size_t k = first; k < end; ++k) {
      if (s_.is(k, name.c_str()) && !s_.is(k + 1, "(")) return;
    }
    throw SourceError(s_.token(i).line,
                      "device code calls '" + name +
                          "', which is for the host: declare it __device__, or __host__ "
                          "__device__ for both sides");
  }

  // The `)` of the call whose name is token i; kNone where that is something else, or declared.
  std::size_t end_of_call(std::size_t i) const {
    const bool is_declared = s_.scope(i) == Scope::kNamespace || s_.scope(i) == Scope::kClass;
    return !is_declared && s_.is(i + 1, "(") ? s_.match(i + 1) : kNone;
  }

  // atomicAdd(...); as a whole statement: nobody uses the old value. It costs a GPU less then.
  void read_atomic(std::size_t i) {
    const std::size_t last = end_of_call(i);
    if (last == kNone || !s_.is(last + 1, ";")) return;
    const bool is_global = s_.is(i - 1, "::") && !belongs_to_another(i);
    const std::size_t before = is_global ? i - 2 : i - 1;
    const bool begins_statement = s_.is_any(before, {";", "{", "}", "else", "do"}) ||
                                  (s_.is(before, ")") && closes_control(before));
    if (begins_statement) found_.reworded[last + 1] = {", ::cuda_cpu::result_is_unused();"};
  }

  // What a shuffle reads from a lane that takes no part is undefined, and no mistake as long as it
  // is kept aside: `const int other = __shfl_down_sync(...); if (...) sum += other;`. As part of an
  // expression it is used.
  void read_shuffle(std::size_t i) {
    const std::size_t before = i - 1, last = end_of_call(i);
    if (i < 2 || last == kNone || s_.is_any(before, {"::", "##"})) return;
    const bool is_whole = s_.is_any(last + 1, {";", ",", ")", "}"});
    const bool is_argument = s_.is(before, ",") || s_.is(before, "(");
    // max(v, f(...)): the functions that take part in a reduction.
    const bool is_of_extremum =
        s_.is_any(s_.parenthesis_around(i) - 1,
                  {"min", "max", "fmin", "fmax", "fminf", "fmaxf", "umin", "umax"});
    const bool is_stored = is_whole && s_.is(before, "=") && s_.is(i - 2, "]");
    const bool is_kept = is_whole && (s_.is_any(before, {"=", "{", ";", "}", "return"}) ||
                                      (is_argument && !is_of_extremum));
    if (is_kept && !is_stored) return;
    found_.wrapped[i] = {
        is_stored ? "(::cuda_cpu::shuffle_is_stored(), " : "(::cuda_cpu::shuffle_is_used(), ",
        last};
  }

  void note_kernel(std::size_t attribute) {
    std::size_t i = attribute + 1;
    while (i < s_.size() && !s_.is_any(i, {"(", ";", "{"})) {
      i = s_.skip_attribute(i) != i ? s_.skip_attribute(i) : i + 1;
    }
    if (s_.is(i, "(") && s_.is_identifier(i - 1)) kernels_.insert(s_.spelling(i - 1));
  }

  // (void*)kernel, (const void*)&ns::kernel<int>, reinterpret_cast<void*>(kernel): the way of a
  // kernel into cudaLaunchKernel. Its type would be lost. Any name may be a kernel where a call of
  // the runtime asks for one; elsewhere those of this file are.
  void read_kernel_address(std::size_t i) {
    const bool is_named = s_.is(i, "reinterpret_cast");
    if (is_named && !s_.is(i + 1, "<")) return;
    std::size_t at = i + (is_named ? 2 : 1);
    if (s_.is(at, "const")) ++at;
    if (!s_.is(at, "void") || !s_.is(at + 1, "*") || !s_.is(at + 2, is_named ? ">" : ")")) return;
    at += 3;
    if (is_named && !s_.is(at++, "(")) return;
    const std::size_t first = at;
    if (s_.is(at, "&")) ++at;
    if (s_.is(at, "::")) ++at;
    std::size_t last = kNone, name = kNone;
    while (s_.is_identifier(at) && !is_statement_word(s_, at)) {
      name = last = at++;
      if (s_.is(at, "<")) {
        const std::size_t close = s_.match_angle(at);
        if (close == kNone) break;
        last = close;
        at = close + 1;
      }
      if (!s_.is(at, "::")) break;
      ++at;
    }
    if (name == kNone || !s_.is_any(last + 1, {",", ")", ";", "}"})) return;
    if (kernels_.count(s_.spelling(name)) != 0 || wants_kernel(i)) {
      found_.wrapped[first] = {"::cuda_cpu::kernel_address(", last};
    }
  }

  // The expression at i is an argument of a call that takes a kernel, or is stored as one.
  bool wants_kernel(std::size_t i) const {
    if (s_.is(i - 1, "=") && s_.is(i - 2, "func")) return true;
    return s_.is_any(s_.parenthesis_around(i) - 1,
                     {"cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cudaLaunchKernelExC"});
  }

  // A cast can make a misaligned pointer.
  void read_cast(std::size_t i) {
    const std::size_t last = end_of_cast(s_, i);
    if (last == kNone) return;
    found_.wrapped[i] = {in_macro_ ? "CUDA_CPU_ALIGNED(" : "::cuda_cpu::aligned(", last};
  }

  // `x[i] = f(y);`, `*p = y.f();`: what a function returns, stored in memory. Where a file defines
  // operators, `a * b` may call one. A variable by itself is left alone, also in brackets or behind
  // a condition: stored() would take its address, which a constant of the host has not got in
  // device code.
  void read_store(std::size_t i) {
    if (!s_.is(i, "=") || i == 0 || s_.is(i + 1, "{")) return;
    const bool is_element = s_.is(i - 1, "]") && !s_.is_any(s_.match(i - 1) - 1, {"auto", "&"});
    const bool is_member = s_.is_identifier(i - 1) && s_.is_any(i - 2, {".", "->"});
    if (!is_element && !is_member && !begins_with_star(i)) return;
    std::size_t k = i + 1;
    const bool has_call = may_be_returned(&k);
    const bool ends_statement = s_.is(k, ";") || k == s_.size();
    if (has_call && ends_statement) found_.stores[i] = k - 1;
  }

  // Whether the expression at *i may be what a function returns; *i becomes its end.
  bool may_be_returned(std::size_t* i) const {
    bool has_call = false, in_last_part = false;
    std::size_t& k = *i;
    for (; k < s_.size() && !s_.is_any(k, {";", ",", ")", "}", "]"}); ++k) {
      const bool is_bracket = s_.is(k, "(");
      const std::size_t close = s_.match_angle(k);
      const bool is_called = close != kNone || (s_.is_identifier(k) && !s_.is(k, "sizeof"));
      const bool is_name = close != kNone || s_.is_identifier(k) || is_bracket ||
                           s_.is_any(k, {"::", ".", "->", "?", ":"});
      if (close != kNone) k = close;
      in_last_part =
          in_last_part || (is_called && s_.is(k + 1, "(")) || (has_operators_ && !is_name);
      has_call = has_call || (in_last_part && s_.is(k, ":"));
      if (s_.is_any(k, {"?", ":"})) in_last_part = false;
      if (s_.is_any(k, {"(", "[", "{"}) && s_.match(k) == kNone) return false;
      if (is_bracket && has_operators_) {
        std::size_t inside = k + 1;
        const std::size_t behind = s_.match(k) + 1;
        const bool is_cast = s_.is_identifier(behind) || s_.is(behind, "(");
        in_last_part = may_be_returned(&inside) || is_cast || in_last_part;
      }
      k = s_.skip_brackets(k);
    }
    return has_call || in_last_part;
  }

  // The left side of the assignment at i is `*p`.
  bool begins_with_star(std::size_t i) const {
    for (std::size_t k = i; k-- > 0;) {
      const bool is_first = k == 0 || s_.is_any(k - 1, {";", "{", "}", ")", "else", "do"});
      if (s_.is(k, "*") && is_first) return true;
      if (s_.is_any(k, {";", "{", "}"})) return false;
      if (s_.is_any(k, {")", "]"}) && s_.match(k) != kNone) k = s_.match(k);
    }
    return false;
  }

  // Barriers on one line are told apart by a number: a branch each is a mistake there as well. What
  // a macro expands to lies on one line, and it may be used twice there, so every one that it makes
  // has a number of its own.
  void read_barrier(std::size_t i) {
    const std::size_t last = end_of_call(i);
    if (last == kNone || s_.is(i - 1, "##")) return;
    const std::size_t before = barriers_on_line_[s_.token(i).line]++;
    if (before == 0 && !in_macro_) return;
    found_.reworded[last] = {
        std::string(s_.is(last - 1, "(") ? "" : ", ") +
        "__builtin_FILE(), __builtin_LINE(), static_cast<unsigned char>(" +
        (in_macro_ ? "1 + __COUNTER__ % 255" : std::to_string(1 + (before - 1) % 255)) + "))"};
  }

  // The names of groups that are a whole block or grid: `thread_block b`, `auto b =
  // cg::this_thread_block()`.
  void read_group(std::size_t i) {
    std::size_t name = i;
    if (s_.is_any(i, {"this_thread_block", "this_grid"})) {
      while (s_.is(name - 1, "::")) name -= s_.is_identifier(name - 2) ? 2 : 1;
      if (!s_.is(name - 1, "=")) return;
      name -= 2;
    } else {
      do ++name;
      while (s_.is_any(name, {"const", "&", "*"}));
    }
    if (s_.is_identifier(name)) blocks_.insert(s_.spelling(name));
  }

  // b.sync(), this_thread_block().sync(), cg::sync(b), and of a grid the same. A sync() of anything
  // else is not touched.
  bool is_of_a_block(std::size_t i) const {
    const auto is_block = [&](std::size_t name) {
      return s_.is_identifier(name) && blocks_.count(s_.spelling(name)) != 0;
    };
    if (!s_.is(i + 1, "(")) return false;
    if (s_.is(i - 1, "::")) {
      return s_.is_any(i - 2, {"cg", "cooperative_groups"}) && is_block(i + 2) && s_.is(i + 3, ")");
    }
    if (!s_.is(i - 1, ".") || !s_.is(i + 2, ")")) return false;
    if (is_block(i - 2)) return !s_.is_any(i - 3, {".", "->", "::"});
    return s_.is(i - 2, ")") && s_.is_any(s_.match(i - 2) - 1, {"this_thread_block", "this_grid"});
  }

  void read_assembly(std::size_t i, bool is_for_both) {
    if (!s_.is_any(i, {"asm", "__asm", "__asm__"})) return;
    std::size_t open = i + 1;
    while (s_.is_identifier(open)) ++open;  // volatile
    if (!s_.is(open, "(") || s_.match(open) == kNone) return;
    // asm("" ::: "memory") holds back the compiler and works anywhere.
    if (s_.is(open + 1, "\"\"")) return;
    found_.assembly[i] = s_.match(open);
    if (is_for_both) found_.assembly_for_both.insert(i);
  }

  void read_kernel(std::size_t attribute) {
    const std::size_t body = find_body(attribute);
    if (body == kNone) return;
    const std::size_t end = s_.match(body);
    if (end == kNone) {  // by itself, or since one in it is open
      for (std::size_t i = body + 1; i < s_.size(); ++i) {
        if (!s_.is_any(i, {"(", "["}) || s_.match(i) != kNone) continue;
        throw SourceError(s_.token(i).line, "'" + s_.spelling(i) + "' is never closed");
      }
      throw SourceError(s_.token(body).line, "'{' of the kernel's body is never closed");
    }
    found_.kernel_ends.insert(end);
    for (std::size_t i = first_specifier(attribute); i < body; ++i) {
      if (s_.is(i, "__launch_bounds__") && s_.is(i + 1, "(")) found_.launch_bounds[body] = i + 1;
    }
    for (std::size_t i = body + 1; i < end; ++i) {
      if (const std::size_t lambda = s_.lambda_body(i); lambda != kNone) {
        if (s_.match(lambda) != kNone) i = s_.match(lambda);
      } else if (s_.is(i, "{") && s_.opened_scope(i) == Scope::kClass) {
        i = s_.skip_brackets(i);
      } else if (s_.is(i, "return")) {
        const std::size_t semicolon = s_.end_of_declaration(i + 1);
        if (s_.is(semicolon, ";")) found_.returns[i] = semicolon;
      }
    }
  }

  void read_shared(std::size_t attribute) {
    SharedTokens shared{};
    shared.first = first_specifier(attribute);
    const int line = s_.token(attribute).line;
    shared.last = s_.end_of_declaration(attribute);
    const bool open_macro = shared.last >= s_.size() && s_.scope(attribute) == Scope::kMacro;
    if (!s_.is(shared.last, ";") && !open_macro) {
      throw SourceError(line, "expected ';' after the __shared__ declaration");
    }
    bool has_initialiser = false;
    shared.names = declared_names(shared.first, shared.last, &has_initialiser);
    if (shared.names.empty())
      throw SourceError(line, "expected a name in the __shared__ declaration");
    if (s_.has_any(shared.first, shared.last, {"__constant__", "__managed__"})) {
      throw SourceError(line,
                        "a variable lives in one memory: __shared__ excludes __constant__ and "
                        "__managed__, for nvcc too");
    }
    shared.is_dynamic = s_.has_any(shared.first, shared.last, {"extern"});
    if (has_initialiser) {
      throw SourceError(
          line,
          "a __shared__ variable cannot have an initialiser: let a thread assign it, then "
          "call __syncthreads()");
    }
    if (shared.is_dynamic && shared.names.size() != 1) {
      throw SourceError(line, "one name for each extern __shared__ declaration, please");
    }
    if (s_.scope(attribute) == Scope::kNamespace && !shared.is_dynamic) {
      throw SourceError(
          line,
          "__shared__ outside a function is not supported by the CPU backend: declare it "
          "inside the kernel");
    }
    shared.ordinal = ++shared_on_line_[line];
    found_.shared[shared.first] = shared;
  }

  bool is_specifier(std::size_t i) const {
    const std::string word = s_.spelling(i);
    const bool is_attribute = word.size() > 4 && word.compare(0, 2, "__") == 0 &&
                              word.compare(word.size() - 2, 2, "__") == 0;
    return is_attribute ||
           s_.is_any(i, {"inline", "static", "extern", "constexpr", "const", "volatile"});
  }

  // Goes back from a specifier to the first one of its declaration.
  std::size_t first_specifier(std::size_t i) const {
    while (i > 0) {
      const std::size_t before = i - 1;
      if (s_.is(before, ")") || s_.is(before, "]")) {
        const std::size_t open = s_.match(before);
        if (open == kNone) return i;
        const std::size_t start = s_.is(before, ")") ? open - 1 : open;
        if (s_.skip_attribute(start) != before + 1) return i;
        i = start;
      } else if (s_.is(before, ">")) {
        const std::size_t angle = s_.match_angle_backwards(before);
        if (angle == kNone) return i;
        i = angle;
      } else if ((s_.is_identifier(before) && !is_statement_word(s_, before)) ||
                 s_.is(before, "::") || s_.token(before).kind == Token::kString) {
        i = before;
      } else {
        return i;
      }
    }
    return i;
  }

  // Names declared in [first, last), which is one simple declaration without its `;`. Empty for a
  // function.
  std::vector<std::size_t> declared_names(std::size_t first, std::size_t last,
                                          bool* has_initialiser) const {
    std::vector<std::size_t> names;
    std::size_t candidate = kNone;  // the identifier seen last
    bool finished = false;          // the current declarator's name is known
    bool names_class = false;       // a class-key was seen: the next `{` is its body
    int words = 0;                  // the class's name and the variables'
    const auto finish = [&] {
      if (!finished && candidate != kNone) names.push_back(candidate);
      finished = true;
    };
    for (std::size_t i = first; i < last; ++i) {
      if (const std::size_t behind = s_.skip_attribute(i); !finished && behind != i) {
        i = behind - 1;
      } else if (s_.is(i, ",")) {
        finish();
        finished = false;
        candidate = kNone;
      } else if (finished) {
        if (s_.is(i, "=") || s_.is(i, "{")) *has_initialiser = true;
        // In an initialiser, the commas of f<a, b>(c) separate no declarators.
        if (s_.is(i, "<") && s_.is_identifier(i - 1)) {
          const std::size_t close = s_.match_angle(i);
          if (close != kNone && s_.is_any(close + 1, {"(", "{", "::"})) i = close;
        }
        i = s_.skip_brackets(i);
      } else if (s_.is(i, "operator")) {
        return {};
      } else if (s_.is_any(i, {"struct", "class", "union", "enum"})) {
        names_class = true;
      } else if (s_.is(i, "<") && candidate != kNone) {
        i = s_.match_angle(i);
        if (i >= last) return {};
      } else if (s_.is(i, "(")) {
        // float (*name[4])(float): the name is inside. Else these are a function's parameters.
        const std::size_t close = s_.match(i);
        const bool is_declarator = s_.is(i + 1, "*") || s_.is(i + 1, "&");
        const bool is_value = i + 1 < s_.size() && (s_.token(i + 1).kind == Token::kNumber ||
                                                    s_.token(i + 1).kind == Token::kCharacter);
        if (close == kNone || (!is_declarator && !is_value)) return {};
        if (is_value) {
          finish();
          *has_initialiser = true;
          i = close;
          continue;
        }
        for (std::size_t k = i + 1; k < close && !s_.is(k, "[") && !s_.is(k, "("); ++k) {
          if (s_.is_identifier(k) && !s_.is(k, "const")) candidate = k;
        }
        finish();
        i = close;
      } else if (s_.is(i, "{") && names_class) {
        names_class = false;
        i = s_.skip_brackets(i);
      } else if (s_.is_any(i, {"[", "=", "{"})) {
        finish();
        if (!s_.is(i, "[")) *has_initialiser = true;
        i = s_.skip_brackets(i);
      } else if (s_.is_identifier(i) && !is_specifier(i)) {
        candidate = i;
        ++words;
      }
    }
    finish();
    if (names_class && words < 2) return {};  // struct S;
    return names;
  }

  /// In a block of a function that is for the device only.
  bool is_in_device_code(std::size_t i) const {
    return s_.scope(i) == Scope::kBlock &&
           std::any_of(found_.bodies.begin(), found_.bodies.end(), [i](const auto& body) {
             return body.open < i && i < body.close && !body.is_for_both;
           });
  }

  void read_symbols(std::size_t attribute) {
    const Scope scope = s_.scope(attribute);
    const bool is_in_function = is_in_device_code(attribute);
    if (scope != Scope::kNamespace && scope != Scope::kMacro && !is_in_function) return;
    const std::size_t first = first_specifier(attribute);
    // After `=` or in a parameter list the word belongs to a lambda or a function, not to a
    // variable.
    const bool begins_declaration =
        first == 0 || first == s_.head(attribute) || s_.is_any(first - 1, {";", "}", "{"});
    if (!begins_declaration) return;
    const std::size_t last = s_.end_of_declaration(attribute);
    if (s_.has_any(first, last,
                   {"template", "extern", "typedef", "using", "__global__", "friend"})) {
      return;
    }
    if (is_in_function && (!s_.has_any(first, last, {"static"}) ||
                           s_.has_any(first, last, {"__shared__", "const", "constexpr"}))) {
      return;
    }
    const bool ends_macro = last >= s_.size() && scope == Scope::kMacro;
    if ((!s_.is(last, ";") && !ends_macro) || found_.symbols.count(last) != 0) return;
    bool has_initialiser = false;
    const SymbolTokens symbols{s_.has_any(first, last, {"__managed__"})    ? "kManaged"
                               : s_.has_any(first, last, {"__constant__"}) ? "kConstant"
                                                                           : "kDevice",
                               declared_names(first, last, &has_initialiser), is_in_function};
    if (symbols.names.empty()) return;
    bool only_specifiers = true;  // "__host__ __device__" alone, as in a macro's replacement list
    for (std::size_t i = first; i < last; ++i) {
      if (!is_specifier(i) && !s_.is(i, "void")) only_specifiers = false;
    }
    if (only_specifiers) return;
    if (ends_macro && last - first < 3)
      return;  // "__device__ T": a macro that serves something else
    found_.symbols[last] = symbols;
  }

  // auto [a, b] = ...;
  void read_structured_binding(std::size_t i) {
    ++i;
    while (s_.is_any(i, {"const", "&", "&&"})) ++i;
    if (!s_.is(i, "[") || s_.match(i) == kNone) return;
    for (std::size_t k = i + 1; k < s_.match(i); ++k) {
      if (s_.is_identifier(k)) found_.structured_bindings.insert(s_.spelling(k));
    }
  }

  const Structure& s_;
  const bool in_macro_;
  const HostFunctions host_functions_;
  std::set<std::string> kernels_;  // declared in this file
  Constructs found_;
  std::set<std::string> properties_;      // variables of type cudaDeviceProp
  std::set<std::string> volatile_names_;  // of variables, and of device functions that name one
  std::set<std::string> blocks_;          // names of groups that are a whole block or grid
  std::map<std::size_t, std::size_t> shared_on_line_, barriers_on_line_,
      printfs_on_line_;  // how many by now
  bool has_operators_ = false;
};

}  // namespace

Constructs find_constructs(const Structure& structure) { return Finder(structure).run(); }

}  // namespace prepass
