# SPDX-License-Identifier: MIT
"""Compiles a submission together with its check, and looks at what the compiler makes of it on the way.

A submission is read three times. First as it was handed in, by the lexer of the pre-pass: which headers, directives and
reserved names it uses. Its macros end with it, and its headers are included before them, so they change nothing else.
Then what they make of it is read, from the preprocessor's output: what it declares. Before the object is linked, its
symbols are read, and its constructors are put where they wait for the check's main. Of headers, reserved names,
attributes and symbols there are lists of what is allowed: what nobody thought of is refused."""

import functools
import glob
import os
import re
import shutil
import sys

from ..tools import cpp
from . import folders, runner
from .build import OF_EVERY_CHECK, backend, compiler_of, host_code, is_clang, with_calls
from .catalogue import write
from .submission import Refused

GIB = 1 << 30
MOST_TEXT = 48 << 20  # bytes of preprocessor output
MOST_OWN = 512 << 10  # of the submission's own part in it
PREPROCESS = runner.Limits(wall=60, cpu=20, memory=GIB, output=1 << 20, file=MOST_TEXT, processes=32)
LISTING = runner.Limits(wall=60, cpu=20, memory=GIB, output=64 << 20, processes=8)
NAMES = runner.Limits(wall=30, cpu=5, memory=GIB, output=16 << 20, processes=8)
PLAIN_NAMES = runner.Limits(wall=30, cpu=5, memory=GIB, output=4 << 20, processes=8)

# ---- what may stand in a submission, as it was handed in

# Of the checker and of what it is built from.
OWNED = {"lab", "Catch", "xray", "races", "pretend_multiprocessors", "on_cuda_failure", "LAB_FILE", "LAB_CHANNEL", "TEST_CASE", "SCENARIO",
         "SECTION"}  # fmt: skip
NOT_NEEDED = {"asm", "getenv", "secure_getenv"}  # the environment tells which order of threads is tried
OWNED_FAMILIES = ("CATCH_", "INTERNAL_CATCH", "C_A_T_C_H", "____C_A_T_C_H", "cuda_cpu", "CUDA_CPU_")
STANDARD_HEADERS = set(
    """algorithm any array atomic bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits cmath complex
    condition_variable cstdarg cstddef cstdint cstdio cstdlib cstring ctime cwchar cwctype deque exception forward_list fstream
    functional future initializer_list iomanip ios iosfwd iostream istream iterator limits list locale map memory mutex new
    numeric optional ostream queue random ratio regex set shared_mutex sstream stack stdexcept streambuf string string_view
    system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector
    assert.h ctype.h errno.h float.h inttypes.h limits.h math.h stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h
    time.h""".split()
)
PRAGMA = re.compile(r"(?:once$|(?:no)?unroll\b|GCC (?:unroll|ivdep|diagnostic)\b|clang diagnostic\b|(?:end)?region\b|nv_diag_)")
CONDITIONALS = {"if", "ifdef", "ifndef", "elif", "else", "endif"}
# Of the names that begin with two underscores those of CUDA, and what learners take from C++ and its compilers.
RESERVED = re.compile(
    r"__(?:global|device|host|shared|constant|managed|grid_constant|launch_bounds|maxnreg|cluster_dims|align|forceinline|noinline"
    r"|inline|restrict|volatile|func|FILE|LINE|FUNCTION|PRETTY_FUNCTION|VA_ARGS|CUDACC|CUDA_ARCH|NVCC|GNUC|attribute)__$"
    r"|__(?:restrict|inline|int128|attribute|cplusplus|clang__|CUDACC_\w+|half\w*|nv_bfloat16\w*|pipeline_\w+)$"
    r"|__(?:syncthreads(?:_count|_and|_or)?|syncwarp|threadfence(?:_block|_system)?|activemask|nanosleep|trap|brkpt|assume"
    r"|(?:shfl|shfl_up|shfl_down|shfl_xor|ballot|any|all|match_any|match_all|reduce_\w+)_sync|prof_trigger"
    r"|is(?:Global|Shared|Constant|Local)|cvta_\w+|ld(?:g|cg|ca|cs|lu|cv)|st(?:wb|cg|cs|wt))$"
    r"|__(?:[a-z0-9]+_r[nzdu](?:_\w+)?|[a-z0-9]+_as_[a-z0-9]+|[a-z0-9]{1,12}2[a-z0-9]{1,12}(?:_r[nzdu])?|hiloint2double)$"
    r"|__(?:sin|cos|tan|tanh|exp|exp10|log|log2|log10|pow|fdivide|saturate|sincos)f$|__h[a-z]+2?(?:_(?:sat|relu|rn|nan))?$"
    r"|__(?:u?mul24|u?mulhi|u?mul64hi|(?:clz|popc|ffs|brev)(?:ll)?|byte_perm|funnelshift_\w+|u?sad|u?r?hadd|dp[24]a\w*|fns|v\w+[24])$"
    r"|__builtin_(?:assume(?:_aligned)?|expect|unreachable|trap|(?:popcount|clz|ctz|ffs)(?:l|ll)?|mem(?:cpy|set|move|cmp)|bswap\d+"
    r"|inff?|huge_valf?|nanf?|isnan|isinf|fabsf?|sqrtf?|fmaf?)$"
    r"|_(?:Exit|USE_MATH_DEFINES|GNU_SOURCE|CRT_SECURE_NO_WARNINGS)$"
)
DIGRAPHS = {"<:", ":>", "<%", "%>", "%:"}


@functools.lru_cache(maxsize=None)
def may_include():
    """Names of headers: CUDA's as the backend has them, some of the standard library's, and ours."""
    own = "common/cpu/cuda"
    cuda = {os.path.relpath(os.path.join(folder, name), own) for folder, _, names in os.walk(own) for name in names}
    return STANDARD_HEADERS | cuda | {"common/common.cuh"}


def look_at_source(source, guarded, headers=()):
    """Raises Refused for what a submission holds that no exercise needs, or that reaches for the checker. `headers`: of a
    chapter, which its starter includes."""

    def refuse(place, what):
        raise Refused(f"line {source.line(place)}: {what}")

    # Where a line that is continued joins nothing, what is read here is what a compiler reads.
    joined = re.search(rb"\S\\\n\S|\\[ \t\f\v]+\n", source.data)
    if joined:
        refuse(joined.start(), "goes on in the next line within a word, which no exercise needs")
    included = source.includes()
    for place, tokens in source.directive_tokens():
        words = [token.text for token in tokens]
        name = words[0] if words else ""
        if name == "include":
            header = included.get(place, "")[1:-1]
            if header not in may_include() and header not in headers:
                shown = header or source.text(*place)[:80]
                refuse(place[0], f"includes {shown}: only common/common.cuh, CUDA's headers and the standard library's may be included")
        elif name == "pragma":
            if not PRAGMA.match(" ".join(words[1:])):
                refuse(place[0], f"holds the line {source.text(*place)[:60]}, which no exercise needs")
        elif name and name != "define" and name not in CONDITIONALS:
            refuse(place[0], f"holds the directive #{name[:40]}, which no exercise needs")
    for name, place in macros(source):
        if name in guarded or name in KEYWORDS or name in ATTRIBUTES:
            refuse(place, f"defines the macro '{name}', which changes what other code says")
    before = None
    for token in source.tokens:
        text = token.text
        if token.kind == "name":
            if text in OWNED or text.startswith(OWNED_FAMILIES):
                refuse(token.begin, f"uses the name '{text}', which belongs to the checker")
            of_attribute = text[:2] == text[-2:] == "__" and text.strip("_") in ATTRIBUTES | ATTRIBUTE_SPACES
            if text in NOT_NEEDED or (re.match(r"__|_[A-Z]", text) and not RESERVED.match(text) and not of_attribute):
                refuse(token.begin, f"uses '{text}', which no exercise needs")
            if not text.isascii():
                refuse(token.begin, f"uses '{text}': letters of names are a to z, as every compiler reads them")
        elif token.kind == "text" and "R" in text.partition('"')[0]:
            refuse(token.begin, "holds a raw string, which no exercise needs")
        elif token.kind == "mark":
            if text in ('"', "'", "\\"):
                refuse(token.begin, f"holds a {text} that closes or continues nothing")
            if text == "##":
                refuse(token.begin, "joins names by ##, which no exercise needs")
            pair = before.text + text if before and before.end == token.begin and before.kind == "mark" else ""
            if pair in DIGRAPHS or (pair == "<::" and source.data[token.end : token.end + 1] in (b":", b">")):
                refuse(token.begin, f"holds {pair[:2]}, another spelling of a bracket or of #, which no exercise needs")
        before = token


def macros(source):
    """[(name, place)] of those that a submission defines, in whatever #if."""
    defined = [tokens[1] for _, tokens in source.directive_tokens() if len(tokens) > 1 and tokens[0].text == "define"]
    return [(token.text, token.begin) for token in defined]


def on_its_own(source, path):
    """The text of a submission, after its headers and between lines by which its macros end with it."""
    names = sorted({name for name, _ in macros(source)})
    lines = [f"#if __has_include({name})\n#include {name}\n#endif" for name in source.includes().values()]
    lines += [f'#pragma push_macro("{name}")' for name in names]
    lines += [f'#line 1 "{path}"', source.text(0, len(source.data))]
    lines.append('static_assert(true, "");')  # what a submission leaves open belongs to nothing of the check's
    return "\n".join([*lines, *(f'#pragma pop_macro("{name}")' for name in names), ""])


# ---- what may stand in it when its macros are expanded

NAMESPACES = {"std", "lab", "Catch", "xray", "races", "cuda_cpu", "cuda", "cooperative_groups", "ptx", "__gnu_cxx", "__cxxabiv1"}
# Of the attributes of g++ and clang, in __attribute__((...)), and of [[...]], with and without gnu:: or clang::.
ATTRIBUTES = set(
    """always_inline aligned noinline unused packed nothrow deprecated hot cold flatten may_alias vector_size
    warn_unused_result fallthrough maybe_unused nodiscard likely unlikely no_unique_address""".split()
)  # None that lets a compiler leave out what the check calls, or what stands behind it.
# What CUDA's own words are to nvcc.
ATTRIBUTES |= {"global", "device", "host", "shared", "constant", "managed", "launch_bounds", "grid_constant", "maxnreg"}
ATTRIBUTE_SPACES = {"gnu", "clang"}
COMPARED = {"==", "!=", "<=", ">=", "<", ">", "&", ",", "->", "new", "delete", "&&", "||", '""', "and", "or", "bitand", "not_eq"}


def look_at(own, guarded, called):
    """Raises Refused for what changes the meaning of the check's own text, and for attributes that are not listed."""
    spelled = [t.text for t in own]
    names = [t.text if t.kind == "name" else "" for t in own]
    for i, name in enumerate(names):
        if not name:
            if spelled[i] == "[" and spelled[i + 1 : i + 2] == ["["] and spelled[i - 1 : i] != ["["]:
                attributes(spelled, i, "[", "[[")
            continue
        after = spelled[i + 1] if i + 1 < len(own) else ""
        before = spelled[i - 1] if i else ""
        if name in OWNED or name.startswith(("CATCH_", "INTERNAL_CATCH", "C_A_T_C_H", "____C_A_T_C_H")):
            raise Refused(f"uses the name '{name}', which belongs to the checker")
        if name == "goto" and after == "*":
            raise Refused(f"uses '{name}', which no exercise needs")
        if name in ("__attribute__", "__attribute"):
            attributes(spelled, i + 1, "(", name)
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
    look_at_parameters(spelled, called)
    for name, _ in declarations(spelled, names, True):
        if name in guarded:
            raise Refused(f"declares '{name}', which the check takes from elsewhere")


def attributes(spelled, i, opens, shown):
    """Refuses attributes that are not allowed, in the list that begins at token i: `((...))` or `[[...]]`. What cannot be
    read as such a list is refused as well."""
    depth = 0
    for at, token in enumerate(spelled[i:] if spelled[i : i + 2] == [opens, opens] else [], i + 1):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token, 0)
        if depth == 0:
            return
        # Deeper there is what an attribute is given.
        if depth == 2 and re.match(r"[\w\"']", token) and token != "using" and token.strip("_") not in ATTRIBUTES | ATTRIBUTE_SPACES:
            of = "an attribute of" if spelled[at : at + 1] in (["::"], [":"]) else "the attribute"
            raise Refused(f"uses {of} '{token[:40]}', which no exercise needs")
    raise Refused(f"uses '{shown}' in a way that no exercise needs")


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


def outside(spelled):
    """(place of a token, the namespaces around it, where its declaration begins, how many parentheses are open) of what
    stands outside of functions and classes."""
    scopes, start, inner = [], 0, 0  # scopes: a namespace's name, or None for another brace
    for i, token in enumerate(spelled):
        inner = inner + {"(": 1, ")": -1}.get(token, 0) if token not in "{};" else 0
        if token == "{":
            head = [t for t in spelled[start:i] if t != "inline"]
            if head[:1] == ["namespace"]:
                scopes.append("".join(head[1:]))
            else:
                scopes.append("" if head[:1] == ["extern"] and len(head) == 2 else None)
            start = i + 1
        elif token == "}":
            if scopes:
                scopes.pop()
            start = i + 1
        elif token == ";":
            start = i + 1
        elif None not in scopes:
            yield i, scopes[:], start, inner


def declarations(spelled, names, strict):
    """[(name, the namespaces around it)] of what is declared outside of functions and classes. `strict`: rather one
    too many, as a parameter's or one in parentheses."""
    found = []
    for i, scopes, start, inner in outside(spelled):
        if names[i] and i and (strict or not inner):
            before = spelled[i - 1]
            declared = (names[i - 1] and before not in NOT_A_TYPE) or before in ("*", "&", "&&", ">", ")", "]")
            declared = declared or (before == "(" and spelled[i + 1 : i + 2] == [")"])
            if declared or "using" in names[start:i]:
                found.append((names[i], scopes))
    return found


def parameters(spelled, i):
    """The words of each parameter in the list that begins at place i, without its name and what stands behind a =; None
    where there is no such list."""
    if spelled[i : i + 1] != ["("]:
        return None
    found, depth, given = [[]], 0, False
    for i in range(i, len(spelled)):
        token = spelled[i]
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(token, 0)
        if depth == 0:
            break
        if token == "," and depth == 1:
            found, given = [*found, []], False
        elif token == "=" and depth == 1:
            given = True
        elif not given and (depth > 1 or token != "("):
            found[-1].append(token)
    for words in found:
        if words[:2] == ["[", "["] and "]" in words:
            del words[: words.index("]") + 2]
        if "[" in words:
            words[words.index("[") :] = []
        if len(words) > 1 and re.match(r"[A-Za-z_]\w*$", words[-1]) and words[-1] not in VALUES:
            del words[-1]
    return found


# By value a function may take these in place of what the starter takes.
VALUES = set(
    """const volatile signed unsigned bool char short int long float double void size_t ptrdiff_t int32_t int64_t uint32_t
    uint64_t std :: * __restrict__ __restrict""".split()
)


def called_by(lab):
    """{function that the check calls: the words that its parameters may hold}: none may become a reference to the check's
    own variables, or a class that is made of one."""
    spelled = [t.text for t in plain_tokens(lab.starter)]
    used = {t.text for t in plain_tokens(lab.check)}
    found = {}
    for i, _, _, inner in outside(spelled):
        if not inner and spelled[i] in used and spelled[i + 1 : i + 2] == ["("] and i and re.match(r"\w+$|[*&>]$", spelled[i - 1]):
            found.setdefault(spelled[i], set()).update(VALUES, *parameters(spelled, i + 1))
    return found


def look_at_parameters(spelled, called):
    """Raises Refused where a function that the check calls is something else, or takes what it does not."""
    for i, _, _, _ in outside(spelled):
        if spelled[i] in called:
            lists = parameters(spelled, i + 1)
            if lists is None:
                raise Refused(f"makes something else of '{spelled[i]}', a function that the check calls")
            wrong = [word for words in lists for word in words if word not in called[spelled[i]]]
            if wrong:
                raise Refused(f"'{spelled[i]}' takes '{wrong[0][:40]}', which it does not in the starter")


def calls_in(tokens):
    """Names that are called or built without a namespace or an object before them."""
    found = set()
    for i, token in enumerate(tokens[:-1]):
        before = tokens[i - 1].text if i else ""
        if token.kind == "name" and before not in ("::", ".", "->", "~") and tokens[i + 1].text in ("(", "<", "{"):
            found.add(token.text)
    return found


def plain_tokens(path):
    """The tokens of a source without its directives."""
    source = cpp.source(path)
    inside = iter([*source.directives, (len(source.data), len(source.data))])
    begin, end = next(inside)
    found = []
    for token in source.tokens:
        while token.begin >= end and begin < len(source.data):
            begin, end = next(inside)
        if token.begin < begin:
            found.append(token)
    return found


def names_of(paths):
    """What these headers declare for everybody, or for checks."""
    found = set()
    for path in paths:
        tokens = plain_tokens(path)
        declared = declarations([t.text for t in tokens], [t.text if t.kind == "name" else "" for t in tokens], False)
        # Of lab's own only what is found by a type of the submission's; the check asks for the others by lab::.
        found.update(name for name, scopes in declared if not set(scopes) - {""} or (scopes == ["lab"] and "_" in name))
    return found


def guarded_by(lab):
    """Names that the check of a lab, or its headers, take from elsewhere without saying from where."""
    starter = {t.text for t in cpp.source(lab.starter).tokens}
    return ((calls_in(plain_tokens(lab.check)) | trusted_calls()) & trusted_names()) - starter - KEYWORDS


# ---- compiling

MARKER = re.compile(r'# \d+ "((?:[^"\\]|\\.)*)"((?: [1-4])*)$')


def preprocessing(command):
    """(the command that preprocesses in place of one that compiles, what it writes)."""
    text = re.sub(r"\.o$", ".ii", command[command.index("-o") + 1])
    first = [a for a in command if a != "-c"]
    first[first.index("-o") + 1] = text
    flags = len(compiler_of(command))
    first[flags:flags] = ["-E", "-w", *(["-fpch-preprocess"] if "-include" in command and not is_clang(command) else [])]
    return first, text


def own_text(text, entry):
    """Of a preprocessor's output what comes from the submission itself, which the check includes as the file `entry`.
    Nothing but the compiler writes such markers: a submission has no #line."""
    own, depth, at = [], 0, 0  # at: the depth of the submission, while inside it
    for line in text.split("\n"):
        marker = MARKER.match(line) if line.startswith("# ") else None
        if marker is None:
            if at and depth == at and not line.lstrip().startswith("#"):
                own.append(line)
        elif "1" in marker[2].split():
            depth += 1
            if not at and re.sub(r"\\(.)", r"\1", marker[1]) == entry:
                at = depth
        elif "2" in marker[2].split():
            depth -= 1
            if depth < at:
                at = 0
    return "\n".join(own)


def entry_of(variant, folder, path):
    """The file that the check includes for the submission."""
    return os.path.abspath(path if variant == "gpu" else f"{folder}/lab.cu")


@functools.lru_cache(maxsize=None)
def trusted_names():
    """What the tutorial's own headers declare."""
    rooms = ("cuda", "engine", "runtime", "types", "libs/textures", "libs/graphs", "libs/nccl", "libs/tensor", "xray", "races")
    below = [p for room in rooms for p in glob.glob(f"common/cpu/{room}/**/*", recursive=True)]
    headers = (*glob.glob("common/*"), *glob.glob("common/labs/*"), *glob.glob("tests/*"), *glob.glob("chapters/*/*.cuh"), *below)
    return names_of(sorted(p for p in headers if p.endswith((".cuh", ".h"))))


@functools.lru_cache(maxsize=None)
def trusted_calls():
    """What the checks' own headers call."""
    headers = [f"common/labs/{n}" for n in sorted(os.listdir("common/labs")) if n.endswith((".cuh", ".h"))]
    return set().union(*(calls_in(plain_tokens(h)) for h in headers))


def read_text(path):
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        return file.read(MOST_TEXT)


# ---- symbols

# Constructors: of ordinary objects with static storage, and the one that -fsanitize=thread makes. There are no others, since
# attributes are listed.
CONSTRUCTORS = (".init_array", ".init_array.00099")
WAITING = "lab_begin"  # common/labs/channel.cpp

# What the compiler itself calls.
COMPILER = re.compile(
    r"(?:__cxa_(?:atexit|thread_atexit|begin_catch|end_catch|rethrow|throw|allocate_exception|free_exception|get_exception_ptr"
    r"|guard_(?:acquire|release|abort)|pure_virtual|deleted_virtual|bad_cast|bad_typeid|throw_bad_array_(?:new_)?length"
    r"|init_primary_exception|call_unexpected)"
    r"|_Unwind_Resume|__dynamic_cast|__gxx_personality_v0|__dso_handle|_GLOBAL_OFFSET_TABLE_|__tls_get_addr"
    r"|__stack_chk_fail|__assert_fail|__assert|__errno_location|__(?:popcount|clz|ctz|ffs|parity|bswap|u?div|u?mod|u?divmod|mul|neg|ashl|ashr|lshr|u?cmp"
    r"|mulv|addv|subv|absv|negv|add|sub|fix|fixuns|float|floatun|extend|trunc|pow|eq|ne|lt|le|gt|ge|unord|mulx|divx)[sdtxhb][icf](?:[sdtxhb][if])?\d?"
    r"|__(?:mul|div)[sdtx]c3)$"
)
# Of the C++ library, by what stands behind std::, whatever its parameters. Nothing here opens a file.
STANDARD = set(
    """allocator basic_string basic_string_view char_traits basic_ostream basic_istream basic_iostream ostream istream
    iostream basic_ios ios ios_base basic_streambuf streambuf basic_stringbuf basic_stringstream basic_ostringstream
    basic_istringstream stringbuf stringstream ostringstream istringstream cout cerr clog cin wcout wcerr wclog wcin
    endl ends flush ws getline operator __ostream_insert __ostream_fill __istream_extract __copy_streambufs
    __copy_streambufs_eof ctype ctype_base use_facet has_facet num_put num_get numpunct num_base __num_base collate
    __convert_to_v __numpunct_cache terminate exception bad_alloc bad_array_new_length bad_array_length bad_cast bad_typeid
    bad_exception bad_function_call bad_weak_ptr bad_optional_access bad_variant_access bad_any_cast logic_error domain_error
    invalid_argument length_error out_of_range runtime_error range_error overflow_error underflow_error system_error
    error_category error_code error_condition generic_category system_category future_error future_category regex_error
    nested_exception uncaught_exception uncaught_exceptions current_exception rethrow_exception make_exception_ptr
    __exception_ptr type_info __detail _List_node_base _Hash_bytes _Fnv_hash_bytes _Hash_impl thread this_thread mutex
    recursive_mutex condition_variable condition_variable_any __condvar __future_base __once_callable __once_call
    __get_once_mutex __get_once_functor_lock_ptr __set_once_functor_lock_ptr __once_functor __once_proxy _Sp_locker
    __atomic_futex_unsigned_base chrono random_device to_chars from_chars numeric_limits __numeric_limits_base placeholders
    nothrow pmr get_new_handler align __glibcxx_assert_fail __libcpp_verbose_abort __hash_memory __next_prime
    __shared_count __shared_weak_count __call_once __sp_mut __get_sp_mut valarray gslice""".split()
)
STANDARD_FAMILIES = re.compile(r"(?:__throw_\w+|_Rb_tree_\w+|__tree_\w+|stol?|stou?ll?|sto[ifd]|stold|to_w?string)$")
# A locale by its name would be read from a file.
LOCALE = re.compile(r"_ZNK?St(?:3__1)?6local(?:eC[12]Ev|eC[12]ERKS_|eD[12]Ev|e7classicEv|e6globalERKS_|eaSERKS_|eeqERKS_)$")
OTHER_CPLUSPLUS = re.compile(
    r"(?:vtable|typeinfo|typeinfo name) for __cxxabiv1::__\w+_type_info$|typeinfo(?: name)? for [a-z ]+[*]?( const\*)?$"
    r"|(?:vtable for |typeinfo for )?std::locale::(?:id|facet)\b|typeinfo for __cxxabiv1::__f(?:orced_unwind|oreign_exception)$"
    r"|operator (?:new|delete)(?:\[\])?$|__gnu_cxx::(?:__exchange_and_add|__atomic_add|__verbose_terminate_handler)$"
)
C_LIBRARY = set(
    """abort abs labs llabs div ldiv atof atoi atol atoll strtod strtof strtol strtoll strtoul strtoull strtold
    __isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull malloc calloc realloc free aligned_alloc
    posix_memalign qsort bsearch rand srand rand_r random srandom drand48 exit _Exit _exit quick_exit atexit
    memcpy memmove memset memcmp memchr memrchr mempcpy bcmp strlen strnlen strcpy strncpy strcat strncat strcmp strncmp
    strchr strrchr strstr strdup strspn strcspn strpbrk strtok strerror stpcpy
    sscanf __isoc99_sscanf __isoc23_sscanf
    printf fprintf sprintf snprintf vprintf vfprintf vsnprintf vsprintf dprintf puts putchar fputs fputc putc fwrite
    fflush perror stdout stderr setvbuf setbuf
    time clock clock_gettime gettimeofday difftime nanosleep usleep sleep sched_yield timespec_get
    isalpha isdigit isspace isalnum isupper islower toupper tolower isprint ispunct isxdigit
    __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc getenv pthread_create pthread_join
    pthread_mutex_lock pthread_mutex_unlock pthread_mutex_trylock pthread_once pthread_self __pthread_key_create
    pthread_cond_wait pthread_cond_signal pthread_cond_broadcast pthread_key_create pthread_getspecific
    pthread_setspecific pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_unlock pthread_rwlock_tryrdlock
    pthread_rwlock_trywrlock pthread_mutex_timedlock pthread_mutex_clocklock pthread_cond_clockwait pthread_cond_timedwait
    pthread_mutex_init pthread_mutex_destroy pthread_cond_init pthread_cond_destroy __once_proxy __libc_single_threaded
    __printf_chk __fprintf_chk __sprintf_chk __snprintf_chk __vprintf_chk __vfprintf_chk __vsprintf_chk __vsnprintf_chk
    __dprintf_chk __memcpy_chk __memmove_chk __memset_chk __mempcpy_chk __strcpy_chk __strncpy_chk __strcat_chk
    __strncat_chk __stpcpy_chk __stpncpy_chk""".split()
)
MATHS = re.compile(
    r"(?:a?(?:sin|cos|tan)h?|atan2|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|sqrt|cbrt|hypot|fabs|fmod|fma|fmin|fmax"
    r"|fdim|floor|ceil|trunc|round|rint|nearbyint|l?lround|l?lrint|erfc?|[lt]gamma|lgamma|remainder|remquo|frexp|ldexp|modf"
    r"|scalbl?n|i?logb|nextafter|nexttoward|copysign|nan|sincos|j[01n]|y[01n]|__signbit|__isnan|__isinf|__finite"
    r"|__fpclassify|signbit|finite|isnan|isinf)[fl]?$"
)


BINUTILS = ("nm", "c++filt", "objcopy")
SYMBOLS_ARE_READ = sys.platform == "linux" and all(shutil.which(tool) for tool in BINUTILS)


def said_by(*command, most=NAMES):
    """What a program prints, line by line. The path of a submission's object is ours, its names are not."""
    done = runner.run(command, most)
    if done.ended_by:
        raise Refused(f"has names that are too long to be read ({done.ended_by})")
    return done.output.split("\n")


def symbols(path, *options):
    """[(type, name)] of an object, a library or a shared library."""
    lines = (line.split() for line in said_by("nm", "-P", *options, path))
    return [(f[1], f[0].partition("@")[0]) for f in lines if len(f) >= 2]


def parts(variant):
    """What a check is linked with beside its own object."""
    return (*OF_EVERY_CHECK, *backend(variant))


@functools.lru_cache(maxsize=None)
def protected(builder, variant):
    """Names that the rest of the program defines or takes from the system's libraries."""
    if not SYMBOLS_ARE_READ:
        return set()
    compiler, names = builder.prepared[variant][0][0], set()
    for part in parts(variant):
        names.update(name for _, name in symbols(part))
    for library in ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "libc++.so.1"):
        path = runner.run([compiler, f"-print-file-name={library}"], runner.COMPILE).output.strip()
        if os.path.isabs(path):
            names.update(name for kind, name in symbols(path, "-D", "--defined-only"))
    return names


@functools.lru_cache(maxsize=None)
def provided(builder, variant):
    """Names that the check's own parts and Catch2 define for everybody, but for those that begin the program."""
    archives = [a for a in builder.prepared[variant][2] if a.endswith(".a")]
    for library in (l for l in builder.prepared[variant][2] if l.startswith("-l")):
        for folder in (f[2:] for f in builder.prepared[variant][2] if f.startswith("-L")):
            archives.append(f"{folder}/lib{library[2:]}.a")
        compiler = builder.prepared[variant][0][0]
        archives.append(runner.run([compiler, f"-print-file-name=lib{library[2:]}.a"], runner.COMPILE).output.strip())
    found = set()
    for part in (*parts(variant), *(a for a in archives if os.path.exists(a))):
        found.update(name for kind, name in symbols(part) if kind.isupper() and kind != "U")
    return {name for name in found if not re.match(r"main$|__(?:real|wrap|start|stop)_", name)}


def plain_names(mangled, place):
    """{name: as C++ has it}, without parameters. `place`: of a file to write them to."""
    write(place, "\n".join(mangled) + "\n")
    found = {}
    for name, said in zip(mangled, said_by("sh", "-c", 'exec c++filt -p <"$1"', "c++filt", place, most=PLAIN_NAMES)):
        found[name] = re.sub(r"\b(?:__cxx11|__1|_V2)::|\[abi:\w+\]", "", said)
    return found


def may_call(name, plain):
    """Whether an object may take this name from the system's libraries."""
    if not name.startswith("_Z"):
        return name in C_LIBRARY or bool(COMPILER.match(name) or MATHS.match(name))
    if LOCALE.match(name) or OTHER_CPLUSPLUS.match(plain):
        return True
    of = re.match(r"(?:(?:(?:vtable|VTT|typeinfo|typeinfo name|guard variable) for|(?:non-virtual|virtual) thunk to) )?"
                  r"std::(?:__cxx11::|__1::)?(\w+)", plain)  # fmt: skip
    return bool(of) and (of[1] in STANDARD or bool(STANDARD_FAMILIES.match(of[1])))


def look_at_object(path, builder, variant):
    """Raises Refused when the object takes the place of another part of the program, or calls the system. The names are
    those of Linux."""
    if not SYMBOLS_ARE_READ:
        return
    taken, given, all_symbols = protected(builder, variant), provided(builder, variant), symbols(path)
    wanted = [name for kind, name in all_symbols if kind in "Uwv" and name not in given]
    plain = plain_names(wanted, f"{path}.names")
    for kind, name in all_symbols:
        if kind in "Uwv":
            if name in given or may_call(name, plain[name]):
                continue
            if re.search(r"filebuf|fstream|basic_file|filesystem", plain[name]):
                raise Refused("reads or writes files, which no exercise needs")
            raise Refused(f"calls '{plain[name][:80]}', which no exercise needs")
        if kind.isupper() or kind == "u":
            plain_c = re.match(r"(?!_Z|__clang_call_terminate)\w+$", name)
            replaces_new = re.match(r"_Z(?:nw|na|dl|da)", name)
            if (name in taken and (plain_c or kind not in "WVvu")) or replaces_new:
                raise Refused(f"defines '{name}', which another part of the program has")


def let_constructors_wait(path):
    """Puts an object's constructors where the check's main calls them, after it has asked for its word."""
    if not SYMBOLS_ARE_READ:
        return
    renamed = [word for name in CONSTRUCTORS for word in ("--rename-section", f"{name}={WAITING}")]
    done = runner.run(["objcopy", *renamed, path, f"{path}.waiting"], PREPROCESS)
    if done.status != 0:
        raise Refused(f"its object cannot be rewritten: {done.output.strip()[:100]}")
    os.replace(f"{path}.waiting", path)


PREPASS = "build/cpu/prepass"


def own_lines(text, names):
    """A compiler's messages about these files alone: what is said about another file may quote it."""
    kept, keep = [], False
    for line in text.split("\n"):
        if re.match(r"\S.*:\d+", line):
            keep = line.startswith(tuple(f"{n}:" for n in names))
        if keep or re.match(r"(?:cc1plus|g\+\+|clang\S*): ", line):
            kept.append(line)
    return "\n".join(kept)


def tokens_of(place, run=runner.run):
    """(a Source, ""), or (None, what is wrong with the file)."""
    done = run([PREPASS, "--declarations", place], LISTING)
    if done.status != 0:
        return None, own_lines(done.output, {place}) or "its tokens cannot be read"
    with open(place, "rb") as file:
        return cpp.Source(file.read(), done.output), ""


def tokens_of_text(text, place):
    """A Source, or None. `place`: of a file to write it to."""
    folders.copy_text(text, place)
    return tokens_of(place)[0]


def bounded(builder, variant):
    """Flags by which a compiler gives up sooner on what it is to compute itself: seconds in place of half a minute."""
    if variant == "gpu" or is_clang(builder.prepared[variant][0]):
        return []  # clang's own bounds are lower than these
    return ["-fconstexpr-ops-limit=4194304", "-fconstexpr-loop-limit=262144"]


def build(builder, lab, path, variant, folder, limits, prefix, user, guarded, called):
    """(True, warnings) when folder/check is there, else (False, what the compiler said). Raises Refused."""
    said = ""

    def run(command, most):
        done = runner.run([*prefix, *command], most, drop_to=user)
        if done.ended_by:
            done.output += f"\n(the compiler was stopped: {done.ended_by})"
            done.status = done.status or 1
        return done

    submitted, wrong = tokens_of(path, run)
    if wrong:
        return False, wrong
    look_at_source(submitted, guarded, lab.headers)
    folders.copy_text(on_its_own(submitted, path), path)
    for command in builder.commands(lab, path, variant, folder, bounded(builder, variant)):
        if "-c" in command:
            first, text = preprocessing(command)
            done = run(first, PREPROCESS)
            if done.status != 0:
                return False, own_lines(done.output, {path, f"{folder}/lab.cu"}) or "the preprocessor failed"
            own = own_text(read_text(text), entry_of(variant, folder, path))
            if len(own) > MOST_OWN:
                return False, f"its macros make {len(own)} bytes of it, at most {MOST_OWN} are read"
            write(f"{folder}/own.ii", own + "\n")
            os.chmod(f"{folder}/own.ii", 0o644)
            source, wrong = tokens_of(f"{folder}/own.ii", run)
            if wrong:
                return False, wrong
            look_at(source.tokens, guarded, called)
            done = run(with_calls(command), limits)
            refused = host_code(folder, path, submitted) if done.status == 0 else ""
            if refused:
                return False, refused
            if done.status == 0 and variant != "gpu":
                look_at_object(command[command.index("-o") + 1], builder, variant)
                let_constructors_wait(command[command.index("-o") + 1])
        else:
            done = run(command, limits)
        if done.status != 0:
            return False, done.output.strip() or f"{command[0]} ended with status {done.status}"
        said += done.output
    return True, said
