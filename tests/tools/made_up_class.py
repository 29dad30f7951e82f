# SPDX-License-Identifier: MIT
"""Makes a class of made-up submissions, and says whether its grades are right.

    make FOLDER COUNT OUTSIDE     of COUNT students (20 to 1000) a third or more are hostile, each in
                                  another way; of 200 so many that every trick below is tried
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


def tricks(outside, student):
    """{what it tries: the text of the file}; `student`: another one's file."""
    c = 'extern "C" '
    return {
        # macros of the check
        "macro": first(f"#define {NO_CHECK}"),
        "macro_after": before(f"#define {NO_CHECK}"),
        "macro_CHECK": before("#undef FAIL\n#define FAIL(x) ((void)0)"),
        "macro_form_feed": before(f"\f#define {NO_CHECK}"),
        "macro_digraph": before(f"%:define {NO_CHECK}"),
        "macro_comment": before(f"/* a */ # /* b */ define {NO_CHECK}"),
        "macro_long_comment": before(f"/* a\n b */#define {NO_CHECK}"),
        "macro_spliced": before(f"#def\\\nine {NO_CHECK}"),
        "macro_trigraph": before(f"??=define {NO_CHECK}"),
        "macro_quotes": before(f"const char quote = '\"';\n#define {NO_CHECK}\nconst char other = '\"';"),
        "macro_raw_string": before(f'const char* raw = R"x(")x";\n#define {NO_CHECK}\nconst char* end = ")x";'),
        "macro_separator": before(f"const int many = 1'000;\n#define {NO_CHECK}\nconst int more = 1'000;"),
        "macro_has_include": before(
            '#if __has_include("check.o") || __has_include("check.ii") || __has_include("check.cu")\n'
            f"#define {NO_CHECK}\n#endif"
        ),
        "macro_if_optimised": before(f"#ifdef __OPTIMIZE__\n#define {NO_CHECK}\n#endif"),
        "macro_pushed": before(f'#pragma push_macro("expect_equal")\n#define {NO_CHECK}'),
        "macro_of_a_header": first("#define private public\n#define accumulate iota\n#include <numeric>\n#include <regex>"),
        "macro_cuda_check": before("#undef CUDA_CHECK_LAUNCH\n#define CUDA_CHECK_LAUNCH() return"),
        # lines that name other files
        "line": before('#line 1 "common/labs/testing.cuh"'),
        "marker_leaves": before(f'# 1 "chapters/{LAB[0]}/exercises/{LAB[1]}.check.cu" 2'),
        "marker_enters": before('# 1 "/usr/include/stdio.h" 1\nnamespace lab {}\n# 9 "lab.cu" 2'),
        "system_header": before("#pragma GCC system_header"),
        # names of the check
        "namespace_lab": before("namespace lab { struct Wrong; }"),
        "namespace_std": before("namespace std { inline int mine; }"),
        "namespace_alias": before("namespace s = std;\ntemplate <> long long& s::vector<long long>::back() noexcept;"),
        "specialised": before(
            "template <> inline std::vector<long long>::reference std::vector<long long>::operator[](size_type n) noexcept"
            " { static long long none; (void)n; return none; }"
        ),
        "overload": before("inline std::size_t div_up(std::size_t, unsigned) { return 0; }"),
        "overload_hidden": before("namespace { template <class A, class B> auto div_up(A, B) { return 0; } }"),
        "overload_in_parentheses": before("inline decltype(sizeof(0)) (div_up)(std::size_t, unsigned) { return 0; }"),
        "overload_used": before("namespace mine { std::size_t div_up(std::size_t, unsigned); }\nusing mine::div_up;"),
        "overload_pasted": before("#define PASTE(a, b) a##b\ninline int PASTE(div, _up)(std::size_t, unsigned) { return 0; }"),
        "equals": before("struct Sum { long long v; };\ntemplate <class T> bool operator==(const T&, const Sum&) { return true; }"),
        "test_case": before('TEST_CASE("every block leaves the sum of its own elements") { CHECK(true); }'),
        "mangled": before(c + "void _ZN3lab4tellERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES7_(int, int);"),
        # beneath the compiler
        "asm": before('asm("nop");'),
        "asm_pasted": before('#define PASTE(a, b) a##b\nPASTE(as, m)("nop");'),
        "incbin": before(f'asm(".incbin \\"{outside}/secret.txt\\"");'),
        "constructor": before("__attribute__((constructor)) void early() {}"),
        "constructor_gnu": before("[[gnu::constructor]] void early() {}"),
        "constructor_digraph": before("<:<:using gnu: constructor:>:> void early() {}"),
        "section": before('__attribute__((section(".preinit_array"))) void (*early)() = nullptr;'),
        "extname": before(f"#pragma redefine_extname mine write\n{c}long mine(int, const void*, unsigned long) {{ return 0; }}"),
        "pragma_operator": before('_Pragma("weak write")'),
        # the channel
        "write": before(c + "long write(int, const void*, unsigned long n) { return static_cast<long>(n); }"),
        "read": before(c + "long read(int, void*, unsigned long n) { return static_cast<long>(n); }"),
        "memcpy": before(c + "void* memcpy(void* to, const void*, unsigned long) noexcept { return to; }"),
        "new": before("void* operator new(std::size_t n) { return std::malloc(n); }"),
        "dup2": at_start("dup2(1, 3);", c + "int dup2(int, int);"),
        "garbage": at_start(f"{NAME} const char* word = \"00000000000000000000000000000000\"; "
                            f"for (int file = 3; file < 200; ++file) {{ {FORGE.replace('std::_Exit(0);', '')} }} std::_Exit(0);"),
        "search": at_start(
            "static char mine = 1; const char* word = &mine - 65536; const char* end = &mine + 262144;"
            f" {NAME} for (; word < end; ++word) {{ int n = 0; while (n < 32 && std::isxdigit(word[n])) ++n;"
            f" if (n == 32) for (int file = 3; file < 200; ++file) {{ {FORGE.replace('std::_Exit(0);', '')} }} }} std::_Exit(0);",
            "#include <cctype>",
        ),
        "environ": at_start("for (char** e = environ; *e; ++e) puts(*e);", c + "char** environ;"),
        "proc_environ": at_start('std::ifstream file("/proc/self/environ"); std::string all; file >> all; puts(all.c_str());',
                                 "#include <fstream>\n#include <string>"),
        "proc_mem": at_start('std::ofstream file("/proc/self/mem"); file.seekp(4096); file << 1;', "#include <fstream>"),
        "mprotect": at_start("mprotect(nullptr, 1, 7);", c + "int mprotect(void*, unsigned long, int);"),
        "syscall": at_start("syscall(39);", c + "long syscall(long, ...);"),
        "dlsym": at_start('dlsym(nullptr, "write");', c + "void* dlsym(void*, const char*);"),
        "frames": before("void* where() { return __builtin_return_address(0); }"),
        # other people's files
        "reads_secret": at_start(f'std::ifstream file("{outside}/secret.txt"); std::string all; file >> all; puts(all.c_str());',
                                 "#include <fstream>\n#include <string>"),
        "writes_outside": at_start(f'std::ofstream("{outside}/written") << 1;', "#include <fstream>"),
        "opens": at_start(f'open("{outside}/opened", 0102, 0600);', c + "int open(const char*, int, ...);"),
        "includes_secret": before(f'#include "{outside}/secret.txt"'),
        "includes_passwd": before('#include "/etc/passwd"'),
        "includes_neighbour": before(f'#include "{student}"'),
        "includes_solution": before(f'#include "chapters/{LAB[0]}/exercises/solutions/{LAB[1]}.cu"'),
        "includes_zero": before('#include "/dev/zero"'),
        "leaves_files": at_start('std::ofstream("/dev/shm/left_by_a_student") << 1; std::ofstream("/tmp/left_by_a_student") << 1;',
                                 "#include <fstream>"),
        # what never ends, or is too large
        "comments": first("/*" * 40000),
        "quotes": before('\\"' * 40000),
        "includes_itself": before("#include __FILE__"),
        "laughs": before("#define A a a a a a a a a a a\n"
                         + "\n".join(f"#define {chr(66 + i)} " + f"{chr(65 + i)} " * 10 for i in range(9)) + "\nJ"),
        "templates": before("template <unsigned n> struct T { using l = typename T<2 * n>::l; using r = typename T<2 * n + 1>::r; };\n"
                            "T<1>::l none;"),
        "large_object": before("char large[1u << 30] = {1};"),
        "endless": at_start("for (volatile int turns = 0;; turns = turns + 1) {}"),
        "hog": at_start("for (;;) if (void* p = malloc(1 << 24)) memset(p, 1, 1 << 24);"),
        "fork": at_start("for (;;) fork();", c + "int fork();"),
        "threads": at_start("for (;;) std::thread([] { for (;;) std::this_thread::yield(); }).detach();", "#include <thread>"),
        "floods": at_start('for (;;) puts("All tests passed");'),
        "folders": at_start("for (;;) { mkdir(\"d\", 0700); chdir(\"d\"); }", c + "int mkdir(const char*, unsigned);\n" + c + "int chdir(const char*);"),
        "leaves": at_start('puts("All tests passed (180 assertions in 1 test case)"); std::exit(0);'),
        "kills": at_start("kill(-1, 9);", c + "int kill(int, int);"),
    }


# What grading says of the other tricks: most are refused. Hitting a limit may show in more than one way.
LIMITS = {"time", "memory", "processes", "crash", "early", "failed"}
NOT_REFUSED = {
    **dict.fromkeys(("comments", "quotes", "laughs", "templates", "large_object", "includes_itself"), {"build"}),
    # In the sandbox there is no such file.
    **dict.fromkeys(("includes_secret", "includes_passwd", "includes_neighbour", "includes_solution", "includes_zero"),
                    {"build", "refused"}),
    "memcpy": {"build", "refused"},
    "macro_CHECK": {"failed"},  # the check does not use it
    "system_header": {"failed"},  # only silences warnings
    "endless": {"time"}, "hog": LIMITS, "threads": LIMITS, "floods": {"output"}, "leaves": {"early"},
    "search": {"crash", "early"},
}  # fmt: skip
# The first are those that twenty students begin with.
FIRST = ("macro_form_feed macro_has_include asm_pasted overload_hidden write search garbage proc_mem includes_zero"
         " writes_outside marker_leaves quotes").split()


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
    hostile = 12 if count < 200 else 1000
    right = solution(*LAB)
    neighbour = f"{os.path.abspath(root)}/neighbour/{LAB[0]}/{LAB[1]}.cu"
    put(neighbour, right)
    honest, expected = 1, {"neighbour": ["passed"]}
    texts = tricks(os.path.abspath(outside), neighbour)
    hostile = min(hostile, len(texts))
    for name in [*FIRST, *(n for n in sorted(texts) if n not in FIRST)][:hostile]:
        put(f"{root}/hostile_{name}/{LAB[0]}/{LAB[1]}.cu", texts[name])
        expected[f"hostile_{name}"] = sorted(NOT_REFUSED.get(name, {"refused"}))
        if name == "quotes":
            deep(f"{root}/hostile_{name}")
        if name == "search":
            os.mkdir(f"{root}/hostile_{name}/closed", 0)
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
    put(f"{root}.expected", json.dumps(expected))
    if os.path.exists(f"{root}/student_000"):
        # A prediction may only be changed inside of its TODO.
        for path in glob.glob(f"{root}/student_*/**/*.cu", recursive=True):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if "predict, then measure" in text:
                put(path, text.rpartition("// handed in")[0])


def judge(root, grades):
    with open(f"{root}.expected", encoding="utf-8") as file:
        expected = json.load(file)
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
