// SPDX-License-Identifier: MIT
// The pre-pass as a program: it keeps every line and column, leaves alone what is not CUDA, and
// says plainly what it cannot read. launch_syntax.test.cu tests that its output means the right
// thing.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "../../common/cpu/prepass/lexer.cpp"
#include "../../common/cpu/prepass/refused.h"
#include "../catch.hpp"

namespace {

namespace fs = std::filesystem;

std::string from_environment(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

struct Result {
  int status;
  std::string output;  // stdout and stderr
};

Result run(const std::string& command) {
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  Result result{};
  char buffer[4096];
  std::size_t n;
  while ((n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0) result.output.append(buffer, n);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

// Of those that have ended; a busy machine takes nothing of it.
double processor_seconds_of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// A directory that is removed after the test.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "prepass.XXXXXX").string();
    REQUIRE(mkdtemp(&name[0]) != nullptr);
    path_ = name;
  }
  ~Scratch() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

Result run_prepass(const std::string& in, const std::string& out) {
  static const std::string binary = from_environment("PREPASS", "build/cpu/prepass");
  return run("'" + binary + "' '" + in + "' '" + out + "'");
}

// The output for a piece of source, which must be accepted.
std::string rewritten(const std::string& source) {
  const Scratch scratch;
  write(scratch / "in.cu", source);
  const Result result = run_prepass(scratch / "in.cu", scratch / "out.cu");
  CAPTURE(source, result.output);
  REQUIRE(result.status == 0);
  REQUIRE(result.output.empty());
  return read(scratch / "out.cu");
}

// What it says of a source that it refuses, in one line that begins with the number of the
// learner's; nothing is written.
std::string refusal_of(const std::string& source) {
  const Scratch scratch;
  const std::string in = scratch / "in.cu";
  write(in, source);
  const Result result = run_prepass(in, scratch / "out.cu");
  CAPTURE(source, result.output);
  CHECK(result.status == 1);
  CHECK(result.output.find(in + ":") == 0);
  CHECK(result.output.find('\n') == result.output.size() - 1);
  CHECK(!fs::exists(scratch / "out.cu"));
  return result.output.substr(std::min(in.size() + 1, result.output.size()));
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t occurrences(const std::string& text, const std::string& of) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(of, at)) != std::string::npos; ++at) ++count;
  return count;
}

// The pre-pass's output for the source, without the lines that it puts first.
std::string marked_body_of(const std::string& source) {
  const std::string text = rewritten(source);
  const std::size_t start = text.find("#line 1 ");
  return text.substr(text.find('\n', start) + 1);
}

// The same, without the marks of functions for the host alone.
std::string body_of(const std::string& source) {
  return std::regex_replace(marked_body_of(source),
                            std::regex("CUDA_CPU_HOST_ONLY \n#line [0-9]+\n[ \t]*"), "");
}

// Identifiers with the line and column at which a compiler sees them.
using Place = std::tuple<std::string, int, std::size_t>;
std::vector<Place> identifiers(const std::string& text) {
  const prepass::LexedFile file = prepass::lex(text);
  std::vector<Place> result;
  bool in_assembly = false;  // PTX is replaced
  for (const prepass::Token& token : file.tokens) {
    if (file.spelling(token) == "asm") in_assembly = true;
    if (file.spelling(token) == ";") in_assembly = false;
    if (token.kind != prepass::Token::kIdentifier || in_assembly) continue;
    const std::size_t newline =
        token.begin == 0 ? std::string::npos : text.rfind('\n', token.begin - 1);
    const std::size_t start = newline == std::string::npos ? 0 : newline + 1;
    result.emplace_back(file.spelling(token), token.line, token.begin - start);
  }
  return result;
}

std::vector<std::string> sources_of_the_repository() {
  std::vector<std::string> result;
  for (const char* const folder : {"chapters", "common", "tests"}) {
    if (!fs::is_directory(folder)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".cu" || extension == ".cuh") result.push_back(entry.path().string());
    }
  }
  return result;
}

}  // namespace

TEST_CASE("every identifier of every source keeps its line and its column") {
  // These words are replaced or moved.
  const std::set<std::string> gone = {"__shared__", "NAME_OF_SHARED", "static", "extern",
                                      "__align__",  "alignas",        "asm",    "volatile",
                                      "clock",      "malloc",         "free"};
  const std::vector<std::string> sources = sources_of_the_repository();
  REQUIRE(sources.size() > 3);
  const Scratch scratch;
  for (const std::string& source : sources) {
    const Result result = run_prepass(source, scratch / "out.cu");
    CAPTURE(source, result.output);
    REQUIRE(result.status == 0);
    std::set<Place> after;
    for (const Place& place : identifiers(read(scratch / "out.cu"))) after.insert(place);
    for (const Place& place : identifiers(read(source))) {
      if (gone.count(std::get<0>(place)) != 0 || after.count(place) != 0) continue;
      CAPTURE(std::get<0>(place), std::get<1>(place), std::get<2>(place));
      FAIL_CHECK("an identifier has moved");
    }
  }
}

TEST_CASE("__CUDA_ARCH__ is defined around what asks for it in device code, and nowhere else") {
  const auto count = [](const std::string& source) {
    const std::string text = body_of(source);
    const std::size_t defined = occurrences(text, "#define __CUDA_ARCH__");
    CHECK(occurrences(text, "#undef __CUDA_ARCH__") == defined);
    return defined;
  };
  const std::string asks = "#ifdef __CUDA_ARCH__\n x();\n#endif\n";
  const std::string ptx = "#if __CUDA_ARCH__ >= 700\n asm(\"exit;\");\n";
  CHECK(count("__global__ void k() {\n" + asks + asks + "}\n") == 2);
  CHECK(count("__device__ void f() {\n#if A\n" + asks + "#endif\n}\n") == 1);
  CHECK(count("__device__ void f() {\n#if A\n#elif __CUDA_ARCH__ > 5\n" + asks + "#endif\n}\n") ==
        1);
  CHECK(count("__host__ __device__ void f() {\n" + asks + "}\n") == 1);
  CHECK(count("#define D __device__ inline // a comment\nD void f() {\n" + asks + "}\n") == 1);
  CHECK(count("void f() {\n" + asks + "g([] __device__ {\n" + asks + "});\n}\n") == 1);
  CHECK(count("__device__ void f() {\n#ifdef OTHER\n x();\n#endif\n}\n") == 0);
  CHECK(count("void f() {\n" + asks + "}\n#define F __forceinline__\nF void g() {\n" + asks +
              "}\n") == 0);
  CHECK(count("#if __CUDA_ARCH__ < 600\n__device__ void f();\n#endif\n") == 1);
  CHECK(count("#ifdef __CUDA_ARCH__\n#define A 1\n#else\n#define A 2\n#endif\n") == 0);
  CHECK(count("#ifndef __CUDA_ARCH__\nvoid f() {}\n#endif\n") == 0);
  CHECK(count("#if 0\n__device__ void f() {\n" + asks + "}\n#endif\n") == 0);
  // PTX gives way to what stands in its place, where something does.
  CHECK(count("__device__ void f() {\n" + ptx + "#else\n x();\n#endif\n}\n") == 0);
  CHECK(count("__device__ void f() {\n" + ptx + "#endif\n}\n") == 1);
  CHECK(count("__device__ void f() {\n" + ptx + "#else\n asm(\"exit;\");\n#endif\n}\n") == 1);
  CHECK(has(body_of("__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\n return a;\n#endif\n"
                    " return b; }\nint x;\n"),
            "return b; }\n#line 5\n           }\nint x;\n"));
}

TEST_CASE("a branch that is left out does not change the lines behind it") {
  const std::string text = body_of(
      "void f() {\n#if A\n  k<<<1, 2>>>(x); g();\n#if B\n#endif\n#else\n  h();\n#endif // end\n"
      "  int y;\n#ifdef C\n#endif\n}\n");
  CHECK(has(text, "#else\n#line 7\n  h();\n#endif\n#line 9 // end\n  int y;\n#ifdef C\n#endif\n}"));
}

TEST_CASE("long double is a double in device code, with a warning, and nowhere else") {
  const Scratch scratch;
  std::string said;
  const auto words_of = [&](const std::string& source) {
    write(scratch / "long.cu", source);
    const Result result = run_prepass(scratch / "long.cu", scratch / "out.cu");
    CHECK(result.status == 0);
    said = result.output;
    std::string text = std::regex_replace(read(scratch / "out.cu"), std::regex("\n#line.*"), " ");
    return std::regex_replace(text, std::regex("\\s+"), " ");
  };
  const std::string warning = ": warning: device code has no long double";
  const auto in_kernel = [&](const std::string& body) {
    return words_of("__global__ void k(double* x) {\n" + body + "\n}\n");
  };
  CHECK(has(in_kernel("const long double y = 1.5L;"), "const double y = 1.5 ;"));
  CHECK(has(said, "long.cu:2" + warning));
  CHECK(said.find(warning) == said.rfind(warning));  // one for each line
  CHECK(has(in_kernel("double long y = 1e3l + 0x1p3L;"), "double y = 1e3 + 0x1p3 ;"));
  CHECK(has(said, warning));
  CHECK(has(words_of("__device__ double f(long long x) {\n return long(x) + 1L + 0xEL; }\n"),
            "return long(x) + 1L + 0xEL;"));
  CHECK(said.empty());
  for (const std::string head : {"", "__host__ __device__ "}) {
    CHECK(has(words_of(head + "long double f() { return 1.0L; }\n"),
              "long double f() { return 1.0L; }"));
    CHECK(said.empty());
  }
}

TEST_CASE("plain C++ passes through unchanged") {
  for (const std::string source : {
           "",
           "\n\n",
           "int x;",
           "int main() { return 1 << 2 >> 3; }\n",
           "// k<<<1, 2>>>(x)\n/* k<<<1, 2>>>(x) */ int y; // it's\n",
           "const char* s = \"k<<<1, 2>>>(x)\"; char c = '\"'; char d = '\\'';\n",
           "auto r = R\"delimiter(k<<<1, 2>>>(\" )\" )delimiter\"; auto l = u8R\"(\n'\n)\";\n",
           "int n = 1'000'000; float f = 0x1p-3f + 1e+5f + .5f; int m = 0b1'0;\n",
           "bool b = a < c << 2; auto p = &operator<<<char>; x = y <<= 3;\n",
           "template <class T = std::vector<std::vector<std::vector<int>>>> struct S;\n",
           "#define SHIFT(a) a << 3 // don't <<<\n#error don't\n#include <a<<<b>\nint x;\\\nint "
           "y;\n",
           "__global__ void k(int); int f(int k) { s << k << 1; k << (a >> (b)); return k >> (1); "
           "}\n",
           "#if 0\nisn't k<<< anything \"\n#else\nint z;\n#endif\n",
           "a\t=\tb;\r\nif (a)\r\n  return;\r\n",
           "<<<<<<< HEAD\nint a;\n=======\nint b;\n>>>>>>> other\n",
           "struct __device__ S; __device__ int f(int); __global__ void k(int);\n",
           "extern __device__ int x; template <class T> __device__ T t; using F = int();\n",
           "auto f = [] __device__ (int x) { return x; }; void g(int __device__ x = 3);\n",
           "struct T { __device__ int member() { return 1; } static int s; };\n",
       }) {
    CHECK(body_of(source) == source);
  }
}

TEST_CASE("a byte order mark is dropped") { CHECK(body_of("\xEF\xBB\xBFint x;\n") == "int x;\n"); }

TEST_CASE("the host's code is looked at from where a file makes memory that kernels use as well") {
  const auto keeps_hooks = [](const std::string& source) {
    return has(rewritten(source), "defined(LAB_FILE) || 1\n");
  };
  CHECK(keeps_hooks("void f(int** x) { cudaMallocManaged(x, 4); }"));
  CHECK(keeps_hooks("__managed__ int x;"));
  CHECK_FALSE(keeps_hooks("void f(int** x) { cudaMalloc(x, 4); } // cudaMallocManaged\n"));
}

TEST_CASE("functions of the host alone are marked, and none that device code may call") {
  const auto is_marked = [](const std::string& source) {
    const std::string text = marked_body_of(source);
    return has(text, "CUDA_CPU_HOST_ONLY ");
  };
  for (const std::string source :
       {"int main() { return 0; }", "static const std::vector<int>* f(int a) { return g(a); }",
        "template <class T> unsigned int f(T t) { return t; }",
        "extern \"C\" void f(int* a) { *a = 1; }", "namespace n { auto f() -> int { return 1; } }",
        "struct S { public: int f() const { return a; } int a; };"}) {
    INFO(source);
    CHECK(is_marked(source));
    CHECK(body_of(source) == source);
  }
  for (const std::string source :
       {"__device__ int f() { return 1; }", "__host__ __device__ int f() { return 1; }",
        "int f(int); __device__ int f(float); int f(int a) { return a; }",
        "constexpr int f() { return 1; }", "HD int f() { return 1; }", "both int f() { return 1; }",
        "both S f() { return 1; }", "S::S(int a) : a(a) {}",
        "struct S { S(int a) : a(a) {} S(S&) {} int operator()(int b) { return b; } };",
        "CASE(a) { f(); }", "int f(int);", "struct S { __device__ int f() { return 1; } };",
        "auto f = [](int a) { return a; };", "int S::f() { return 1; }"}) {
    INFO(source);
    CHECK_FALSE(is_marked(source));
  }
}

TEST_CASE("only a kernel's own returns are marked") {
  const std::string source =
      "__global__ void k(int* x) {\n"
      "  auto f = [] { return; };\n"
      "  struct S { void g() { return; } };\n"
      "  if (x) return;\n"
      "  f(); S().g(); x[0] = [&](int) mutable -> int { return 1; }(2);\n"
      "}\n"
      "void host() { return; }\n";
  const std::string text = rewritten(source);
  std::set<std::string> lines;
  const std::regex leave("::cuda_cpu::leave\\(([0-9]+)\\)");
  for (std::sregex_iterator it(text.begin(), text.end(), leave), end; it != end; ++it) {
    lines.insert((*it)[1]);
  }
  CHECK(lines == std::set<std::string>{"4", "6"});
}

TEST_CASE("an atomic that is a whole statement says that nobody uses its result") {
  const auto are_marked = [](const std::string& statements) {
    const std::string text = rewritten("__device__ int f(int* p) {\n" + statements + "\n}\n");
    return occurrences(text, ", ::cuda_cpu::result_is_unused();");
  };
  CHECK(are_marked("atomicAdd(p, 1);") == 1);
  CHECK(are_marked("  if (*p < 3) { atomicAdd_block(&p[f(p)], 1); } ::atomicInc(p, 7);") == 2);
  CHECK(are_marked("for (int i = 0; i < 3; ++i) atomicAdd(p, i);") == 1);
  CHECK(are_marked("if (p) atomicAdd(p, 1); else atomicAdd(p + 1, 1);") == 2);
  CHECK(are_marked("int a = atomicAdd(p, 1); a = atomicAdd(p, 1); return atomicAdd(p, 1);") == 0);
  CHECK(are_marked("g(atomicAdd(p, 1)); p[atomicAdd(p, 1)] = 2; if (atomicAdd(p, 1) == 2) f(p);") ==
        0);
  CHECK(are_marked("atomicAdd(p, 1) + 1; a.atomicAdd(p, 1); b::atomicAdd(p, 1);") == 0);
  CHECK(are_marked("p == 0 ? 1 : atomicAdd(p, 1); atomicCAS(p, 1, 2);") == 0);
  CHECK(body_of("double atomicAdd(double* p, double v);\n") ==
        "double atomicAdd(double* p, double v);\n");
}

TEST_CASE("barriers of one line, and all that macros make, are told apart") {
  const auto numbers_in = [](const std::string& source) {
    const std::string text = body_of(source);
    std::vector<std::string> result;
    const std::string key = "__builtin_LINE(), static_cast<unsigned char>(";
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
      const std::size_t begin = at + key.size();
      result.push_back(text.substr(begin, text.find(')', begin) - begin));
    }
    return result;
  };
  using Numbers = std::vector<std::string>;
  CHECK(numbers_in("__global__ void k() {\n  __syncthreads();\n  __syncthreads();\n}\n") ==
        Numbers{});
  CHECK(
      numbers_in("__global__ void k(bool b) { if (b) __syncthreads(); else __syncthreads(); }\n") ==
      Numbers{"1"});
  CHECK(numbers_in("__global__ void k(int* b) {\n  *b = *b ? __syncthreads_or(f(1)) : "
                   "__syncthreads_or(2) + __syncthreads_and(0);\n}\n") == Numbers{"1", "2"});
  CHECK(numbers_in("__global__ void k(bool b) {\n  auto g = cg::this_thread_block();\n"
                   "  if (b) g.sync(); else cg::this_thread_block().sync(); cg::sync(g);\n}\n") ==
        Numbers{"1", "2"});
  CHECK(numbers_in("__device__ void f(const thread_block& g, bool b) { g.sync(); g.sync(); }\n") ==
        Numbers{"1"});
  CHECK(numbers_in("__global__ void k(bool b) {\n  auto g = cg::this_grid();\n"
                   "  if (b) g.sync(); else cg::this_grid().sync(); cg::sync(g);\n}\n") ==
        Numbers{"1", "2"});
  CHECK(numbers_in("__device__ void f(cg::grid_group g, bool b) { g.sync(); g.sync(); }\n") ==
        Numbers{"1"});
  CHECK(numbers_in("__global__ void k(File g, bool b) { g.sync(); g.sync(); tile.sync(); }\n") ==
        Numbers{});
  CHECK(numbers_in("#define B() __syncthreads()\n") == Numbers{"1 + __COUNTER__ % 255"});
  CHECK(has(body_of("__global__ void k() {\n  __syncthreads( ); __syncthreads_or(2);\n}\n"),
            "__syncthreads_or(2, __builtin_FILE(), __builtin_LINE()"));
}

TEST_CASE("casts to pointers in device code are checked, and nothing that looks like one") {
  // What stands in aligned(...), without the layout.
  const auto checked_in = [](const std::string& statement) {
    const std::string text = body_of("__device__ void f(T* p, int n) { " + statement + " }\n");
    std::vector<std::string> result;
    const std::string key = "::cuda_cpu::aligned(";
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
      std::string inside;
      int depth = 1;
      for (std::size_t k = at + key.size(); k < text.size(); ++k) {
        if (text[k] == '\n' && text.compare(k + 1, 5, "#line") == 0) k = text.find('\n', k + 1);
        depth += text[k] == '(' ? 1 : text[k] == ')' ? -1 : 0;
        if (depth == 0) break;
        if (text[k] != ' ' && text[k] != '\n') inside += text[k];
      }
      result.push_back(inside);
    }
    return result;
  };
  using Casts = std::vector<std::string>;
  CHECK(checked_in("g(*reinterpret_cast<const int*>(p + 1));") ==
        Casts{"reinterpret_cast<constint*>(p+1)"});
  CHECK(checked_in("*(int*)p = 1;") == Casts{"(int*)p"});
  CHECK(checked_in("int x = ((const ns::V<4>*)(p + n))[3].x;") == Casts{"(constns::V<4>*)(p+n)"});
  CHECK(checked_in("float4 v = *(float4*)&p[n * 4] + w;") == Casts{"(float4*)&p[n*4]"});
  CHECK(checked_in("return (int*)(char*)a.b->c(n)[2]++ + 1;") ==
        Casts{"(int*)(char*)a.b->c(n)[2]++"});
  CHECK(checked_in("g(static_cast<double*>(p), static_cast<int>(n));") ==
        Casts{"static_cast<double*>(p)"});
  CHECK(checked_in("g((int*)h<T>(p) - 1);") == Casts{"(int*)h<T>(p)"});
  CHECK(checked_in("n = (n) * (n); n = sizeof(int*) * n; int (*g)(int*) = f; (n * n) * n;") ==
        Casts{});
  CHECK(checked_in("if (n * (n) > 1) g((float)n, int(n), (T) * n);") == Casts{});
  CHECK(body_of("void host(char* p) { *(int*)p = 1; }\n") ==
        "void host(char* p) { *(int*)p = 1; }\n");
}

TEST_CASE("what a function returns into memory is stored by an assignment of its own") {
  const auto is_marked = [](const std::string& statement) {
    const std::string text =
        body_of("__device__ void f(T* p, S* s, int n) { " + statement + " }\n");
    return has(text, "= ::cuda_cpu::stored(");
  };
  for (const char* const statement :
       {"p[n] = g(n);", "*p = a.b(n) + 1;", "s->a = g<int, 2>(n);", "p[1] = T(a, b)(c);",
        "if (n < 3) *(p + n) = g(a < b, c);", "s[0].a = -ns::g();", "p[n] = n < 3 ? g(n) : a;",
        "p[n] = n < 3 ? a : n < 4 ? b : g(n);", "p[n] = n < 3 ? n < 2 ? a : g(n) : b;"}) {
    INFO(statement);
    CHECK(is_marked(statement));
  }
  for (const char* const statement :
       {"p[n] = n;", "p[n] = (n + 1) * n;", "T t = g(n);", "t = g(n);", "p[n] = {g(n)};",
        "p[n] == g(n);", "auto [a, b] = g(n);", "auto& [a, b] = g(n);", "p[n] = sizeof(n);",
        "p[n] = g(n) ? a : h(n) ? b : c;", "for (p[0] = g(n); n > 1;) --n;"}) {
    INFO(statement);
    const bool first_of_for = std::string(statement).rfind("for", 0) == 0;
    CHECK(is_marked(statement) == first_of_for);
  }
  CHECK(body_of("void host(char* p) { *p = g(); }\n") == "void host(char* p) { *p = g(); }\n");
  const auto is_marked_among_operators = [](const std::string& value) {
    return has(body_of("C operator*(C, C); __device__ void f(C* p) { *p = " + value + "; }\n"),
               "stored(");
  };
  for (const char* const value : {"p[1] * p[2]", "-q", "p[1]", "q == c ? c : q * c", "(q * c)",
                                  "((q ? c : -q))", "(C)q", "(C)(q)", "(q) * c", "(g(q))"}) {
    INFO(value);
    CHECK(is_marked_among_operators(value));
  }
  // Of a constant that only the host has as a variable the address would be taken.
  for (const char* const value :
       {"ns::kOne", "kOf<T, 2>", "q.a->b", "q * c > 0 ? ns::kOne : kTwo", "q ? a : -b ? c : d",
        "(kOne)", "((ns::kOne))", "(q * c > 0 ? kOne : (kTwo))", "q ? (kOne) : kTwo",
        "sizeof(kOne)"}) {
    INFO(value);
    CHECK(!is_marked_among_operators(value));
  }
}

TEST_CASE("a launch may have spaces in its brackets, as some formatters put them") {
  for (const char* const launch :
       {"k << <1, 2 >> > (x);", "k << <1, f<g<2>>(3), h<i<j<4>>>(5) >> >(x);"}) {
    const std::string text = body_of("void f() { " + std::string(launch) + " }");
    CAPTURE(text);
    CHECK(has(text, "LaunchedKernel{\"k\""));
    CHECK(text.find("k             (x)") == text.rfind("k             (x)"));
  }
  CHECK(body_of("bool b = a << 2 > (c) && d >> 1 > (2) && e < 3;") ==
        "bool b = a << 2 > (c) && d >> 1 > (2) && e < 3;");
}

TEST_CASE("a kernel's name is reported as it was written") {
  CHECK(has(body_of("void f() { a::b<T, 3><<<1, 2>>>(x); }"), "LaunchedKernel{\"a::b<T, 3>\""));
  CHECK(has(body_of("void f() { (t [ 1 ])<<<1, 2>>>(x); }"), "LaunchedKernel{\"(t[1])\""));
  CHECK(has(body_of("void f() { k<'\"'><<<1, 2>>>(x); }"), "LaunchedKernel{\"k<'\\\"'>\""));
  CHECK(has(body_of("#define L(K) K<<<1, 2>>>()\n"), "#K"));
}

TEST_CASE("brackets that differ between the branches of an #if are no obstacle") {
  const std::string source =
      "#ifdef A\n"
      "__global__ void k(int* x) {\n"
      "#else\n"
      "__global__ void k(float* x) {\n"
      "#endif\n"
      "  if (x) return;\n"
      "#ifdef A\n"
      "  if (x) {\n"
      "#else\n"
      "  if (!x) {\n"
      "#endif\n"
      "  }\n"
      "}\n"
      "void g() { k<<<1, 2>>>(0); }\n";
  const std::string text = rewritten(source);
  CHECK(has(text, "return ::cuda_cpu::leave(6);"));
  CHECK(has(text, "::cuda_cpu::leave(13); }"));
  CHECK(has(text, "LaunchedKernel{\"k\""));
}

TEST_CASE("source that cannot be read is named with file and line, in one line") {
  struct Case {
    std::string source;
    int line;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"void f() {\n  k<<<1, 2>>(x);\n}\n", 2, "'<<<' without '>>>'"},
      {"void f() {\n\n  k<<<1, 2(x);\n}\n", 3, "'<<<' without '>>>'"},
      {"void f() {\n  k<<<1, 2>>>;\n}\n", 2, "expected '('"},
      {"void f() {\n  k<<<1, 2>>>\n  (x;\n}\n", 3, "never closed"},
      {"void f() {\n  k<<<>>>(x);\n}\n", 2, "grid and the block"},
      {"void f() {\n  k<<<1>>>(x);\n}\n", 2, "a grid and a block"},
      {"void f() {\n  <<<1, 2>>>(x);\n}\n", 2, "kernel's name"},
      {"void f() {\n  return <<<1, 2>>>(x);\n}\n", 2, "kernel's name"},
      {"__global__ void k() {\n  __shared__ int x = 1;\n}\n", 2, "initialiser"},
      {"__global__ void k() {\n  __shared__ int x{1};\n}\n", 2, "initialiser"},
      {"__global__ void k() {\n  __shared__ __constant__ int x[2];\n}\n", 2, "in one memory"},
      {"__global__ void k() {\n  __managed__ __shared__ int x[2];\n}\n", 2, "in one memory"},
      {"__shared__ __constant__ int x[2];\n", 1, "in one memory"},
      {"__global__ void k() {\n  __shared__ int x\n}\n", 2, "expected ';'"},
      {"__global__ void k() {\n  __shared__;\n}\n", 2, "expected a name"},
      {"\n__shared__ int x[3];\n", 2, "not supported by the CPU backend"},
      {"\n__global__ void k() {\n  if (x) {\n}\n", 2, "'{' of the kernel's body is never closed"},
      {"\n__global__ void k() {\n  x[0] = 1;\n  x[1 = y[2];\n}\n", 4, "'[' is never closed"},
      {"\n__global__ void k() {\n  x[0] = (1;\n}\nint f() { return g[0]; }\n", 3,
       "'(' is never closed"},
      {"__device__ void f() {\n  k<<<1, 2>>>(x);\n}\n", 2, "CPU backend: launch from the host"},
      {"int x;\n/* no end\n", 2, "'/*' is never closed"},
      {"int x;\nauto s = R\"d(no end)\";\n", 2, "raw string is never closed by ')d\"'"},
      {"#define L(x) \\\n  k<<<1, 2>>(x)\n", 2, "'<<<' without '>>>'"},
      {"__global__ void k(int);\nvoid f() { g(); k<<1, 2>>(x); }\n", 2, "k<<<grid, block>>>("},
      {"void k(int) {}\nvoid f() { k<<<1, 2>>>(x); }\n", 2,
       "is no kernel: declare it __global__\n"},
      {"template <class T> __device__ void k(T) {}\nvoid f() { k<int><<<1, 2>>>(x); }\n", 2,
       "is no kernel: declare it __global__ in place of __device__"},
  };
  for (const Case& c : cases) {
    const std::string said = refusal_of(c.source);
    CAPTURE(c.source, said);
    CHECK(said.find(std::to_string(c.line) + ": error: ") == 0);
    CHECK(has(said, c.message));
  }
}

// What an #error or a macro says of each is in prepass/refused.h, and so is what the page of
// features lists.
TEST_CASE("what the CPU backend has not is refused by its name, if it is used") {
  std::string source;
  std::vector<std::string> expected;
  for (const prepass::RefusedHeader& header : prepass::kRefusedHeaders) {
    const std::string name = std::string("<") + header.begins + ">";
    source += "#include " + name + "\n";
    expected.push_back(name + ": the CPU backend has no " + header.what + '"');
  }
  for (const prepass::Refused& refused : prepass::kRefused) {
    for (const char* const names : refused.names) {
      std::istringstream words(names != nullptr ? names : "");
      for (std::string name; words >> name;) {
        source += name + ";\n";
        expected.push_back(name + ": the CPU backend has " + refused.what + '"');
      }
    }
  }
  const std::string result = rewritten(source);
  for (const std::string& line : expected) {
    CAPTURE(line);
    CHECK(has(result, '"' + line));
  }
  CHECK_FALSE(has(rewritten("int x;\n"), "the CPU backend has"));
}

TEST_CASE("a member that cudaDeviceProp has no longer is refused by its name") {
  const std::string declared =
      "cudaDeviceProp prop, *p;\nvoid f(std::vector<cudaDeviceProp>& all) {\n";
  for (const prepass::Refused& gone : prepass::kGoneMembers) {
    const std::string name = gone.names[0];
    const std::string error =
        "CUDA_CPU_ERROR(\"" + name + ": the CPU backend has " + gone.what + "\") \n#line 3\n";
    for (const std::string object : {"prop.", "p->", "all[f(0)]."}) {
      const std::string text = rewritten(declared + "  g(" + object + name + ", 1); }\n");
      CAPTURE(text);
      CHECK(has(text, object + error));
      CHECK_FALSE(has(text, name + ", 1"));
    }
    const std::string others =
        declared + "  int " + name + " = mine." + name + " + prop.major; }\n";
    CHECK_FALSE(has(rewritten(others), "CUDA_CPU_ERROR"));
  }
}

TEST_CASE("device code may not call host functions, as with nvcc") {
  const std::string before =
      "int host(int a) { return a; }\n"
      "template <class T> constexpr T both_sides(T a) { return a; }\n"
      "__device__ int device(int a) { return a; }\n"
      "__host__ __device__ int both(int a) { return a; }\n"
      "HD int who_knows(int a) { return a; }\n"
      "int overloaded(int a) { return a; }\n"
      "__device__ float overloaded(float a);\n"
      "struct S { int host(); };\n";
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"__global__ void k(int* x) { x[0] = host(1); }", "device code calls 'host'"},
      {"__device__ int f() { return ::host(1) + device(2); }", "device code calls 'host'"},
      {"__global__ void k(int* x) { x[0] = both_sides(1); }", "device code calls 'both_sides'"},
      {"auto f = [] __device__(int i) { return host(i); };", "device code calls 'host'"},
      {"__global__ void k(int* x) { x[0] = std::max(x[0], 1); }", "write max(a, b)"},
      {"__device__ int f() { return std::numeric_limits<int>::max(); }", "<climits>"},
      {"__device__ void f() { std::cout << 1; }", "std::cout is for the host"},
      {"float max(int a, int b = 1) { return a + b; } __device__ float f() { return max(1); }",
       "device code calls 'max'"},
  };
  for (const auto& [source, message] : refused) {
    const std::string said = refusal_of(before + source + "\n");
    CAPTURE(source, said);
    CHECK(said.find("9: error: ") == 0);
    CHECK(has(said, message));
  }

  for (const char* const source : {
           "__global__ void k(int* x) { x[0] = device(1) + both(2) + who_knows(3); }",
           "__global__ void k(int* x) { x[0] = overloaded(1.0f); }",
           "__global__ void k(int* x) { auto host = [](int a) { return a; }; x[0] = host(1); }",
           "__global__ void k(S s, int* x) { x[0] = s.host() + other::host(1); }",
           "__global__ void k(int* x) { int host(3); x[0] = 1; }",
           "__host__ __device__ int f() { return host(1); }",
           "int f() { return host(1) + std::max(1, 2); }",
           "float max(const std::map<int, float>& x) { return x.at(0); } int min(void) { return 1; "
           "} "
           "__global__ void k(float* x) { x[0] = max(x[0], f(1, 2)) + min(1, 2); }",
           "void k(int) {} __global__ void k(float) {} void f() { k<<<1, 2>>>(1.0f); }",
           "void k(int) {} void f(void (*k)(int)) { k<<<1, 2>>>(1); }",
           "__global__ void k(int* x) { x[0] = cuda::std::max(x[0], 1) + std::abs(x[1]); }",
           "__global__ void k(int* x) { static_assert(std::numeric_limits<int>::max() > 1); }",
       }) {
    rewritten(before + source + "\n");  // accepted
  }
}

TEST_CASE("host code may not name device variables, but for the runtime's functions for symbols") {
  const std::string before =
      "__device__ int counter;\n"
      "__device__ int list[4]; __device__ int* first;\n"
      "__constant__ float table[8];\n"
      "__managed__ int shared_by_both;\n"
      "__device__ const int kOne = 1; __constant__ constexpr int kTwo = 2;\n"
      "__global__ void k(const int* x) { counter = list[0] + *x; }\n";
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"int main() { return counter; }", "counter', a __device__ variable"},
      {"int f() { k<<<1, 1>>>(nullptr); cudaDeviceSynchronize(); const int n = ::counter; }",
       "counter"},
      {"void f(float* x) { x[0] = table[1]; }", "table', a __constant__ variable"},
      {"void f() { counter = 0; }", "counter"},
      {"void f() { ++counter; }", "counter"},
      {"void f() { int* const p = &counter; }", "counter"},
      {"void f() { delete first; }", "first"},
      {"int f() { return *first; }", "first"},
      {"void f() { const int* p = list + 1; }", "list"},
      {"void f() { auto& same = counter; }", "counter"},
      {"void f() { int sum = 0; for (int x : list) sum += x; }", "list"},
      {"void f(int* x) { cudaMemcpy(x, &counter, 4, cudaMemcpyDeviceToHost); }", "counter"},
      {"void f(int* x) { CUDA_CHECK(cudaMemcpyAsync(x, list, sizeof list, kind)); }", "list"},
      {"void f(int* x) { cudaMemset(list, 0, 16); }", "list"},
      {"void f() { k<<<1, 1>>>(list); }", "list"},
      {"void f() { std::printf(\"%d\", counter); }", "counter"},
      {"void f() { CHECK(counter == 3); }", "counter"},
      {"int f() { return static_cast<int>(counter) + g(list[2]); }", "counter"},
      {"int f() { int now(counter); int other{counter}; return now * other; }", "counter"},
      {"template <class T> T f() { return counter; }", "counter"},
      {"struct S { int f() const { return counter; } };", "counter"},
      {"int f(int a) { return a * counter; }", "counter"},
      {"int f() { return sizeof(int) * counter; }", "counter"},
      {"int f() { return [] { return counter; }(); }", "counter"},
      {"TEST_CASE(\"a test\", \"[tag]\") { if (counter) g(); }", "counter"},
      {"namespace n { int S::f() { return counter; } }", "counter"},
      {"const Version kAll[10] = {{1, [](const S& s) { k<<<1, 1>>>(&counter); }}};", "counter"},
      {"void (*const kOne)() = [] { counter = 1; };", "counter"},
      // Handed to a kernel by a function of this file.
      {"void g(float n, const int* x) { k<<<1, 1>>>(x + 1); } void f() { g(max(1, 2), list); }",
       "list"},
      {"template <int n> void g(const int (&x)[n]) { k<<<n, 1>>>(x); } void f() { g<2>(list); }",
       "list"},
      {"void g(const int&); void f() { g(counter); } void g(const int& x) { k<<<1, 1>>>(&x); }",
       "counter"},
  };
  for (const auto& [source, message] : refused) {
    const std::string said = refusal_of(before + source + "\n");
    CAPTURE(source, said);
    CHECK(said.find("7: error: host code names '" + message) == 0);
    CHECK(has(said, "cudaMemcpyFromSymbol"));
  }

  for (const char* const source : {
           "void f(int* x) { cudaMemcpyFromSymbol(x, counter, sizeof counter); }",
           "void f(int* x) { CUDA_CHECK(cudaMemcpyToSymbolAsync(list, x, sizeof(list), 0)); }",
           "void f(void** p) { cudaGetSymbolAddress(p, list[0]); cudaGetSymbolSize(nullptr, list); "
           "}",
           "void f() { decltype(counter) a = sizeof counter + sizeof(list) / sizeof(list[0]); }",
           "auto f() { return sizeof *list + sizeof &counter + sizeof table / sizeof *table; }",
           "void f(const float* x) { upload(table, x); upload<float>(x, table); }",
           "template <class T> void g(T& symbol, const int* x) { cudaMemcpyToSymbol(symbol, x, 4); "
           "k<<<1, 1>>>(x); } void f(const int* x) { g(list, x); }",
           "void g(const int* x) { k<<<1, 1>>>(x); } void f(S s) { s.g(list); other::g(list); }",
           "void g(const int*, const int* x) { k<<<1, 1>>>(x); } void f(int* x) { g(list, x); }",
           "void g(int* x) { k<<<1, 1>>>(x); } void g(S x) { } void f() { g(list); }",
           "void g(int* x) { k<<<1, 1>>>(nullptr, sizeof(x), s.x); } void f() { g(list); }",
           "const Version kAll[] = {{1, [](int* counter) { k<<<1, 1>>>(counter); }}};",
           "const auto kSame = [] __device__(int i) { return list[i]; };",
           "const auto kSame = [] HD(int i) { return list[i]; };",
           "__device__ const auto kSame = [](int i) { return list[i]; };",
           "__device__ int f() { return [] { return counter; }(); } enum { kA = 1 };",
           "void f() { shared_by_both = kOne + kTwo; }",
           "int f(int counter) { return counter; }",
           "int f() { std::vector<int> list(3); return list[0]; }",
           "int f() { int a = 1, counter = 2; return a + counter; }",
           "int f() { int* list = nullptr; return list != nullptr; }",
           "int f() { auto [counter, other] = g(); return counter + other; }",
           "int f() { return std::count_if(a, b, [](int counter) { return counter > 0; }); }",
           "int f(S s, S* p) { return s.counter + p->counter + other::list[0]; }",
           "S f() { return S{.counter = 3}; }",
           "struct S { int n() { return this->counter; } };",
           "__host__ __device__ int f() { return counter; }",
           "__device__ int f() { return counter; }",
           "HD int f() { return counter; }",
           "void f() { g([] __device__(int i) { return list[i]; }); }",
           "struct S { __device__ int n() { return counter; } };",
           "template <auto& T> void g(); void f() { g<counter>(); }",
           "int f() { goto counter; counter: return 1; }",
           "__global__ void k() { static __device__ int inside; } int f(int inside); void g() { "
           "auto x = h([](int a) { return a; }); inside += x; }",
       }) {
    rewritten(before + source + "\n");  // accepted
  }
}

TEST_CASE("a missing input and a wrong command line get one line each") {
  const Scratch scratch;
  const Result missing = run_prepass(scratch / "no_such_file.cu", scratch / "out.cu");
  CHECK(missing.status == 1);
  CHECK(has(missing.output, "cannot read"));
  CHECK(run(from_environment("PREPASS", "build/cpu/prepass")).status == 2);
}

TEST_CASE("tools are told the declarations of a file, with names, kinds and bodies") {
  const Scratch scratch;
  const std::string in = scratch / "in.cu";
  const auto declarations = [&](const std::string& text) {
    write(in, text);
    const Result result = run_prepass("--declarations", in);
    CAPTURE(text, result.output);
    REQUIRE(result.status == 0);
    // "kind name name" for each: its names' places become what stands there.
    std::string found;
    const std::string said = result.output.substr(result.output.find("\"declarations\""));
    const std::regex one(R"re(\["(\w+)",\d+,\d+,\[((?:\[\d+,\d+\],?)*)\],(null|\[\d+,\d+\])\])re");
    const std::regex place(R"(\[(\d+),(\d+)\])");
    for (std::sregex_iterator at(said.begin(), said.end(), one), end; at != end; ++at) {
      found += (found.empty() ? "" : "; ") + at->str(1);
      const std::string names = at->str(2);
      for (std::sregex_iterator name(names.begin(), names.end(), place); name != end; ++name) {
        const int begin = std::stoi(name->str(1));
        found += ' ' + text.substr(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(std::stoi(name->str(2)) - begin));
      }
      if (at->str(3) != "null") found += " {}";
    }
    return found;
  };
  CHECK(declarations("// c\n#define A(x) \\\n  (x)\n#if 0\nint no;\n#endif\n") == "macro A");
  CHECK(declarations("constexpr int a = 1, b[2] = {f(1, 2)}; namespace n { int c{3}; }") ==
        "value a b {}; value c {}");
  CHECK(declarations("template <class T = int, int n = 2>\n__global__ void __launch_bounds__(n)\n"
                     "    k(const T* x, A<1, 2> y = {}) { f<<<1, 1>>>(x); }\nvoid k();") ==
        "function k {}; function k");
  CHECK(declarations(
            "struct alignas(16) S : A<int> {\n public:\n  S(int n) : a{n}, b(2) { g(); }\n"
            "  int f() const { return a; }\n  bool operator==(const S&) const;\n  int a;\n};"
            " struct F;") == "type S {}; function S {}; function f {}; other; value a; type F");
  CHECK(declarations("enum class E : int { kA }; using I = int; typedef unsigned U; using n::x;") ==
        "type E {}; type I; type U; other");
  CHECK(declarations("template <class T>\nconstexpr bool k<T*> = true;\n"
                     "long operator\"\"_Ki(unsigned long n) { return n; }") ==
        "value k; function _Ki {}");
  CHECK(declarations("__constant__ float c[4]; int (*p)(int) = nullptr; static_assert(1 < 2, \"\");"
                     " auto l = [](int i) { return i; };") ==
        "value c; value p; other; value l {}");
}

TEST_CASE("tools are told all tokens, those of directives and of what is left out among them") {
  const Scratch scratch;
  const std::string in = scratch / "in.cu";
  write(in, "\xEF\xBB\xBF#if 0\na\n#endif\n/* b */ 1'0 \"c\" 'd';\n");
  CHECK(run_prepass("--declarations", in).output ==
        "{\"tokens\":[[\"i\",1,3],[\"n\",4,5],[\"i\",6,7],[\"i\",9,14],"
        "[\"n\",23,26],[\"s\",27,30],[\"c\",31,34],[\"p\",34,35]],"
        "\"directives\":[[0,5],[8,14]],\"declarations\":[[\"other\",23,35,[],null]]}\n");
  write(in, "int a;\n/* never closed");
  const Result unclosed = run_prepass("--declarations", in);
  CHECK(unclosed.status == 1);
  CHECK(has(unclosed.output, "in.cu:2: error: "));
}

TEST_CASE("damaged sources never crash the pre-pass") {
  const Scratch scratch;
  std::mt19937 random(5);
  const std::string whole = read("tests/backend/launch_syntax.test.cu");
  REQUIRE(!whole.empty());
  for (int i = 0; i < 150; ++i) {
    std::string text = whole;
    const std::size_t at = random() % text.size();
    switch (i % 3) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text.erase(at, 1 + random() % 40);
        break;
      default:
        text.insert(at, std::string(1, "<>(){}[];\"'\\#"[random() % 13]));
        break;
    }
    const std::string in = scratch / "in.cu";
    write(in, text);
    for (const Result& result :
         {run_prepass(in, scratch / "out.cu"), run_prepass("--declarations", in)}) {
      CAPTURE(i, at, result.output);
      const bool is_error = result.status == 1 && has(result.output, ": error: ");
      CHECK((result.status == 0 || is_error));
    }
  }
}

TEST_CASE("literals and comments that never end cost no more than their length") {
  const Scratch scratch;
  const std::string in = scratch / "in.cu";
  for (const char* const piece : {"\\\"", "\\'", "\"", "/*", "R\"(", "R\"x"}) {
    std::string text = "int x;\n";
    while (text.size() < 300000) text += piece;
    write(in, text + "\n");
    const double before = processor_seconds_of_children();
    run_prepass(in, scratch / "out.cu");
    run_prepass("--declarations", in);
    const double took = processor_seconds_of_children() - before;
    CAPTURE(piece);
    CHECK(took > 0);
    CHECK(took < 10);  // every literal tried to the end of the line: two minutes
  }
}

TEST_CASE("many constructs on one line cost no more than its length") {
  for (const char* const piece :
       {"k<<<1, 1>>>(x); ", "__syncthreads(); ", "x[0] = *(int*)x; ", "atomicAdd(x, 1); "}) {
    std::size_t sizes[2];
    for (int i = 0; i < 2; ++i) {
      std::string text = "__global__ void k(int* x);\n";
      text += piece[0] == 'k' ? "void f(int* x) { " : "__global__ void f(int* x) { ";
      for (int k = 0; k < (i + 1) * 1000; ++k) text += piece;
      sizes[i] = rewritten(text + "}\n").size();
    }
    CAPTURE(piece);
    CHECK(sizes[1] < 3 * sizes[0]);  // each with its column: four times
  }
}

TEST_CASE("the compiler's messages point at the learner's lines") {
  const std::string source = "tests/backend/prepass/wrong_launches.cu";
  const Scratch scratch;
  REQUIRE(run_prepass(source, scratch / "out.cu").status == 0);
  const std::string compiler = from_environment("CXX", "c++");
  const bool is_clang = has(run(compiler + " --version").output, "clang");
  const Result result =
      run(compiler + (is_clang ? " -ferror-limit=0" : "") +
          " -std=c++17 -fsyntax-only -D__CUDA_CPU__=1 -Icommon/cpu/cuda -include cuda_runtime.h "
          "-x c++ " +
          (scratch / "out.cu"));
  CHECK(result.status != 0);
  std::set<int> expected, reported;
  std::istringstream lines(read(source));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (has(line, "// ERROR")) expected.insert(number);
  }
  const std::regex error(source + ":([0-9]+):([0-9]+:)? (fatal )?error: ");
  for (std::sregex_iterator it(result.output.begin(), result.output.end(), error), end; it != end;
       ++it) {
    reported.insert(std::stoi((*it)[1]));
  }
  CAPTURE(result.output);
  CHECK(reported == expected);
  // The plain message comes before any that mentions the backend.
  const bool plain = has(result.output, "cannot convert") ||
                     has(result.output, "no known conversion from 'int *' to 'float *'");
  CHECK(plain);
}
