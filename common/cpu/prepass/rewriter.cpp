// SPDX-License-Identifier: MIT
#include "rewriter.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "constructs.h"
#include "local_arrays.h"
#include "structure.h"

namespace prepass {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

class Rewriter {
 public:
  // For a whole file, or (`macro` given) for the replacement list of one `#define`.
  Rewriter(const LexedFile& file, const std::string& path, const Directive* macro)
      : file_(file),
        path_(path),
        macro_(macro),
        tokens_(macro != nullptr ? macro->replacement : file.tokens),
        structure_(file, macro),
        found_(find_constructs(structure_)) {
    if (macro == nullptr) {
      local_arrays_ = find_local_arrays(structure_, file, found_.device_bodies);
      warn_of_long_doubles();
      macros_ = file.other_directives;
      for (const Directive& directive : file.directives) {
        if (directive.kind != Directive::kDefine || directive.discarded) continue;
        for (const Token& token : directive.replacement) {
          const std::string word = file.spelling(token);
          const bool asks = word == "__CUDA_ARCH__" || arch_macros_.count(word) != 0;
          if (asks && directive.parameters.empty()) arch_macros_.insert(directive.name);
        }
        // `#define SHARED __shared__`: a name, and no declaration.
        const bool names_word = file.words_of_macros.count(directive.name) != 0;
        if (directive.replacement.empty() || names_word) continue;
        Rewriter rewriter(file, path, &directive);
        if (rewriter.has_work()) macros_[directive.begin] = rewriter.run_macro();
      }
      of_device_ = macros_;
      set_sides(false, &macros_);
      set_sides(true, &of_device_);
      for (const auto& [semicolon, arrays] : local_arrays_) {
        for (const LocalArrayTokens& array : arrays) put_guards_around(array);
      }
    }
  }

  std::string run_file() {
    // g++ compares file names to tell a main file from a header, and the next lines have another
    // name.
    out_ =
        "#if defined(__GNUC__) && !defined(__clang__)\n"
        "#pragma GCC diagnostic ignored \"-Wsubobject-linkage\"\n"
        "#endif\n"
        // A macro may be used in a file of host code, which knows nothing of the backend.
        "#ifndef CUDA_CPU_ALIGNED\n"
        "#define CUDA_CPU_ALIGNED(...) __VA_ARGS__\n"
        "#define CUDA_CPU_STORED(...) __VA_ARGS__\n"
        "#define CUDA_CPU_SEEN\n"
        "#endif\n"
        // The race detector and X-ray look at device code alone, and at code of the host that
        // follows where memory is made that both use. In a lab, whose audit reads every attribute,
        // all is looked at.
        "#if !defined(CUDA_CPU_XRAY) || defined(LAB_FILE)" +
        std::string(shares_memory() ? " || 1" : "") +
        "\n"
        "#undef CUDA_CPU_HOST_ONLY\n"
        "#define CUDA_CPU_HOST_ONLY\n"
        "#elif defined(CUDA_CPU_HOST_ONLY)\n"
        "#elif defined(__clang__) || __GNUC__ < 12\n"
        "#define CUDA_CPU_HOST_ONLY __attribute__((no_sanitize(\"thread\")))\n"
        "#else\n"
        "#define CUDA_CPU_HOST_ONLY __attribute__((no_sanitize(\"thread\"), "
        "no_sanitize_coverage))\n"
        "#endif\n" +
        file_.first_lines + "#line 1 " + quoted(path_) + "\n";
    copy_between(0, tokens_.empty() ? file_.text.size() : tokens_[0].begin);
    if (!tokens_.empty()) {
      emit(0, tokens_.size());
      copy_between(tokens_.back().end, file_.text.size());
    }
    return std::move(out_);
  }

 private:
  bool shares_memory() const {
    return std::any_of(tokens_.begin(), tokens_.end(), [&](const Token& token) {
      static const std::set<std::string> kCalls{"cudaMallocManaged", "cudaMallocHost",
                                                "cudaHostAlloc", "cudaHostRegister", "__managed__"};
      return kCalls.count(file_.spelling(token)) != 0;
    });
  }

  void warn_of_long_doubles() const {
    int last_line = 0;
    for (const std::size_t i : found_.long_doubles) {
      const int line = structure_.token(i).line;
      if (line == last_line) continue;
      last_line = line;
      std::fprintf(stderr,
                   "%s:%d: warning: device code has no long double: it is a double here, as nvcc "
                   "makes it one\n",
                   path_.c_str(), line);
    }
  }

  // ---- __CUDA_ARCH__ ----
  //
  // One compilation serves both sides, so the macro is defined around those conditionals alone that
  // ask for it in device code. A function for both sides that asks has its body twice.

  std::string text_of(const Directive& directive) const {
    return file_.text.substr(directive.begin, directive.end - directive.begin);
  }

  // Of a conditional: its #if, which is directive i, its #elif and #else, and its #endif, if it has
  // one.
  std::vector<const Directive*> parts_of(std::size_t i) const {
    std::vector<const Directive*> parts{&file_.directives[i]};
    int depth = 1;
    while (depth > 0 && ++i < file_.directives.size()) {
      const Directive& next = file_.directives[i];
      depth += (next.kind == Directive::kIf) - (next.kind == Directive::kEndif);
      const bool is_part = next.kind == Directive::kElse ? depth == 1 : depth == 0;
      if (is_part) parts.push_back(&next);
    }
    return parts;
  }

  // The condition without spaces and brackets, its macros for __CUDA_ARCH__ replaced.
  std::string condition_of(const Directive& directive) const {
    std::string text;
    for (const Token& token : directive.replacement) {
      const std::string word = file_.spelling(token);
      if (word == "(" || word == ")") continue;
      text += arch_macros_.count(word) != 0 ? "__CUDA_ARCH__>=" : word;
    }
    return text;
  }

  static bool has_any(const std::string& condition, std::initializer_list<const char*> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const char* part) { return condition.find(part) != std::string::npos; });
  }

  bool asks_for_side(const Directive& directive) const {
    const bool is_condition =
        directive.kind == Directive::kIf || directive.kind == Directive::kElse;
    return is_condition && has_any(condition_of(directive), {"__CUDA_ARCH__"});
  }

  // Whether a device of this capability is meant: defined(__CUDA_ARCH__), __CUDA_ARCH__ >= 700.
  static bool asks_for_device(const std::string& condition) {
    return !has_any(condition, {"!defined__CUDA_ARCH__", "ifndef__CUDA_ARCH__"}) &&
           has_any(condition, {"ifdef__CUDA_ARCH__", "defined__CUDA_ARCH__", "__CUDA_ARCH__>"});
  }

  bool has_assembly(std::size_t first, std::size_t last) const {
    const auto found = found_.assembly.lower_bound(first);
    return found != found_.assembly.end() && found->first < last;
  }

  // On which side the conditional of these parts is read. `for_device`: in the copy for the device
  // of what has two.
  bool is_for_device(const std::vector<const Directive*>& parts, bool for_device) const {
    const std::string condition = condition_of(*parts.front());
    const std::size_t first = parts.front()->token_index, last = parts.back()->token_index;
    const Constructs::Body* innermost = nullptr;
    for (const Constructs::Body& body : found_.bodies) {
      if (body.open < first && first <= body.close) innermost = &body;
    }
    if (innermost != nullptr) {
      if (innermost->is_for_both && !for_device) return false;
      // PTX cannot run here. Where something stands in its place for other devices, that is taken.
      const std::size_t next = parts[1]->token_index;
      return parts.size() == 2 || !asks_for_device(condition) || !has_assembly(first, next) ||
             has_assembly(next, last);
    }
    if (first < tokens_.size() && structure_.scope(first) == Scope::kBlock) return false;
    for (std::size_t k = first; k < last; ++k) {
      if (structure_.names_device(k)) return true;
    }
    // Who compares asks for a chip, not for a side.
    return has_any(condition, {"__CUDA_ARCH__<", "__CUDA_ARCH__>", "__CUDA_ARCH__="});
  }

  // Directives between which __CUDA_ARCH__ is defined, as they are written.
  void set_sides(bool for_device, std::map<std::size_t, std::string>* rewritten) const {
    std::vector<std::pair<const Directive*, bool>> open;  // the #endif, and what holds after it
    bool is_defined = false;
    for (std::size_t i = 0; i < file_.directives.size(); ++i) {
      const Directive& directive = file_.directives[i];
      if (directive.discarded) continue;
      const auto define = [&](bool wanted) {
        is_defined = wanted;
        return std::string(wanted ? "#define __CUDA_ARCH__ CUDA_CPU_ARCH" : "#undef __CUDA_ARCH__");
      };
      if (!open.empty() && open.back().first == &directive) {
        (*rewritten)[directive.begin] = text_of(directive) + "\n" + define(open.back().second);
        open.pop_back();
      }
      if (directive.kind != Directive::kIf) continue;
      const std::vector<const Directive*> parts = parts_of(i);
      const bool asks = std::any_of(parts.begin(), parts.end(),
                                    [&](const Directive* part) { return asks_for_side(*part); });
      if (!asks || parts.back()->kind != Directive::kEndif) continue;
      const bool wanted = is_for_device(parts, for_device);
      if (wanted == is_defined) continue;
      open.emplace_back(parts.back(), is_defined);
      (*rewritten)[directive.begin] =
          define(wanted) + "\n#line " + std::to_string(directive.line) + "\n" + text_of(directive);
    }
  }

  // Whether the `{` at i begins the body of a function for both sides that asks for its side.
  bool is_asking_body_for_both(std::size_t i) const {
    for (const Constructs::Body& body : found_.bodies) {
      if (body.open != i || !body.is_for_both) continue;
      for (const Directive& directive : file_.directives) {
        const bool is_inside = i < directive.token_index && directive.token_index <= body.close;
        if (is_inside && asks_for_side(directive)) return true;
      }
    }
    return false;
  }

  // { ... }  ->  { if (on_device()) { ... } else { ... } }, and the latter alone in a file of host
  // code.
  void emit_both_sides(std::size_t open) {
    const std::size_t close = structure_.match(open);
    const auto copy = [&](const char* before, bool for_device) {
      out_ += before;
      in_copy_ = true;
      in_device_copy_ = for_device;
      align(tokens_[open].line, tokens_[open].end);
      copy_gap(open + 1);
      if (open + 1 < close) {
        emit(open + 1, close);
        copy_gap(close);
      }
      out_ += '}';
      in_copy_ = in_device_copy_ = false;
    };
    copy("{\n#ifdef CUDA_CPU_ARCH\nif (::cuda_cpu::on_device()) {", true);
    copy("\nelse\n#endif\n{", false);
    align_with(close);
    out_ += '}';
  }

  bool has_work() const {
    return !found_.launches.empty() || !found_.shared.empty() || !found_.returns.empty() ||
           !found_.kernel_ends.empty() || !found_.assembly.empty() || !found_.symbols.empty() ||
           !found_.reworded.empty() || !found_.wrapped.empty() || !found_.stores.empty();
  }

  // The directive's text, rewritten.
  std::string run_macro() {
    out_ = file_.text.substr(macro_->begin, tokens_[0].begin - macro_->begin);
    emit(0, tokens_.size());
    if (const auto shared = found_.symbols.find(tokens_.size()); shared != found_.symbols.end()) {
      out_ += ';';
      emit_symbols(shared->second);
    }
    return std::move(out_);
  }

  // ---- pieces of source ----

  // Whether the learner's own lines are written. Compilers print the line of the original file
  // under a message, with a caret below its column. So `#line` and spaces put each piece that can
  // be wrong in the columns where it was written. In a macro no directives are possible: its lines
  // are kept.
  bool keeps_columns() const { return macro_ == nullptr && !is_flat_; }

  // Everything between two tokens: space, comments, directives.
  void copy_between(std::size_t begin, std::size_t end) {
    if (is_flat_) {
      if (begin == end) return;
      out_ += ' ';
      copy_directives(begin, end);
      return;
    }
    for (const Directive* directive : directives_between(begin, end)) {
      const std::map<std::size_t, std::string>& all = in_device_copy_ ? of_device_ : macros_;
      const auto rewritten = all.find(directive->begin);
      const bool ends_branch =
          directive->kind == Directive::kElse || directive->kind == Directive::kEndif;
      depth_ += (directive->kind == Directive::kIf) - (directive->kind == Directive::kEndif);
      // A #line in a branch that is left out does not count.
      const bool has_more_lines = ends_branch && (rewritten != all.end() || adds_lines_);
      if (rewritten == all.end() && !has_more_lines) continue;
      out_.append(file_.text, begin, directive->begin - begin);
      const std::string text = text_of(*directive);
      out_ += rewritten == all.end() ? text : rewritten->second;
      if (has_more_lines) {
        const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
        out_ += "\n#line " + std::to_string(directive->line + lines + 1);
        adds_lines_ = depth_ > 0;
      }
      begin = directive->end;
    }
    out_.append(file_.text, begin, end - begin);
  }

  // Conditional compilation between tokens whose layout is otherwise made anew.
  void copy_directives(std::size_t begin, std::size_t end) {
    for (const Directive* directive : directives_between(begin, end)) {
      out_ += '\n' + text_of(*directive) + '\n';
    }
  }

  std::vector<const Directive*> directives_between(std::size_t begin, std::size_t end) const {
    std::vector<const Directive*> result;
    if (macro_ != nullptr) return result;
    auto first = std::lower_bound(
        file_.directives.begin(), file_.directives.end(), begin,
        [](const Directive& directive, std::size_t offset) { return directive.begin < offset; });
    for (; first != file_.directives.end() && first->begin < end; ++first) {
      result.push_back(&*first);
    }
    return result;
  }

  void copy_gap(std::size_t i) { copy_between(tokens_[i - 1].end, tokens_[i].begin); }

  // A gap whose layout is replaced by align_with.
  void drop_gap(std::size_t i) {
    if (keeps_columns()) {
      copy_directives(tokens_[i - 1].end, tokens_[i].begin);
    } else {
      copy_gap(i);
    }
  }

  // Continues at the line and column where token i was written.
  void align_with(std::size_t i) {
    if (keeps_columns() && i < tokens_.size()) align(tokens_[i].line, tokens_[i].begin);
  }

  // Continues after token i, which is a punctuation mark. Only needed when something follows on
  // its line.
  void align_behind(std::size_t i) {
    if (!keeps_columns() || i + 1 >= tokens_.size()) return;
    const std::size_t line_end = file_.text.find('\n', tokens_[i].end);
    if (line_end >= tokens_[i + 1].begin) align(tokens_[i].line, tokens_[i].end);
  }

  // Columns that far to the right are not kept: a line would cost the square of its length.
  static constexpr std::size_t kMostColumns = 500;

  void begin_line(int line) {
    out_ += "\n#line " + std::to_string(line) + "\n";
    adds_lines_ = true;
  }

  void align(int line, std::size_t offset) {
    begin_line(line);
    std::size_t start = offset;
    while (start > 0 && file_.text[start - 1] != '\n') {
      if (offset - start == kMostColumns) return;
      --start;
    }
    for (std::size_t k = start; k < offset; ++k) out_ += file_.text[k] == '\t' ? '\t' : ' ';
  }

  // The line of token i, and that after its file, as arguments of a call.
  std::string line_text(std::size_t i) const {
    return macro_ != nullptr ? "__LINE__" : std::to_string(tokens_[i].line);
  }
  std::string site(std::size_t i) const {
    return (macro_ != nullptr ? "__FILE__" : quoted(path_)) + ", " + line_text(i);
  }

  // Tokens as one string literal, in which a macro's parameters are expanded.
  std::string name_literal(std::size_t first, std::size_t last) const {
    std::string result = "\"";
    for (std::size_t i = first; i < last; ++i) {
      const std::string word = structure_.spelling(i);
      if (word == "##") continue;
      const bool is_parameter =
          macro_ != nullptr && std::find(macro_->parameters.begin(), macro_->parameters.end(),
                                         word) != macro_->parameters.end();
      if (is_parameter) {
        result += "\" #" + word + " \"";
        continue;
      }
      const bool words_meet = i > first && !structure_.is(i - 1, "##") &&
                              tokens_[i].kind != Token::kPunctuation &&
                              tokens_[i - 1].kind != Token::kPunctuation;
      const bool after_comma = i > first && structure_.is(i - 1, ",");
      if (words_meet || after_comma) result += ' ';
      const std::string escaped = quoted(word);
      result += escaped.substr(1, escaped.size() - 2);
    }
    return result + "\"";
  }

  // The name of a variable, and as a string literal.
  std::string name_text(std::size_t last) const {
    std::string result;
    for (std::size_t i = structure_.name_begin(last); i <= last; ++i) {
      result += structure_.spelling(i);
    }
    return result;
  }
  std::string name_string(std::size_t last) const {
    return name_literal(structure_.name_begin(last), last + 1);
  }

  // ---- output ----

  void emit(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last;) {
      if (i != first) copy_gap(i);
      i = emit_one(i, last);
    }
  }

  // Emits what begins at token i and ends before `last`; returns the token after it.
  std::size_t emit_one(std::size_t i, std::size_t last) {
    // A launch whose kernel alone is being emitted does not end before `last`.
    const auto launch = found_.launches.find(i);
    if (launch != found_.launches.end() && launch->second.last < last) {
      emit_launch(launch->second);
      return ends_in_branches(launch->second) ? launch->second.arguments : launch->second.last + 1;
    }
    if (found_.host_functions.count(i) != 0) {
      out_ += "CUDA_CPU_HOST_ONLY ";
      align_with(i);
    }
    if (const auto it = found_.shared.find(i); it != found_.shared.end()) {
      emit_shared(it->second);
      return std::min(it->second.last + 1, tokens_.size());
    }
    if (keeps_columns() && !in_copy_ && is_asking_body_for_both(i)) {
      emit_both_sides(i);
      return structure_.match(i) + 1;
    }
    if (const auto it = found_.launch_bounds.find(i); it != found_.launch_bounds.end()) {
      const std::size_t open = it->second, close = structure_.match(open);
      // A constant: what computes it, as in std::min(a, b), is no call by device code.
      out_ += "{ constexpr ::cuda_cpu::LaunchBounds cuda_cpu_bounds(" + flat(open + 1, close) +
              "); ::cuda_cpu::keep_launch_bounds(" + site(i) + ", cuda_cpu_bounds);";
      align_behind(i);
      return i + 1;
    }
    if (const auto it = found_.returns.find(i); it != found_.returns.end()) {
      emit_return(i, it->second);
      return it->second + 1;
    }
    if (const auto it = found_.assembly.find(i);
        it != found_.assembly.end() &&
        (in_device_copy_ || found_.assembly_for_both.count(i) == 0)) {
      out_ +=
          "static_assert(false, \"inline PTX is not supported by the CPU backend: put the "
          "statement behind #if !defined(__CUDA_CPU__)\")";
      align_behind(it->second);
      return it->second + 1;
    }
    if (found_.kernel_ends.count(i) != 0) out_ += "::cuda_cpu::leave(" + line_text(i) + "); ";
    if (found_.long_doubles.count(i) != 0) {
      const std::string word = structure_.spelling(i);
      if (word != "long") out_ += word.substr(0, word.size() - 1);
      align_behind(i);
      return i + 1;
    }
    if (const auto it = found_.stores.find(i); it != found_.stores.end() && it->second < last) {
      emit_store(i, it->second);
      return it->second + 1;
    }
    if (const auto it = found_.wrapped.find(i);
        it != found_.wrapped.end() && it->second.last < last) {
      emit_wrapped(it->second.before, i, it->second.last);
      return it->second.last + 1;
    }
    if (const auto it = found_.reworded.find(i); it != found_.reworded.end()) {
      out_ += it->second.before;
      if (!it->second.before.empty()) align_with(i);
      out_ += it->second.text;
      align_behind(i);
      return i + 1;
    }
    out_ += file_.text_of(tokens_[i]);
    if (const auto it = local_arrays_.find(i); it != local_arrays_.end()) {
      for (const LocalArrayTokens& array : it->second) {
        out_ += std::string(" CUDA_CPU_LOCAL_ARRAY(") + structure_.spelling(array.name) +
                (array.has_unknown_index ? ", true, " : ", false, ") +
                (array.type != kNone ? "true)" : "false)");
      }
      align_behind(i);
    }
    if (const auto it = found_.symbols.find(i); it != found_.symbols.end()) {
      emit_symbols(it->second);
      out_ += ';';
      align_behind(i);
    }
    return i + 1;
  }

  // int a[4]  ->  int CUDA_CPU_GUARDED a CUDA_CPU_GUARDED_END [4] CUDA_CPU_GUARDS(int[4])
  // int a[4] = {1}  ->  ...[4] CUDA_CPU_GUARDS_FROM(int[4]) {1} CUDA_CPU_GUARDS_END
  void put_guards_around(const LocalArrayTokens& array) {
    if (array.type == kNone) return;
    std::size_t last = structure_.match(array.name + 1);
    while (structure_.is(last + 1, "[")) last = structure_.match(last + 1);
    const std::string type =
        "(" + flat(array.type, array.type_end) + flat(array.name + 1, last + 1) + ")";
    found_.reworded[array.name] = {structure_.spelling(array.name) + " CUDA_CPU_GUARDED_END",
                                   "CUDA_CPU_GUARDED "};
    std::size_t value = last + 1;
    if (structure_.is(value, "=")) found_.reworded[value++] = {};
    if (structure_.is_any(value, {",", ";"})) {
      found_.reworded[last] = {"] CUDA_CPU_GUARDS" + type};
      return;
    }
    found_.reworded[last] = {"] CUDA_CPU_GUARDS_FROM" + type};
    const std::size_t end = structure_.is(value, "{") ? structure_.match(value) : value;
    found_.reworded[end] = {structure_.spelling(end) + " CUDA_CPU_GUARDS_END"};
  }

  // = f(x)  ->  = ::cuda_cpu::stored(f(x))
  void emit_store(std::size_t i, std::size_t last) {
    out_ += '=';
    copy_gap(i + 1);
    out_ += macro_ != nullptr ? "CUDA_CPU_STORED(" : "::cuda_cpu::stored(";
    align_with(i + 1);
    emit(i + 1, last + 1);
    out_ += ')';
    align_behind(last);
  }

  // (T*)e             ->  ::cuda_cpu::aligned((T*)e)
  // __shfl_sync(...)  ->  (::cuda_cpu::shuffle_is_used(), __shfl_sync(...))
  void emit_wrapped(const char* before, std::size_t i, std::size_t last) {
    out_ += before;
    align_with(i);
    out_ += structure_.spelling(i);
    if (i < last) {
      copy_gap(i + 1);
      emit(i + 1, last + 1);
    }
    out_ += ')';
    align_behind(last);
  }

  // return;    ->  return ::cuda_cpu::leave(LINE);
  // return e;  ->  { ::cuda_cpu::leave(LINE); return e; }
  void emit_return(std::size_t i, std::size_t semicolon) {
    const std::string leave = "::cuda_cpu::leave(" + line_text(i) + ")";
    const bool has_value = semicolon != i + 1;
    if (has_value) {
      out_ += "{ " + leave + "; ";
      align_with(i);
      out_ += "return";
      copy_gap(i + 1);
      emit(i + 1, semicolon);
    } else {
      out_ += "return " + leave;
    }
    copy_gap(semicolon);
    out_ += has_value ? "; }" : ";";
    align_behind(semicolon);
  }

  void emit_launch(const LaunchTokens& launch) {
    const std::size_t configuration = launch.open + 3;
    const std::size_t first_argument = launch.arguments + 1;
    const bool is_split = ends_in_branches(launch);
    const std::string passed_on = "static_cast<decltype(cuda_cpu_p)>(cuda_cpu_p)...";

    if (is_split) out_ += "[&](auto&&... cuda_cpu_p) { ";
    out_ += "::cuda_cpu::launch(::cuda_cpu::LaunchConfig(";
    drop_gap(configuration);
    align_with(configuration);
    emit(configuration, launch.close);
    drop_gap(launch.close);
    out_ += "), ::cuda_cpu::LaunchedKernel{" + name_literal(launch.first, launch.open) + ", " +
            site(launch.first) + "}, [&" + captures(launch) + "] { ";

    // The plain call, in the learner's columns: errors are reported here, as for any function.
    align_with(launch.first);
    emit(launch.first, launch.open);
    if (is_split) {
      out_ += '(' + passed_on;
    } else {
      const int kernel_line = tokens_[launch.open - 1].line;
      if (keeps_columns() && tokens_[launch.arguments].line == kernel_line) {
        out_.append(tokens_[launch.arguments].begin - tokens_[launch.open - 1].end, ' ');
      } else if (keeps_columns()) {
        align_with(launch.arguments);
      } else {
        drop_gap(launch.arguments);
      }
      emit(launch.arguments, launch.last);
      drop_gap(launch.last);
    }
    out_ += ')';
    // clang prints the line that it reads, so the rest goes to another line.
    if (keeps_columns()) begin_line(tokens_[is_split ? launch.open : launch.last].line);
    out_ += "; }";

    // The same call with copies of the arguments, which are evaluated once. A braced list has no
    // type to copy.
    if (is_split || !has_braced_argument(launch)) {
      const bool was_flat = std::exchange(is_flat_, !keeps_columns());
      const std::string kernel = flat(launch.first, launch.open);
      const std::string call = kernel + "(static_cast<decltype(cuda_cpu_a)>(cuda_cpu_a)...)";
      out_ += ", [=](auto&&... cuda_cpu_a) CUDA_CPU_HOST_ONLY -> decltype(void(" + call + ")) { " +
              call + "; }, [=](auto cuda_cpu_f) -> decltype(cuda_cpu_f(";
      repeat_kernel(launch);
      out_ += ")) { return cuda_cpu_f(";
      repeat_kernel(launch);
      out_ += "); }";
      if (is_split) {
        out_ += ", " + passed_on;
      } else if (first_argument < launch.last) {
        const bool only_pack =
            first_argument + 1 == launch.last && structure_.is(first_argument, "__VA_ARGS__");
        out_ += only_pack ? " __VA_OPT__(,) " : ", ";
        drop_gap(first_argument);
        align_with(first_argument);
        emit(first_argument, launch.last);
        if (keeps_columns()) drop_gap(launch.last);
      }
      is_flat_ = was_flat;
    }
    if (!is_split) align_with(launch.last);
    out_ += is_split ? "); }" : ")";
    const Token& closing = tokens_[launch.arguments - 1];
    if (is_split && keeps_columns()) align(closing.line, closing.end);
  }

  // Whether an #if begins or ends between the kernel and the last bracket, so that the arguments
  // have several ends, or beginnings. Then these stay where they are, behind a function that
  // launches the kernel with what it is given.
  bool ends_in_branches(const LaunchTokens& launch) const {
    int depth = 0;
    for (const Directive* directive :
         directives_between(tokens_[launch.first].end, tokens_[launch.last].begin)) {
      if (directive->discarded) continue;
      depth += (directive->kind == Directive::kIf) - (directive->kind == Directive::kEndif);
      if (depth < (directive->kind == Directive::kElse ? 1 : 0)) return true;
    }
    return depth != 0;
  }

  // A kernel that is not declared is an error here, where it is not called, so the message is
  // always the same.
  void repeat_kernel(const LaunchTokens& launch) {
    align_with(launch.first);
    emit(launch.first, launch.open);
    if (keeps_columns()) begin_line(tokens_[launch.first].line);
  }

  std::string flat(std::size_t first, std::size_t last) {
    std::string saved = std::exchange(out_, {});
    const bool was_flat = std::exchange(is_flat_, true);
    emit(first, last);
    is_flat_ = was_flat;
    saved.swap(out_);
    return saved;
  }

  bool has_braced_argument(const LaunchTokens& launch) const {
    for (std::size_t i = launch.arguments; i < launch.last; ++i) {
      const bool begins_argument = i == launch.arguments || structure_.is(i, ",");
      if (begins_argument && structure_.is(i + 1, "{")) return true;
      if (i != launch.arguments) i = structure_.skip_brackets(i);
    }
    return false;
  }

  // clang before 16 captures a structured binding only when it is named.
  std::string captures(const LaunchTokens& launch) const {
    std::string result;
    std::set<std::string> named;
    for (std::size_t i = launch.arguments + 1; i < launch.last; ++i) {
      if (!structure_.is_identifier(i)) continue;
      const std::string word = structure_.spelling(i);
      const bool is_member =
          structure_.is_any(i - 1, {".", "->", "::"}) || structure_.is(i + 1, "::");
      if (is_member || found_.structured_bindings.count(word) == 0) continue;
      if (named.insert(word).second) result += ", &" + word + " = " + word;
    }
    return result;
  }

  /// A macro that somewhere stands for `__shared__` must do so here, too.
  std::string check_of_name(const SharedTokens& shared) const {
    for (std::size_t i = shared.first; i < shared.last; ++i) {
      const Token& token = tokens_[i];
      const std::string word = file_.text_of(token);
      if (!structure_.is(i, "__shared__") || word == "__shared__") continue;
      return "static_assert(::cuda_cpu::names_shared(CUDA_CPU_TEXT(" + word + ")), \"" + word +
             " does not stand for __shared__ here, but it does where it is defined another time: "
             "write the declarations out, each behind its own #if\"); ";
    }
    return {};
  }

  void emit_shared(const SharedTokens& shared) {
    // Names are on the line that the message about a wrong declaration should have.
    const std::size_t name = shared.names[0];
    const int line = tokens_[name].line;
    const std::string where = site(name);
    if (shared.is_dynamic) {
      out_ += check_of_name(shared);
      emit_dynamic_shared(shared);
    } else {
      std::string type = "cuda_cpu_shared_" + std::to_string(tokens_[shared.first].line);
      if (shared.ordinal > 1) type += "_" + std::to_string(shared.ordinal);
      out_ += "struct " + type + " { ";
      align_with(shared.first);
      for (std::size_t i = shared.first; i < shared.last; ++i) {
        if (i != shared.first) copy_gap(i);
        if (structure_.is_any(i, {"__shared__", "static"})) {
          out_.append(is_flat_ ? 0 : tokens_[i].end - tokens_[i].begin, ' ');
        } else {
          out_ += structure_.spelling(i);
        }
      }
      out_ += "; " + check_of_name(shared) + "};";
      for (std::size_t k = 0; k < shared.names.size(); ++k) {
        const std::size_t at = shared.names[k];
        const std::string word = name_text(at);
        if (k > 0) out_ += ";";
        out_ += " auto& ";
        if (k == 0) align_with(at);
        if (shared.names.size() == 1) {
          out_ += word + " = ::cuda_cpu::shared<" + type + ">(" + name_string(at) + ", " + where +
                  ")." + word;
        } else {
          out_ += word + " = ::cuda_cpu::shared<::cuda_cpu::SharedName<" + type + ", decltype(" +
                  type + "::" + word + "), " + std::to_string(k) + ">>(" + name_string(at) + ", " +
                  where + ").value";
        }
      }
      out_ += "; static_assert(sizeof(" + type +
              ") <= 49152, \"too much __shared__ memory: a block has 48 KiB for arrays of fixed "
              "size; an extern __shared__ array may be larger, after cudaFuncSetAttribute\")";
    }
    if (shared.last < tokens_.size()) {
      // Adds the lines that lie between its first and its last.
      if (tokens_[shared.last].line != line && keeps_columns()) align_with(shared.last);
      out_ += ';';
      align_behind(shared.last);
    }
  }

  // extern __shared__ T name[];  ->  a pointer to the block's dynamic shared memory.
  void emit_dynamic_shared(const SharedTokens& shared) {
    const std::size_t name = shared.names[0];
    std::string type;
    std::vector<std::size_t> alignment;  // the tokens of what asks for one
    std::size_t type_first = shared.first;
    for (std::size_t i = shared.first; i < structure_.name_begin(name); ++i) {
      if (const std::size_t behind = structure_.skip_attribute(i);
          behind != i && !structure_.is(i, "decltype")) {
        if (structure_.is_any(i, {"alignas", "__align__", "__attribute__"})) {
          for (std::size_t k = i; k < behind; ++k) alignment.push_back(k);
        }
        i = behind - 1;
        continue;
      }
      if (structure_.is_any(i, {"extern", "static", "__shared__"})) continue;
      if (type.empty()) type_first = i;
      type += (type.empty() ? "" : " ") + structure_.spelling(i);
    }
    // Anything after the first [] belongs to the element's type.
    std::string shape;
    std::size_t behind = name + 1;
    const bool is_array = structure_.is(behind, "[");
    if (is_array && structure_.match(behind) != kNone) {
      behind = structure_.match(behind) + 1;
      if (behind < shared.last) shape = flat(behind, shared.last);
    }
    const std::string word = name_text(name);
    std::string least;  // of the alignment, where one is asked for: that of a structure
    if (!alignment.empty()) {
      const std::string aligned =
          std::string("cuda_cpu_aligned_") + (macro_ != nullptr ? "##" : "") + word;
      out_ += "struct " + aligned + " { ";
      for (std::size_t i = 0; i < alignment.size(); ++i) {
        if (i > 0 && alignment[i] == alignment[i - 1] + 1) {
          copy_gap(alignment[i]);
        } else {
          align_with(alignment[i]);
        }
        out_ += structure_.spelling(alignment[i]);
      }
      out_ += " char first; }; ";
      least = ", alignof(" + aligned + ")";
    }
    if (structure_.scope(name) == Scope::kNamespace) {
      out_ += "[[maybe_unused]] static const ::cuda_cpu::DynamicShared<";
      align_with(type_first);
      out_ += type + shape + least + "> ";
      align_with(name);
      out_ += word + "{}";
      return;
    }
    out_ += is_array ? "auto* const " : "auto& ";
    align_with(name);
    out_ += word + (is_array ? " = " : " = *") + "::cuda_cpu::dynamic_shared<";
    align_with(type_first);
    out_ += type + shape + least + ">(" + name_string(name) + ", " + site(name) + ")";
  }

  // Emitted after the variable's `;`, with none of their own at the end.
  void emit_symbols(const SymbolTokens& symbols) {
    for (const std::size_t at : symbols.names) {
      const std::string word = name_text(at);
      const std::string literal = name_string(at);
      if (at != symbols.names.front()) out_ += ';';
      if (symbols.space == "kConstant") {
        out_ += " static_assert(sizeof(" + word + ") <= 65536, \"__constant__ variable '\" " +
                literal + " \"' does not fit into the 64 KiB of constant memory\");";
      }
      out_ += symbols.is_in_function
                  ? " ::cuda_cpu::register_static([] {}, "
                  : std::string(" static const ::cuda_cpu::SymbolRegistrar cuda_cpu_symbol_") +
                        (macro_ != nullptr ? "##" : "") + word + "(";
      out_ += "&" + word + ", sizeof(" + word + "), ::cuda_cpu::Space::" + symbols.space + ", " +
              literal + ", " + site(at) + ", ::cuda_cpu::may_hold_pointers<decltype(" + word +
              ")>())";
    }
  }

  const LexedFile& file_;
  const std::string& path_;
  const Directive* macro_;
  const std::vector<Token>& tokens_;
  Structure structure_;
  Constructs found_;
  std::map<std::size_t, std::vector<LocalArrayTokens>> local_arrays_;  // by the `;`
  std::map<std::size_t, std::string> macros_;     // rewritten directives by offset
  std::map<std::size_t, std::string> of_device_;  // the same in the copy for the device
  bool in_copy_ = false, in_device_copy_ = false;
  bool is_flat_ = false;               // in a repetition, on one line: no comments, no newlines
  int depth_ = 0;                      // of conditionals
  bool adds_lines_ = false;            // since the last one ended
  std::set<std::string> arch_macros_;  // that stand for a question for __CUDA_ARCH__
  std::string out_;
};

}  // namespace

std::string rewrite(const LexedFile& file, const std::string& path) {
  return Rewriter(file, path, nullptr).run_file();
}

}  // namespace prepass
