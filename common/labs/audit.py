# SPDX-License-Identifier: MIT
"""Compiles a submission together with its check, and looks at what the compiler makes of it on the way.

The compiler is asked, not imitated: the real command's preprocessor output is read, and that same text is compiled. In
it every line says which file it is from. What stands outside of the submission must be, word for word, what stands
there with the starter: so no macro has changed the check. Before the object is linked, its symbols are read."""

import os
import re
import shutil
import subprocess
import sys

import runner
from build import Failure, backend, compiler_of, is_clang
from catalogue import read
from submission import Refused

GIB = 1 << 30
MOST_TEXT = 48 << 20  # bytes of preprocessor output
PREPROCESS = runner.Limits(wall=60, cpu=20, memory=GIB, output=1 << 20, file=MOST_TEXT, processes=32)

TOKEN = re.compile(
    r'(?P<raw>(?:u8|[uUL])?R"(?P<end>[^()\\\s]{0,16})\((?s:.*?)\)(?P=end)")'
    r'|(?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?\'(?:\\.|[^\'\\\n])*\')'
    r"|(?P<broken>[\"'][^\n]*)"  # never closed: it will not compile; tried once, so a line costs its length
    r"|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"
    r"|(?P<name>(?:[^\W\d]|\$)(?:\w|\$)*)"
    r"|(?P<mark>::|->|&&|\|\||[=!<>]=|<:|:>|<%|%>|[^\s])"
)
MARKER = re.compile(r'# (\d+) "((?:[^"\\]|\\.)*)"((?: [1-4])*)$')
PRAGMA = re.compile(r"#\s*pragma\s+(?:once$|(?:no)?unroll\b|GCC (?:unroll|ivdep|diagnostic)\b|clang (?:loop|diagnostic)\b"
                    r"|STDC\b|(?:end)?region\b|nv_|hd_warning)")  # fmt: skip
# Names that the checks' macros number.
NUMBERED = re.compile(r"^(C_A_T_C_H_\w*_|____C_A_T_C_H____\w*?|autoRegistrar)\d+$")

# Of the checker and of what it is built from.
OWNED = {"lab", "Catch", "xray", "races", "LAB_FILE", "LAB_CHANNEL", "TEST_CASE", "SCENARIO", "SECTION"}
NAMESPACES = {"std", "lab", "Catch", "xray", "races", "cuda_cpu", "cuda", "cooperative_groups", "__gnu_cxx", "__cxxabiv1"}
LOW_LEVEL = {"asm", "__asm", "__asm__", "_Pragma", "__declspec", "gnu", "clang", "__ifunc__", "__symver__"}
LOW_LEVEL_BUILTIN = re.compile(
    r"__builtin_(?:\w*return\w*|\w*frame_address|\w*setjmp|\w*longjmp|apply\w*|eh_\w+|dwarf\w*|unwind\w*|extend_pointer"
    r"|init_dwarf\w*|frob\w*)$"
)
ATTRIBUTES = {"always_inline", "aligned", "noinline", "unused", "packed", "const", "pure", "nothrow", "deprecated"}
# What CUDA's own words are to nvcc.
ATTRIBUTES |= {"global", "device", "host", "shared", "constant", "managed", "launch_bounds", "grid_constant", "maxnreg"}
COMPARED = {"==", "!=", "<=", ">=", "<", ">", "&", ",", "->", "new", "delete", "&&", "||", '""'}


def tokens_of(text):
    """[(kind, spelling)] of preprocessed text without its directives."""
    return [(m.lastgroup if m.lastgroup != "end" else "raw", m[0]) for m in TOKEN.finditer(text)]


class Preprocessed:
    """The regions of a preprocessor's output. `outside`: tokens of the check and of all that was included before the
    submission; `own`: of the submission; `below`: of the headers that it includes; `files`: those headers, with
    `children` the ones that it names itself; `pragmas`: its own."""

    def __init__(self, text, entry, names):
        """`entry`: the file that the check includes for the submission; `names`: what it may be called."""
        self.files, self.children, self.pragmas = [], [], []
        outside, own, below = [], [], []
        depth, at = 0, 0  # at: the depth of the submission, while inside it
        for line in text.split("\n"):
            marker = MARKER.match(line) if line.startswith("# ") else None
            if not marker:
                if not at:
                    outside.append(line if not line.startswith("#") else "")
                elif line.lstrip().startswith("#"):
                    if depth == at:
                        self.pragmas.append(line.strip())
                elif depth == at:
                    own.append(line)
                else:
                    below.append(line)
                continue
            name, flags = re.sub(r"\\(.)", r"\1", marker[2]), marker[3].split()
            if "1" in flags:
                depth += 1
                if not at and name == entry:
                    at = depth
                elif at:
                    self.files.append(name)
                    if depth == at + 1:
                        self.children.append(name)
            elif "2" in flags:
                depth -= 1
                if depth < at:
                    at = 0
            elif at == depth and at and name not in names:
                raise Refused("holds a line that names another file (#line)")
        self.outside = [NUMBERED.sub(r"\1", t) for _, t in tokens_of("\n".join(outside))]
        self.own = tokens_of("\n".join(own))
        self.below = [t for _, t in tokens_of("\n".join(below))]


# ---- what may stand in a submission


def look_at(own, pragmas, guarded):
    """Raises Refused for what reaches for the checker or beneath the compiler."""
    for line in pragmas:
        if not PRAGMA.match(line):
            raise Refused(f"holds the line {line[:60]}, which no exercise needs")
    spelled = [t for _, t in own]
    names = [t if kind == "name" else "" for kind, t in own]
    for i, name in enumerate(names):
        if not name:
            continue
        after = spelled[i + 1] if i + 1 < len(own) else ""
        before = spelled[i - 1] if i else ""
        if name in OWNED or name.startswith(("CATCH_", "INTERNAL_CATCH", "C_A_T_C_H", "____C_A_T_C_H")):
            raise Refused(f"uses the name '{name}', which belongs to the checker")
        if name in LOW_LEVEL or LOW_LEVEL_BUILTIN.match(name) or re.match(r"_+Z", name):
            raise Refused(f"uses '{name}', which no exercise needs")
        if name in ("__attribute__", "__attribute"):
            j = i + 1
            while j < len(own) and spelled[j] == "(":
                j += 1
            if j >= len(own) or spelled[j].strip("_") not in ATTRIBUTES:
                raise Refused(f"uses '{name}', which no exercise needs")
        if name == "namespace":
            j = i + 1
            while j < len(own) and (names[j] or spelled[j] == "::"):
                if names[j] in NAMESPACES and before != "using":
                    raise Refused(f"adds to namespace {names[j]}, which no exercise needs")
                j += 1
        shifts = after in ("<", ">") and spelled[i + 2 : i + 3] == [after]
        if name == "operator" and after in COMPARED and before != "::" and not shifts:
            raise Refused(f"defines operator{after}, which the check may use")
        if name == "template" and before not in ("::", ".", "->"):
            if after != "<" or spelled[i + 1 : i + 3] == ["<", ">"]:
                specialises(spelled, i + (1 if after != "<" else 3))
    declares(spelled, names, guarded)


def specialises(spelled, i):
    """Refuses a specialisation or instantiation of another namespace's template."""
    depth, head = 0, []
    for token in spelled[i:]:
        if depth == 0 and token in ("(", "{", ";", "=", ":"):
            break
        depth += {"<": 1, ">": -1}.get(token, 0)
        if depth == 0 and token != ">":
            head.append(token)
    if "operator" in head:
        head = head[: head.index("operator") + 1]
    if len(head) > 1 and head[-2] == "::":
        of = head[-3] if len(head) > 2 else "the whole program"
        raise Refused(f"specialises a template of '{of}', which no exercise needs")


NOT_A_TYPE = {"return", "else", "case", "throw", "goto", "delete", "new", "and", "or", "not", "co_return", "sizeof", "do"}
KEYWORDS = set(
    """alignas alignof auto bool break case catch char class const constexpr const_cast continue decltype default delete
    do double dynamic_cast else enum explicit extern false float for friend goto if inline int long mutable namespace new
    noexcept nullptr operator private protected public register reinterpret_cast return short signed sizeof static
    static_assert static_cast struct switch template this throw true try typedef typeid typename union unsigned using
    virtual void volatile while defined""".split()
)


def declarations(spelled, names, strict):
    """[(name, the namespaces around it)] of what is declared outside of functions and classes. `strict`: rather one
    too many, as a parameter's or one in parentheses."""
    scopes, start, found, inner = [], 0, [], 0  # scopes: a namespace's name, or None for another brace
    for i, token in enumerate(spelled):
        inner = inner + {"(": 1, ")": -1}.get(token, 0) if token not in "{};" else 0
        if token in ("{", "<%"):
            head = [t for t in spelled[start:i] if t != "inline"]
            if head[:1] == ["namespace"]:
                scopes.append("".join(head[1:]))
            else:
                scopes.append("" if head[:1] == ["extern"] and len(head) == 2 else None)
            start = i + 1
        elif token in ("}", "%>"):
            if scopes:
                scopes.pop()
            start = i + 1
        elif token == ";":
            start = i + 1
        elif names[i] and i and None not in scopes and (strict or not inner):
            before = spelled[i - 1]
            declared = (names[i - 1] and before not in NOT_A_TYPE) or before in ("*", "&", "&&", ">", ")", "]")
            declared = declared or (before == "(" and spelled[i + 1 : i + 2] == [")"])
            if declared or "using" in names[start:i]:
                found.append((names[i], scopes[:]))
    return found


def declares(spelled, names, guarded):
    """Refuses a declaration of a name that the check takes from elsewhere."""
    for name, _ in declarations(spelled, names, True):
        if name in guarded:
            raise Refused(f"declares '{name}', which the check takes from elsewhere")


def calls_in(text_tokens):
    """Names that are called or built without a namespace or an object before them."""
    found = set()
    spelled = [t for _, t in text_tokens]
    for i, (kind, name) in enumerate(text_tokens[:-1]):
        before = spelled[i - 1] if i else ""
        if kind != "name" or before in ("::", ".", "->", "~") or spelled[i + 1] not in ("(", "<", "{"):
            continue
        found.add(name)
    return found


def plain_tokens(path):
    """The tokens of a source without its comments and directives."""
    text = re.sub(r"\\\n", " ", read(path))
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    return tokens_of(re.sub(r"^[ \t]*#[^\n]*", "", text, flags=re.M))


def names_of(paths):
    """What these headers declare for everybody, or for checks."""
    found = set()
    for path in paths:
        tokens = plain_tokens(path)
        names = [t if kind == "name" else "" for kind, t in tokens]
        declared = declarations([t for _, t in tokens], names, False)
        # Of lab's own only what is found by a type of the submission's; the check asks for the others by lab::.
        found.update(name for name, scopes in declared if not set(scopes) - {""} or (scopes == ["lab"] and "_" in name))
    return found


# ---- compiling


def split_command(command):
    """(preprocess, compile, file between them) in place of one command that does both. nvcc preprocesses more than once,
    so its output is read but the source compiled."""
    target = command[command.index("-o") + 1]
    text = re.sub(r"\.o$", ".ii", target)
    first = [a for a in command if a != "-c"]
    first[first.index("-o") + 1] = text
    flags = len(compiler_of(command))
    first[flags:flags] = ["-E", "-w"]  # what a macro changes is seen below, and said better
    if "-include" not in command:
        return first, command, text
    if not is_clang(command):
        first[flags:flags] = ["-fpch-preprocess"]
    second = list(command)
    at = second.index("-include")
    del second[at : at + 2]
    second[second.index("-x") + 1] = "c++-cpp-output"
    # Catch2 silences this one inside of its macros, which are expanded by now.
    second[-1:] = ["-Wno-parentheses", text]
    if is_clang(command):
        second[flags:flags] = ["-Wno-unused-command-line-argument"]  # there is nothing left to include
    return first, second, text


def entry_of(variant, folder, path):
    """The file that the check includes for the submission."""
    return os.path.abspath(path if variant == "gpu" else f"{folder}/lab.cu")


class Baseline:
    """What the check is made of with the starter."""

    def __init__(self, builder, lab, variant, folder):
        os.makedirs(folder, exist_ok=True)
        self.builder, self.lab, self.variant, self.root = builder, lab, variant, os.getcwd()
        seen = self.preprocess(folder, lab.starter)
        self.outside, self.below, self.files = seen.outside, seen.below, set(seen.files)
        starters = {t for kind, t in seen.own if kind == "name"}
        checks = calls_in(plain_tokens(lab.check)) | TRUSTED.calls()
        self.guarded = (checks & TRUSTED.names()) - starters - KEYWORDS

    def preprocess(self, folder, path):
        for command in self.builder.commands(self.lab, path, self.variant, folder):
            if "-c" in command:
                first, _, text = split_command(command)
                done = runner.run(first, PREPROCESS)
                break
            done = runner.run(command, PREPROCESS)
            if done.status != 0:
                break
        if done.status != 0:
            raise Failure(f"{self.lab.label}: the check cannot be preprocessed: {done.output[:300]}")
        entry = entry_of(self.variant, folder, path)
        return Preprocessed(read_text(text), entry, {path, entry})

    def judge(self, text, folder, path, neutral):
        """Raises Refused. `neutral(lines)`: the preprocessor's output with these lines as the submission."""
        entry = entry_of(self.variant, folder, path)
        seen = Preprocessed(text, entry, {path, entry})
        for name in seen.files:
            if name not in self.files and not self.may_include(name):
                shown = os.path.relpath(name) if name.startswith(self.root + os.sep) else name
                raise Refused(f"includes {shown}: only common/common.cuh and the system's headers may be included")
        look_at(seen.own, seen.pragmas, self.guarded)
        if seen.outside != self.outside:
            raise Refused(f"changes what the check says, by a macro{differs(self.outside, seen.outside)}")
        if seen.children and (seen.below, seen.files) != (self.below, sorted(self.files)):
            wanted = neutral("".join(f"#include <{self.short(name)}>\n" for name in seen.children))
            if wanted is not None and Preprocessed(wanted, entry, {path, entry}).below != seen.below:
                raise Refused("changes what a header says, by a macro before its #include")

    def may_include(self, name):
        real = os.path.realpath(name)
        trusted = [f"{self.root}/common/", f"{self.root}/build/cpu/src/common/", *self.builder_folders()]
        return real.startswith(tuple(trusted))

    def builder_folders(self):
        return TRUSTED.system(self.builder.prepared[self.variant][0][0])

    def short(self, name):
        """The name as an #include has it."""
        folders = [f"{self.root}/build/cpu/src/", f"{self.root}/", *self.builder_folders()]
        real = os.path.realpath(name)
        for folder in sorted(folders, key=len, reverse=True):
            if real.startswith(folder):
                return real[len(folder) :]
        return name


class Trusted:
    """Facts about the tutorial's own files and the system, found once."""

    def __init__(self):
        self.known = {}

    def once(self, what, find):
        if what not in self.known:
            self.known[what] = find()
        return self.known[what]

    def own_headers(self):
        rooms = ("cuda", "engine", "runtime", "types", "libs/textures", "libs/graphs", "xray", "races")
        folders = ["common", "common/labs", "tests", *(f"common/cpu/{room}" for room in rooms)]
        return [os.path.join(folder, n) for folder in folders for n in sorted(os.listdir(folder)) if n.endswith((".cuh", ".h"))]

    def names(self):
        return self.once("names", lambda: names_of(self.own_headers()))

    def calls(self):
        """What the checks' own headers call."""
        headers = [f"common/labs/{n}" for n in sorted(os.listdir("common/labs")) if n.endswith((".cuh", ".h"))]
        return self.once("calls", lambda: set().union(*(calls_in(plain_tokens(h)) for h in headers)))

    def system(self, compiler):
        """Where the compiler looks for system headers."""

        def find():
            said = runner.run([compiler, "-E", "-v", "-x", "c++", "/dev/null"], runner.COMPILE).output
            listed = re.search(r"search starts here:\n(.*?)End of search list", said, re.S)
            folders = re.findall(r"^ (\S+)", listed[1], re.M) if listed else []
            return [os.path.realpath(f) + os.sep for f in folders] or ["/usr/"]

        return self.once("system", find)


TRUSTED = Trusted()


def differs(wanted, found):
    """Where the check is another one, in a few words of it."""
    for a, b in zip(wanted, found):
        if a != b and re.match(r"\w", a):
            return f" (it has '{b[:40]}' for '{a[:40]}')"
    return ""


def read_text(path):
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        return file.read(MOST_TEXT)


# ---- symbols

ALLOWED = re.compile(
    r"_Z|cuda|__cuda|__cxa_|__gxx_|_Unwind_|__dso_handle|_GLOBAL_OFFSET_TABLE_|__tls_|__stack_chk|_ITM"
    r"|__tsan_|__asan_|__ubsan_|__sanitizer_|__gcov|__\w+_chk$|__assert|__errno_location|__[a-z]+[sdtx][if](?:[sdtx][if])?\d$|__gmon_start|__\w*printf"
)
C_LIBRARY = set(
    """abort abs labs llabs div ldiv atof atoi atol atoll strtod strtof strtol strtoll strtoul strtoull strtold
    __isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull malloc calloc realloc free aligned_alloc
    posix_memalign qsort bsearch rand srand rand_r random srandom drand48 exit _Exit _exit quick_exit atexit
    memcpy memmove memset memcmp memchr memrchr mempcpy bcmp strlen strnlen strcpy strncpy strcat strncat strcmp strncmp
    strchr strrchr strstr strdup strspn strcspn strpbrk strtok strerror stpcpy
    printf fprintf sprintf snprintf vprintf vfprintf vsnprintf vsprintf dprintf puts putchar fputs fputc putc fwrite
    fflush perror stdout stderr setvbuf setbuf
    time clock clock_gettime gettimeofday difftime nanosleep usleep sleep sched_yield timespec_get
    isalpha isdigit isspace isalnum isupper islower toupper tolower isprint ispunct isxdigit
    __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc getenv pthread_create pthread_join
    pthread_mutex_lock pthread_mutex_unlock pthread_mutex_trylock pthread_once pthread_self __pthread_key_create
    pthread_cond_wait pthread_cond_signal pthread_cond_broadcast pthread_key_create pthread_getspecific
    pthread_setspecific __libc_single_threaded""".split()
)
MATHS = re.compile(
    r"(?:a?(?:sin|cos|tan)h?|atan2|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|sqrt|cbrt|hypot|fabs|fmod|fma|fmin|fmax"
    r"|fdim|floor|ceil|trunc|round|rint|nearbyint|l?lround|l?lrint|erfc?|[lt]gamma|lgamma|remainder|remquo|frexp|ldexp|modf"
    r"|scalbl?n|i?logb|nextafter|nexttoward|copysign|nan|sincos|j[01n]|y[01n]|__signbit|__isnan|__isinf|__finite"
    r"|__fpclassify|signbit|finite|isnan|isinf)[fl]?$"
)


SYMBOLS_ARE_READ = sys.platform == "linux" and shutil.which("nm") is not None


def symbols(path, *options):
    """[(type, name)] of an object, a library or a shared library."""
    done = subprocess.run(["nm", "-P", *options, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    lines = (line.split() for line in done.stdout.decode("utf-8", "replace").split("\n"))
    return [(f[1], f[0].partition("@")[0]) for f in lines if len(f) >= 2]


def protected(builder, variant):
    """Names that the rest of the program defines or takes from the system's libraries."""

    def find():
        if not SYMBOLS_ARE_READ:
            return set()
        compiler, names = builder.prepared[variant][0][0], set()
        for part in ("build/labs/report.o", "build/tests/catch_main.o", *backend(variant)):
            names.update(name for _, name in symbols(part))
        for library in ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "libc++.so.1"):
            path = runner.run([compiler, f"-print-file-name={library}"], runner.COMPILE).output.strip()
            if os.path.isabs(path):
                names.update(name for kind, name in symbols(path, "-D", "--defined-only"))
        return names

    return TRUSTED.once(f"protected {variant}", find)


def look_at_object(path, builder, variant):
    """Raises Refused when the object takes the place of another part of the program, or calls the system. The names
    are those of Linux."""
    if not SYMBOLS_ARE_READ:
        return
    taken = protected(builder, variant)
    for kind, name in symbols(path):
        if kind in "Uw":
            if re.search(r"filebuf|fstream|10filesystem", name):
                raise Refused("reads or writes files, which no exercise needs")
            if not (ALLOWED.match(name) or name in C_LIBRARY or MATHS.match(name)):
                raise Refused(f"calls '{name}', which no exercise needs")
        elif kind.isupper() or kind in "vi":
            plain_c = re.match(r"(?!_Z|__clang_call_terminate)\w+$", name)
            replaces_new = re.match(r"_Z(?:nw|na|dl|da)", name)
            if (name in taken and (plain_c or kind not in "WVvu")) or (replaces_new and kind != "U"):
                raise Refused(f"defines '{name}', which another part of the program has")


def own_lines(text, names):
    """A compiler's messages about these files alone: what is said about another file may quote it."""
    kept, keep = [], False
    for line in text.split("\n"):
        if re.match(r"\S.*:\d+", line):
            keep = line.startswith(tuple(f"{n}:" for n in names))
        if keep or re.match(r"(?:cc1plus|g\+\+|clang\S*): ", line):
            kept.append(line)
    return "\n".join(kept)


def build(builder, lab, path, variant, folder, limits, prefix, user, baseline):
    """(True, warnings) when folder/check is there, else (False, what the compiler said). Raises Refused."""
    said = ""

    def run(command, most):
        done = runner.run([*prefix, *command], most, drop_to=user)
        if done.ended_by:
            done.output += f"\n(the compiler was stopped: {done.ended_by})"
            done.status = done.status or 1
        return done

    def neutral(lines):
        if variant == "gpu":
            return None
        other = f"{folder}/lab.cu"
        os.rename(other, f"{folder}/lab.kept")
        with open(other, "w", encoding="utf-8") as file:
            file.write(lines)
        os.chmod(other, 0o644)
        done = runner.run([*prefix, *first], PREPROCESS, drop_to=user)
        result = read_text(text) if done.status == 0 else None
        os.replace(f"{folder}/lab.kept", other)
        return result

    for command in builder.commands(lab, path, variant, folder):
        if "-c" in command:
            first, second, text = split_command(command)
            done = run(first, PREPROCESS)
            if done.status != 0:
                return False, own_lines(done.output, {path, f"{folder}/lab.cu"}) or "the preprocessor failed"
            kept = read_text(text)
            baseline.judge(kept, folder, path, neutral)
            if not os.path.exists(text) or read_text(text) != kept:
                with open(text, "w", encoding="utf-8", errors="replace") as file:
                    file.write(kept)
            done = run(second, limits)
            if done.status == 0 and variant != "gpu":
                look_at_object(command[command.index("-o") + 1], builder, variant)
        else:
            done = run(command, limits)
        if done.status != 0:
            return False, done.output.strip() or f"{command[0]} ended with status {done.status}"
        said += done.output
    return True, said
