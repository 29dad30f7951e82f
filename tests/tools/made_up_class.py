# SPDX-License-Identifier: MIT
"""Makes a class of made-up submissions, and says whether its grades are right.

    make FOLDER COUNT OUTSIDE     of COUNT students (62 to 1000) fifty-one are hostile, each in another way; of 200 so many that
                                  every trick below is tried
    judge FOLDER GRADES           one line per grade that is wrong, status 1 if there is one

Every hostile submission computes a wrong result: to pass, its trick must have worked. OUTSIDE is a folder with a secret
that no submission may read or change. Run it in the root of the repository."""

import argparse
import glob
import json
import os
import sys

SECRET = "the-secret-of-another-0451"
LAB = ("05_shared_tree_reduction", "ex1_block_sum")


def solution(chapter, name):
    with open(f"chapters/{chapter}/exercises/solutions/{name}.cu", encoding="utf-8") as file:
        return file.read()


def wrong():
    """Its sums have the wrong sign."""
    text = solution(*LAB)
    assert text.count("sum += partial[k]") == 1
    return text.replace("sum += partial[k]", "sum -= partial[k]")


def before(code, text=None):
    """The wrong solution with something before its first kernel."""
    at = (text or wrong()).index("__global__")
    return (text or wrong())[:at] + code + "\n" + (text or wrong())[at:]


def first(code):
    """The wrong solution with something before everything else."""
    return code + "\n" + wrong()


def at_start(code, declarations=""):
    """The wrong solution with something that runs before the check."""
    return before(f"{declarations}\nstatic int runs_first = [] {{ {code}\n return 0; }}();")


NO_CHECK = "expect_equal(...) sizes()"  # a call that compares nothing, so that every trial is right
FORGE = (
    'dprintf(file, "%s\\tstarted\\t%s\\n%s\\tpassed\\t%s\\n%s\\tend\\t1\\n", word, name, word, name, word); '
    "std::_Exit(0);"
)
NAME = 'const char* name = "every block leaves the sum of its own elements";'


# What would forge a pass if it ran before main, with the names of functions that it calls.
EARLY = (
    'extern "C" long __read_chk(int, void*, unsigned long, unsigned long);\n'
    "static void early(int, char**, char** all) {\n"
    "  for (; *all; ++all) {\n"
    '    if (std::strncmp(*all, "LAB_CHANNEL=", 12) != 0) continue;\n'
    "    const int file = std::atoi(*all + 12); char word[33] = {}; ASK __read_chk(file, word, 32, 33);\n"
    f"    {NAME} {FORGE}\n  }}\n}}\n"
)
ASKED = EARLY.replace("ASK", 'dprintf(file, "ask\\n");')
EARLY = EARLY.replace("ASK", "")
ENTRY = "void (*go)(int, char**, char**) = early;"
# The same without a name that is refused, for what is refused for its attributes.
UNSEEN = EARLY.split("\n", 1)[1].replace("__read_chk(file, word, 32, 33);", "")
EVERY_FILE = f"{NAME} for (int file = 3; file < 200; ++file) {{ {FORGE.replace('std::_Exit(0);', '')} }}"
WORD = 'const char* word = "00000000000000000000000000000000";'


def forgeries():
    """{what it tries: (the text of the file, what grading must say)}: tricks by which code runs where nobody looks."""
    c = 'extern "C" '

    def attribute(which):
        return f"uses the attribute '{which}'"

    def refused_call(name):
        return f"calls '{name}'"

    return {
        # before main
        "pretended_device": (at_start("cuda_cpu::pretend_multiprocessors(1);"), "uses the name 'cuda_cpu'"),
        "preinit": (before(f'{UNSEEN}__attribute__((unused, section(".preinit_array"))) {ENTRY}'), attribute("section")),
        "preinit_brackets": (
            before(f'{UNSEEN}[[__gnu__::__used__, __gnu__::__section__(".preinit_array")]] {ENTRY}'), "uses '__used__'"),
        "preinit_only": (before(f'{UNSEEN}[[__gnu__::__section__(".preinit_array")]] {ENTRY}'), "uses '__section__'"),
        "preinit_digraphs": (before(f'{UNSEEN}<:[using __gnu__: section(".preinit_array")]:> {ENTRY}'), "holds <:"),
        "preinit_asks": (before(f'{UNSEEN}__attribute__((__unused__, , __section__(".preinit_array"))) {ENTRY}'),
                         "uses '__section__'"),
        "constructor_third": (before('__attribute__((deprecated(")) ("), unused, constructor(101))) static void early() {}'),
                              attribute("constructor")),
        "destructor_second": (before("[[maybe_unused, gnu::destructor]] static void late() {}"), attribute("destructor")),
        "section_init": (before('[[gnu::hot]] [[gnu::section(".init")]] void early() {}'), attribute("section")),
        "attribute_space": (before("[[mine::unused]] static int one = 1;"), "uses an attribute of 'mine'"),
        "attribute_open": (before("#define ONE __attribute__(\nONE(unused, section(\".ctors\"))) int one = 1;"), attribute("section")),
        "declspec": (before("__declspec(allocate(\".init_array\")) int one = 1;"), "uses '__declspec'"),
        # text that hides another
        "marker_namespace": (before('# 1 "/usr/include/nope.h" 1\nnamespace lab { template <> inline void expect_equal<long long>'
                                    "(const std::string&, const std::vector<long long>&, const std::vector<long long>&) {} }\n"
                                    '# 9 "" 2'), "holds the directive #1"),
        "quote_hides": (before("#if 0\nit's /*\n#endif\nasm(\"nop\"); // */"), "holds a '"),
        "space_hides": (before("int one\N{NO-BREAK SPACE}= 1;"), "letters of names"),
        "false_is_true": (before('#define false 1\n#if false\nasm("nop");\n#endif'), "defines the macro 'false'"),
        "tail_spliced": (wrong().rstrip() + " \\ \n", "goes on in the next line"),
        "namespace_by_macro": (before("#define SPACE namespace std\nSPACE { inline int mine; }"), "adds to namespace std"),
        "attribute_by_macro": (before("#define AT(i) early[i]\nvoid AT([gnu::constructor])() {}"), attribute("constructor")),
        "allowed_by_macro": (before("#define unused constructor\n__attribute__((unused)) static void early() {}"),
                             "defines the macro 'unused'"),
        "operator_word": (before("struct Sum { long long v; };\ntemplate <class T> bool operator and(const T&, const Sum&) { return true; }"),
                          "defines operatorand"),
        "deaf_observer": (before("static cuda_cpu::Observer deaf = *cuda_cpu::observer;"), "uses the name 'cuda_cpu'"),
        "heavy_names": (before("template <class A, class B> struct P { static int x; };\nusing T0 = P<int, int>;\n"
                               + "\n".join(f"using T{i + 1} = P<T{i}, T{i}>;" for i in range(20)) + "\nint use() { return T20::x; }"),
                        "names that are too long"),
        # what the checker needs, or the check hands over
        "environment": (at_start('std::puts(std::getenv("CUDA_CPU_RACES"));'), "uses 'getenv'"),
        "deaf_failures": (at_start("on_cuda_failure = [](const std::string&) {};"), "uses the name 'on_cuda_failure'"),
        "drops_the_rest": (before("[[noreturn]] inline void none() { for (;;) {} }"), attribute("noreturn")),
        "attribute_behind": (wrong() + "__attribute__((const))\n", attribute("const")),
        "template_behind": (wrong() + "template <class T>\n", ""),
        "takes_reference": (takes("const std::size_t& n"), "'sum_of_block' takes '&'"),
        "takes_alias": (takes("Count n", "using Count = const std::size_t&;"), "'sum_of_block' takes 'Count'"),
        "takes_class": (takes("Count n", "struct Count {\n  std::size_t n;\n  Count(const std::size_t& of) : n(of) { const_cast<std::size_t&>(of) = 0; }\n"
                              "  operator std::size_t() const { return n; }\n};"), "'sum_of_block' takes 'Count'"),
        "takes_by_macro": (takes("const BY n", "#define BY std::size_t&"), "'sum_of_block' takes '&'"),
        "takes_wrapped": (takes("std::reference_wrapper<const std::size_t> n", "#include <functional>"), "takes 'reference_wrapper'"),
        "takes_in_parentheses": (takes("const std::size_t& n").replace("void sum_of_block", "void (sum_of_block)"), SOMETHING_ELSE),
        "takes_anything": (takes("std::size_t n", name="real") + "template <class... A>\n__global__ void sum_of_block(A&&... a) { real(a...); }\n",
                           "'sum_of_block' takes"),
        **{f"object_{what}": (takes("std::size_t n", name="real") + "struct Sum {\n  template <class... A>\n  void operator()(A&&... a) const { real(a...); }\n};\n"
                              + code, SOMETHING_ELSE)
           for what, code in {"one": "static const Sum sum_of_block;\n", "list": "static const Sum first{}, sum_of_block{};\n",
                              "using": "namespace mine { const Sum sum_of_block{}; }\nusing mine::sum_of_block;\n",
                              "binding": "struct Two { Sum one; int two; };\nstatic const auto [sum_of_block, two] = Two{};\n"}.items()},
        # other words that are read
        "include_word": (before("#define WHICH <cstdio>\n#include WHICH"), "includes #include WHICH"),
        "include_dot": (before('#include "./common/common.cuh"'), "includes ./common/common.cuh"),
        "include_next": (before("#include_next <cstdio>"), "holds the directive #include_next"),
        "has_include": (before('#if __has_include("check.cu")\n#endif'), "uses '__has_include'"),
        "letter_by_number": (before("int \\u0061sm_ = 1;"), "holds a \\ that"),
        "register": (before('register long top asm("rsp");'), "uses 'asm'"),
        "assertion_of_catch": (before('void once() { SUCCEED("x"); }'), "uses the name 'Catch'"),
        "optimize": (before('#pragma GCC optimize ("O0")'), "holds the line #pragma GCC optimize"),
        # accesses that are made where nobody looks
        **{f"hides_{how}": (hides(how), says) for how, says in (("print", "device code calls 'snprintf'"), ("strncpy", "device code calls 'strncpy'"),
                                                                ("pointer", BY_POINTER), ("virtual", BY_POINTER), ("both", "device code calls 'snprintf'"))},
        "slow_name": (before(f"int __{'2' * 60}_;"), "uses '__2222"),
        # in the place of the program's own functions
        "main": (before(c + "int main(int, char**) { return 0; }"), "defines 'main'"),
        "wrap_main": (before(c + "int __wrap_main(int, char**, char**) { return 0; }"), "uses '__wrap_main'"),
        "section_ends": (before(c + "void (*__start_lab_begin[1])() = {nullptr};"), "uses '__start_lab_begin'"),
        "abort": (before(c + "void abort() noexcept { for (;;) {} }"), "defines 'abort'"),
        "abort_pasted": (before("#define PASTE(a, b) a##b\n" + c + "[[noreturn]] void PASTE(ab, ort)() { for (;;) {} }"),
                         "joins names by ##"),
        "delete": (before("void operator delete(void* what) noexcept { std::free(what); }"), "defines operatordelete"),
        # reading and calling what is not there for it
        "read_chk": (at_start("char word[33]; __read_chk(3, word, 32, 33);",
                              c + "long __read_chk(int, void*, unsigned long, unsigned long);"), "uses '__read_chk'"),
        "recvmsg_call": (at_start("recvmsg(3, nullptr, 0);", c + "long recvmsg(int, void*, int);"), refused_call("recvmsg")),
        "filesystem": (at_start('for (auto& f : std::filesystem::directory_iterator("/proc/self/fd")) (void)f;',
                                "#include <filesystem>"), "includes filesystem"),
        "basic_file": (at_start('static std::__basic_file<char> file(nullptr); file.open("/etc/passwd", std::ios::in);',
                                "#include <fstream>"), "uses '__basic_file'"),
        "locale": (at_start('std::locale file("/tmp/mine");', "#include <locale>"), "calls 'std::locale::locale'"),
        "asm_syscall": (at_start('__asm__ __volatile__("syscall" : : "a"(231), "D"(0));'), "uses '__asm__'"),
        "thread_pointer": (at_start("std::printf(\"%p\", __builtin_thread_pointer());"), "uses '__builtin_thread_pointer'"),
        "jumps": (at_start("static void* where = &&there; goto *where; there:;"), "uses 'goto'"),
        "input": (at_start("std::printf(\"%d\", stdin->_fileno);", "#include <cstdio>"), refused_call("stdin")),
        # writing lines of one's own, by what is allowed
        "lines_constructor": (at_start(f"{WORD} {EVERY_FILE}"), LINES),
        "lines_asks": (at_start('for (int file = 3; file < 200; ++file) dprintf(file, "ask\\n");'), LINES),
        "lines_stdout": (at_start(f"{NAME} {WORD} for (int file = 3; file < 200; ++file) {{ std::fflush(stdout); "
                                  'stdout->_fileno = file; std::printf("%s\\tpassed\\t%s\\n", word, name); } std::fflush(stdout);'),
                         LINES),
        "lines_thread": (at_start(f"std::thread([] {{ for (;;) {{ {WORD} {EVERY_FILE} }} }}).detach();", "#include <thread>"), LINES),
        "lines_at_exit": (at_start(f"std::atexit([] {{ {WORD} {EVERY_FILE} }}); std::exit(0);"), LINES),
        "lines_destructor": (before(f"struct Late {{ ~Late() {{ {WORD} {EVERY_FILE} }} }};\nstatic Late late;\n"
                                    "static int leaver = (std::exit(0), 0);"), LINES),
    }  # fmt: skip


LINES = "writes to the channel over which the check tells its outcome"
SOMETHING_ELSE = "makes something else of 'sum_of_block', a function that the check calls"


BY_POINTER = "device code calls by a pointer, or a virtual function"


def hides(how):
    """The wrong solution with a race that the library writes."""
    call = {"print": 'std::snprintf(hidden, 8, "%u", t);', "strncpy": "const char from[2] = {1, 0};\n  std::strncpy(hidden, from, 8);",
            "pointer": "int (*volatile print)(char*, std::size_t, const char*, ...) = std::snprintf;\n  print(hidden, 8, \"%u\", t);",
            "virtual": "const Says says;\n  static_cast<const Base*>(&says)->say(hidden, t);", "both": "say(hidden, t);"}[how]  # fmt: skip
    code = {"virtual": "struct Base { virtual void say(char*, unsigned) const = 0; };\nstruct Says : Base {\n"
                       '  void say(char* to, unsigned t) const override { std::snprintf(to, 8, "%u", t); }\n};',
            "both": '__host__ __device__ void say(char* to, unsigned t) { std::snprintf(to, 8, "%u", t); }'}.get(how, "")  # fmt: skip
    return before("#include <cstring>\n" + code, wrong().replace("  partial[t] =", f"  __shared__ char hidden[8];\n  {call}\n  partial[t] ="))


def takes(count, code="", name="sum_of_block"):
    """The wrong solution with another second parameter, or another name, of the kernel that the check calls."""
    text = wrong().replace("void sum_of_block(const int* x, std::size_t n", f"void {name}(const int* x, {count}")
    assert text != wrong() or name == "sum_of_block"
    return before(code, text)
# Right lines come too late when the check has ended.
AFTERWARDS = {
    "after_destructor": f"struct Late {{ ~Late() {{ {WORD} {EVERY_FILE} std::_Exit(0); }} }};\nstatic Late late;",
    "after_at_exit": f"static int late = std::atexit([] {{ {WORD} {EVERY_FILE} std::_Exit(0); }});",
}


def tricks(outside):
    """{what it tries: the text of the file}"""
    c = 'extern "C" '
    return {
        # macros of the check
        "macro": first(f"#define {NO_CHECK}"),
        "macro_form_feed": before(f"\f#define {NO_CHECK}"),
        "macro_digraph": before(f"%:define {NO_CHECK}"),
        "macro_spliced": before(f"#def\\\nine {NO_CHECK}"),
        "macro_raw_string": before(f'const char* raw = R"x(")x";\n#define {NO_CHECK}\nconst char* end = ")x";'),
        "macro_has_include": before(
            '#if __has_include("check.o") || __has_include("check.ii") || __has_include("check.cu")\n'
            f"#define {NO_CHECK}\n#endif"
        ),
        "macro_of_a_header": first("#define private public\n#define accumulate iota\n#include <numeric>\n#include <regex>"),
        "macro_cuda_check": before("#undef CUDA_CHECK_LAUNCH\n#define CUDA_CHECK_LAUNCH() return"),
        # lines that name other files
        "line": before('#line 1 "common/labs/testing.cuh"'),
        "marker_leaves": before(f'# 1 "chapters/{LAB[0]}/exercises/{LAB[1]}.check.cu" 2'),
        "marker_enters": before('# 1 "/usr/include/stdio.h" 1\nnamespace lab {}\n# 9 "lab.cu" 2'),
        "system_header": before("#pragma GCC system_header"),
        # names of the check
        "namespace_lab": before("namespace lab { struct Wrong; }"),
        "namespace_alias": before("namespace s = std;\ntemplate <> long long& s::vector<long long>::back() noexcept;"),
        "specialised": before(
            "template <> inline std::vector<long long>::reference std::vector<long long>::operator[](size_type n) noexcept"
            " { static long long none; (void)n; return none; }"
        ),
        "overload_hidden": before("namespace { template <class A, class B> auto div_up(A, B) { return 0; } }"),
        "overload_used": before("namespace mine { std::size_t div_up(std::size_t, unsigned); }\nusing mine::div_up;"),
        "equals": before("struct Sum { long long v; };\ntemplate <class T> bool operator==(const T&, const Sum&) { return true; }"),
        "test_case": before('TEST_CASE("every block leaves the sum of its own elements") { CHECK(true); }'),
        "mangled": before(c + "void _ZN3lab4tellERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES7_(int, int);"),
        # beneath the compiler
        "asm_pasted": before('#define PASTE(a, b) a##b\nPASTE(as, m)("nop");'),
        "pragma_operator": before('_Pragma("weak write")'),
        # the channel
        "write": before(c + "long write(int, const void*, unsigned long n) { return static_cast<long>(n); }"),
        "garbage": at_start(f"{NAME} const char* word = \"00000000000000000000000000000000\"; "
                            f"for (int file = 3; file < 200; ++file) {{ {FORGE.replace('std::_Exit(0);', '')} }} std::_Exit(0);"),
        "search": at_start(
            "static char mine = 1; const char* word = &mine - 65536; const char* end = &mine + 262144;"
            f" {NAME} for (; word < end; ++word) {{ int n = 0; while (n < 32 && std::isxdigit(word[n])) ++n;"
            f" if (n == 32) for (int file = 3; file < 200; ++file) {{ {FORGE.replace('std::_Exit(0);', '')} }} }} std::_Exit(0);",
            "#include <cctype>",
        ),
        "environ": at_start("for (char** e = environ; *e; ++e) puts(*e);", c + "char** environ;"),
        "proc_mem": at_start('std::ofstream file("/proc/self/mem"); file.seekp(4096); file << 1;', "#include <fstream>"),
        # other people's files
        "reads_secret": at_start(f'std::ifstream file("{outside}/secret.txt"); std::string all; file >> all; puts(all.c_str());',
                                 "#include <fstream>\n#include <string>"),
        "writes_outside": at_start(f'std::ofstream("{outside}/written") << 1;', "#include <fstream>"),
        "includes_secret": before(f'#include "{outside}/secret.txt"'),
        "includes_zero": before('#include "/dev/zero"'),
        "leaves_files": at_start('std::ofstream("/dev/shm/left_by_a_student") << 1; std::ofstream("/tmp/left_by_a_student") << 1;',
                                 "#include <fstream>"),
        # what never ends, or is too large
        "comments": first("/*" * 40000),
        "quotes": before('\\"' * 40000),
        "includes_itself": before("#include __FILE__"),
        "laughs": before("#define A a a a a a a a a a a\n"
                         + "\n".join(f"#define {chr(66 + i)} " + f"{chr(65 + i)} " * 10 for i in range(9)) + "\nJ"),
        "expands": before("#define A 1,1,1,1,1,1,1,1,1,1,\n" + "\n".join(f"#define {chr(66 + i)} " + f"{chr(65 + i)} " * 10 for i in range(4)) + "\nint all[] = {E E E E E E E};"),
        "templates": before("template <unsigned n> struct T { using l = typename T<2 * n>::l; using r = typename T<2 * n + 1>::r; };\n"
                            "T<1>::l none;"),
        "large_object": before("char large[1u << 30] = {1};"),
        "endless": at_start("for (volatile int turns = 0;; turns = turns + 1) {}"),
        "hog": at_start("for (;;) if (void* p = malloc(1 << 24)) memset(p, 1, 1 << 24);"),
        "fork": at_start("for (;;) fork();", c + "int fork();"),
        "threads": at_start("for (;;) std::thread([] { for (;;) std::this_thread::yield(); }).detach();", "#include <thread>"),
        "floods": at_start('for (;;) puts("All tests passed");'),
        "leaves": at_start('puts("All tests passed (180 assertions in 1 test case)"); std::exit(0);'),
        "computes": before("constexpr unsigned long long slow() { unsigned long long sum = 0; for (int i = 0; i < 200000; ++i)"
                           " for (int j = 0; j < 200000; ++j) sum += j; return sum; }\nconstexpr auto all = slow();"),
        **{name: text for name, (text, _) in forgeries().items()},
        **{name: before(text) for name, text in AFTERWARDS.items()},
    }


# What grading says of the other tricks: most are refused. Hitting a limit may show in more than one way.
LIMITS = {"time", "memory", "processes", "crash", "early", "failed"}
NOT_REFUSED = {
    **dict.fromkeys(("comments", "laughs", "templates", "large_object", "expands", "template_behind"), {"build"}),
    **dict.fromkeys((name for name in forgeries() if name.startswith("hides_")), {"build"}),
    "heavy_names": {"build", "refused"},  # g++ names what it calls, clang does not
    "computes": {"build"}, "garbage": {"forged"},
    **dict.fromkeys((name for name, (_, says) in forgeries().items() if says == LINES), {"forged"}),
    **dict.fromkeys(AFTERWARDS, {"failed"}),  # its sums are wrong
    "endless": {"time"}, "hog": LIMITS, "threads": LIMITS, "floods": {"output"}, "leaves": {"early"},
    "search": {"crash", "early"},
}  # fmt: skip
# Those of the smallest class, fifty-one: most are refused before anything is compiled.
FIRST = ("preinit_asks lines_destructor macro_form_feed macro_has_include asm_pasted overload_hidden write search garbage proc_mem includes_zero"
         " writes_outside marker_leaves quotes deaf_observer pretended_device marker_namespace heavy_names environment deaf_failures"
         " attribute_behind takes_class takes_alias takes_by_macro takes_wrapped takes_in_parentheses takes_anything object_one"
         " object_using object_binding include_word include_dot has_include letter_by_number assertion_of_catch optimize slow_name"
         " expands quote_hides false_is_true tail_spliced namespace_by_macro attribute_by_macro operator_word preinit_digraphs"
         " declspec abort_pasted thread_pointer asm_syscall allowed_by_macro hides_print").split()


def twins():
    """{name: the text of a right solution}, which look like the tricks above."""
    right = solution(*LAB)
    kernel = "__global__ void sum_of_block(const int* x, std::size_t n,"
    text = """// # 1 "/usr/include/nope.h" 1, then asm("nop") and R"(", all of it in a comment; it\'s one: <: %: ##
/* #line 7 "common/labs/testing.cuh" */
#include <cstdio>
#include <map> // for nothing
#define MOST(a, b) ((a) > (b) ? (a) : (b))
#ifdef __CUDA_ARCH__
#define ON_DEVICE 1
#else
#define ON_DEVICE 0
#endif
#pragma unroll
static_assert(MOST(1, 2) == 2 && ON_DEVICE == 0);
const char* const said = "# 1 \\"lab.cu\\" 1 \\\\ namespace lab {}";
const char quote = \'"\';
[[maybe_unused]] static __device__ __forceinline__ int twice(int x) { return 2 * x; }
__attribute__((unused, aligned(16))) static int four[4];
"""
    names = """struct Observer { int grid_begins = 0; };
[[maybe_unused]] static Observer observer;
[[maybe_unused]] static int detector, race, checks, environment;
template <class A, class B> struct P { static int x; };
template <class A, class B> int P<A, B>::x = 1;
using T0 = P<int, int>;
using T1 = P<T0, T0>;
using T2 = P<T1, T1>;
int used = T2::x;
namespace mine { __device__ int bits(float x) { return __float_as_int(x) + __popc(7) + __float2int_rn(x); } }
__global__ void sum_of_block(const int*, std::size_t, long long* sums);
"""
    other = "__global__ void __launch_bounds__(64) sum_of_block(const int* __restrict__ x, [[maybe_unused]] const std::size_t n,"
    inside = '  const auto twice = [](int of) { return 2 * of; };\n  if (t > 2000) printf("%d", twice(mine::bits(sqrtf(1.5f))));\n  __shared__'
    named = before(names, right.replace(kernel, other).replace("  __shared__", inside))
    return {"twins_text": before(text, right), "twins_names": named}


# ---- files and folders, rather than texts


def deep(folder):
    """1,500 folders, each in the one before: longer than a path may be."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def packed(root, name, text):
    """A right solution as mail programs, archives and editors deliver it."""
    chapter, file = LAB[0].encode(), LAB[1].encode() + b".cu"
    plain = b"/" + chapter + b"/" + file
    made = {
        "a byte order mark": (b"marked", plain, b"\xef\xbb\xbf" + text.encode()),
        "UTF-16": (b"wide", plain, text.encode("utf-16")),
        "Latin-1": (b"latin", plain, text.replace("// ", "// \xfc ").encode("latin-1")),
        "CRLF": (b"windows", plain, text.replace("\n", "\r\n").encode()),
        "a doubled folder": (b"doubled", b"/doubled/work" + plain, text.encode()),
        "a name that is no UTF-8": (b"J\xfcrgen", plain, text.encode()),
        "a name of two lines": (b"two\nlines", plain, text.encode()),
        "a name with quotes": (b"o'neill \"$HOME\" `x`", plain, text.encode()),
    }[name]
    put(os.fsencode(root) + b"/" + made[0] + made[1], made[2])
    if name == "a doubled folder":
        put(f"{root}/doubled/__MACOSX/._work", b"\0")
    return made[0]


PACKED = ["a name that is no UTF-8", "a name of two lines", "UTF-16", "Latin-1", "a doubled folder", "CRLF",
          "a byte order mark", "a name with quotes"]  # fmt: skip


def make(root, count, outside):
    os.makedirs(root)
    put(f"{outside}/secret.txt", SECRET + "\n")
    os.chmod(f"{outside}/secret.txt", 0o600)
    put(f"{root}/notes.txt", "no student")
    put(f"{root}/__MACOSX/._notes.txt", b"\0")
    hostile = len(FIRST) if count < 200 else 1000
    right = solution(*LAB)
    put(f"{root}/neighbour/{LAB[0]}/{LAB[1]}.cu", right)
    honest, expected = 1, {"neighbour": ["passed"]}
    texts, reasons, said = tricks(os.path.abspath(outside)), forgeries(), {}
    hostile = min(hostile, len(texts))
    for name in [*FIRST, *(n for n in sorted(texts) if n not in FIRST)][:hostile]:
        put(f"{root}/hostile_{name}/{LAB[0]}/{LAB[1]}.cu", texts[name])
        expected[f"hostile_{name}"] = sorted(NOT_REFUSED.get(name, {"refused"}))
        if name in reasons:
            said[f"hostile_{name}"] = reasons[name][1]
        if name == "quotes":
            deep(f"{root}/hostile_{name}")
        if name == "search":
            os.mkdir(f"{root}/hostile_{name}/closed", 0)
    for name, text in twins().items():
        put(f"{root}/{name}/{LAB[0]}/{LAB[1]}.cu", text)
        expected[name] = ["passed"]
        honest += 1
    for name in PACKED:
        if honest < count - hostile:
            honest += 1
            made = packed(root, name, right)
            expected[made.decode("utf-8", "backslashreplace").replace("\n", "\\n")] = ["passed"]
    every = [tuple(p[:-3].split("/")[i] for i in (1, 4)) for p in sorted(glob.glob("chapters/*/exercises/solutions/*.cu"))]
    for number in range(count - hostile - honest):
        chapter, name = every[number % len(every)]
        put(f"{root}/student_{number:03}/{'work/' if number % 3 == 0 else ''}{chapter}/{name}.cu",
            solution(chapter, name) + f"// handed in by {number}\n")  # fmt: skip
        expected[f"student_{number:03}"] = ["passed"]
    put(f"{root}.expected", json.dumps([expected, said]))
    if os.path.exists(f"{root}/student_000"):
        # A prediction may only be changed inside of its TODO.
        for path in glob.glob(f"{root}/student_*/**/*.cu", recursive=True):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if "predict, then measure" in text:
                put(path, text.rpartition("// handed in")[0])


def judge(root, grades):
    with open(f"{root}.expected", encoding="utf-8") as file:
        expected, said = json.load(file)
    with open(grades, encoding="utf-8") as file:
        text = file.read()
    problems, seen = [], {}
    if SECRET in text or "root:x:0" in text:
        problems.append("the grades quote a file that is no submission")
    for student in json.loads(text)["students"]:
        seen[student["name"]] = [e for e in student["exercises"] if e["verdict"] != "missing"]
    for name, wanted in expected.items():
        for e in seen.get(name, [None]) or [None]:
            if e is None:
                problems.append(f"{name}: no grade")
            elif e["verdict"] not in wanted:
                problems.append(f"{name} {e['id']}: {e['verdict']}, expected {' or '.join(wanted)}: {e['message']} {str(e['details'])[:300]}")
            elif said.get(name, "") not in e["message"] + e["details"].get("output", ""):
                problems.append(f"{name}: {e['message']}, expected a message with: {said[name]}")
    problems += [f"{name}: nobody handed that in" for name in set(seen) - set(expected)]
    for problem in sorted(problems):
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name, words in (("make", ("folder", "count", "outside")), ("judge", ("folder", "grades"))):
        verb = verbs.add_parser(name)
        for word in words:
            verb.add_argument(word, type=int if word == "count" else str)
    given = parser.parse_args()
    if given.verb == "make":
        make(given.folder, given.count, given.outside)
    else:
        sys.exit(judge(given.folder, given.grades))
