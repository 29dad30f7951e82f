// SPDX-License-Identifier: MIT
// x.h declares what x.cpp defines, and nothing that is defined elsewhere.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "../catch.hpp"

namespace {

namespace fs = std::filesystem;

// The names that a file declares and defines at namespace scope, without class members.
struct Names {
  std::set<std::string> declared, defined;
};

std::string without(const std::string& text, const char* pattern) {
  return std::regex_replace(text, std::regex(pattern), " ");
}

// The text with blanks in place of comments, literals and directives. Both sides of an #if stay.
std::string plain(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto skip_to = [&](const std::string& end) {
      const std::size_t at = text.find(end, i);
      i = at == std::string::npos ? text.size() : at + end.size();
    };
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (text.compare(i, 2, "//") == 0 || (begins_line && text[i] == '#')) {
      do {
        skip_to("\n");
      } while (i >= 2 && i < text.size() && text[i - 2] == '\\');
      result += '\n';
    } else if (text.compare(i, 2, "/*") == 0) {
      skip_to("*/");
    } else if (text.compare(i, 2, "R\"") == 0) {
      const std::size_t open = text.find('(', i);
      skip_to(")" + text.substr(i + 2, open - i - 2) + "\"");
      result += "\"\"";
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !std::isalnum(text[i - 1])))) {
      const char quote = text[i++];
      while (i < text.size() && text[i] != quote) i += text[i] == '\\' ? 2 : 1;
      ++i;
      result += "\"\"";
    } else {
      result += text[i++];
    }
  }
  return result;
}

// The name that a statement declares as a function; empty if it declares none.
std::string function_in(std::string statement) {
  statement = without(statement, R"(__attribute__\s*\(\(.*?\)\)|\[\[.*?\]\]|\bnoexcept\b)");
  statement = without(statement, R"(\bdecltype\([^()]*\)|\b__asm__\s*\([^()]*\))");
  static const std::regex no_function(
      R"(^\s*(using|typedef|static_assert|struct|class|enum|union|friend|CUDA_CPU_[A-Z_]+\())");
  if (std::regex_search(statement, no_function)) return "";
  static const std::regex call(R"(^[^=(]*?[\w>*&\]]\s+[*&]*([A-Za-z_]\w*)\s*\()");
  std::smatch found;
  return std::regex_search(statement, found, call) ? found[1].str() : "";
}

Names names_in(const std::string& path) {
  std::ifstream file(path);
  const std::string text =
      plain({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  static const std::regex scope(R"(^\s*(inline\s+)?(namespace\s+[\w:]+|extern\s+"")\s*$)");
  Names names;
  std::string statement;
  int parentheses = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    parentheses += (c == '(') - (c == ')');
    if (c == ';' && parentheses == 0) {
      if (const std::string name = function_in(statement); !name.empty()) {
        names.declared.insert(name);
      }
      statement.clear();
    } else if (c == '}' && parentheses == 0) {
      statement.clear();  // of a namespace
    } else if (c == '{' && parentheses == 0) {
      if (std::regex_search(statement, scope)) {
        statement.clear();
        continue;
      }
      const std::string name = function_in(statement);
      if (!name.empty()) names.defined.insert(name);
      for (int depth = 1; depth > 0 && ++i < text.size();) {
        depth += (text[i] == '{') - (text[i] == '}');
      }
      const std::size_t next = text.find_first_not_of(" \n", i + 1);
      const bool goes_on = next != std::string::npos && text[next] == ';';  // a class, a value
      if (!name.empty() || !goes_on) statement.clear();
    } else {
      statement += c;
    }
  }
  return names;
}

std::vector<std::string> files(const std::string& ending) {
  std::vector<std::string> paths;
  for (const char* folder : {"types", "report", "engine", "runtime", "libs/cublas", "libs/graphs",
                             "libs/textures", "prepass", "xray", "races", "watch"}) {
    for (const fs::directory_entry& entry :
         fs::directory_iterator(std::string("common/cpu/") + folder)) {
      if (entry.path().extension() == ending) paths.push_back(entry.path().generic_string());
    }
  }
  return paths;
}

// The engine calls its hooks, and the room above that holds the watchers defines them.
const std::string kHooksDeclared = "common/cpu/engine/hooks.h";
const std::string kHooksDefined = "common/cpu/watch/hooks.cpp";

std::string source_of(const std::string& header) {
  if (header == kHooksDeclared) return kHooksDefined;
  return header.substr(0, header.rfind('.')) + ".cpp";
}

std::string header_of(const std::string& source) {
  if (source == kHooksDefined) return kHooksDeclared;
  return source.substr(0, source.rfind('.')) + ".h";
}

}  // namespace

TEST_CASE("declarations and definitions are told apart") {
  const fs::path path = fs::temp_directory_path() / "headers_test.h";
  std::ofstream(path) << R"(
#define SAY(x) \
  said(x)
namespace a {
struct S { S(); void member(); };
S::S() {}
extern int variable;
int declared(int x = f());  // commented(int);
[[noreturn]] void ends(const char* text) __attribute__((format(printf, 1, 2)));
inline int defined(int x) { return called(x); }
std::vector<const char*>& listed(
    int a);
const char *pointer(void (*callback)(int)) noexcept;
using F = void (*)(int);
constexpr int kValue = computed(3);
std::atomic<int> brace{0};
namespace { int hidden() { return 1; } }
extern "C" { void c_function(); }
}
)";
  const Names names = names_in(path.string());
  fs::remove(path);
  CHECK(names.declared ==
        std::set<std::string>{"declared", "ends", "listed", "pointer", "c_function"});
  CHECK(names.defined == std::set<std::string>{"defined"});
}

TEST_CASE("what x.h declares is defined in x.cpp") {
  const std::vector<std::string> headers = files(".h");
  REQUIRE(headers.size() > 30);
  std::size_t declarations = 0;
  for (const std::string& header : headers) {
    if (header == "common/cpu/engine/sanitizers.h")
      continue;  // declares functions that the sanitizers define
    const Names here = names_in(header), there = names_in(source_of(header));
    for (const std::string& name : here.declared) {
      ++declarations;
      INFO(header << " declares " << name);
      CHECK((there.defined.count(name) != 0 || here.defined.count(name) != 0));
    }
  }
  CHECK(declarations > 150);
}

TEST_CASE("every source has a header of its name, and includes it first") {
  for (const std::string& source : files(".cpp")) {
    const std::string name = fs::path(source).filename().generic_string();
    // The first is a program. The second defines a function that the C library's <assert.h>
    // declares, the third one that the compiler calls; the fourth runs before and after main.
    const std::set<std::string> alone = {"main.cpp", "bounds.cpp", "report.cpp"};
    if (alone.count(name) != 0) continue;
    INFO(source);
    const fs::path header = header_of(source);
    CHECK(fs::exists(header));
    std::ifstream file(source);
    std::string line;
    while (std::getline(file, line) && line.compare(0, 8, "#include") != 0) {
    }
    const fs::path from_here = header.lexically_relative(fs::path(source).parent_path());
    CHECK(line == "#include \"" + from_here.generic_string() + "\"");
  }
}
