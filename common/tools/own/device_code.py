# SPDX-License-Identifier: MIT
"""What nvcc refuses in device code and a C++ compiler accepts: functions and variables of the host, in every form. g++ says
which function calls which and names which variable (-fdump-ipa-cgraph), before it inlines any; the program's own files say
on which side each of these is."""

import collections
import itertools
import re

# Of the C library: what device code has as well. Names that begin with __ are the compiler's or a header's own.
MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim floor fma fmax"
    " fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan"
    " nearbyint nextafter pow remainder remquo rint round scalbln scalbn sin sincos sincosf sinh sqrt tan tanh tgamma trunc"
    " y0 y1 yn finite isinf isnan signbit"
).split()
BOTH_SIDES = {name + suffix for name in MATH for suffix in ("", "f", "l")} | set(
    "printf vprintf malloc free memcpy memmove memset abs labs llabs clock main".split()
)
# What the compiler makes of a call of another function.
MADE_OF = {"puts": "printf", "putchar": "printf", "fputs": "fprintf", "fputc": "fprintf", "fwrite": "fprintf"}
# Of namespace std: mathematics, and what only changes a type.
STD_OF_BOTH = {*BOTH_SIDES, "isfinite", "isnormal", "fpclassify", "isunordered", "isgreater", "isgreaterequal", "isless"}
STD_OF_BOTH |= {"islessequal", "islessgreater", "lerp", "move", "forward", "addressof", "initializer_list", "launder"}
DEVICE, HOST = {"__device__", "__global__"}, {"__host__"}
OF_DEVICE = DEVICE | {"__constant__", "__managed__", "__shared__"}
LEAVES = "_ZN8cuda_cpu5leaveE"  # what the pre-pass lets every kernel call at its end
INDIRECT = "ndirect call"  # by a pointer, or a virtual function
NODE = re.compile(r"^(.*)/(\d+) \((.*)\) @0x")
USED = re.compile(r"/(\d+)(?= |$)")

# Of a function or variable, as the compiler writes it; calls, references: keys of nodes.
Node = collections.namedtuple("Node", "text calls references")


def name_of(text):
    """("vec2", "length") of "float ns::vec2::length() const [with T = int]"; "" for no class. Lambdas are ("", "")."""
    text = text.partition(" [with ")[0]
    text = re.sub(r"\b(operator) ?\(\)", r"\1[]call", text)
    if "::<lambda" in text and text.rstrip().endswith(")>"):
        return "", ""
    text = text[: begin_of_parameters(text)]
    operator = re.search(r"\boperator\b.*$", text)
    name = re.sub(r"\s", "", operator[0]) if operator else (re.search(r"~?\w+(?=(<.*>)?$)", text) or [""])[0]
    before = text[: operator.start()] if operator else re.sub(r"~?\w+(<.*>)?$", "", text)
    outer = re.search(r"\w+$", without_arguments(before[:-2])) if before.endswith("::") else None
    return outer[0] if outer else "", name.replace("[]call", "()")


def without_arguments(text):
    """"std::function" of "std::function<int(int)>"."""
    depth, at = 0, len(text)
    while at > 0 and (depth or text[at - 1] == ">"):
        at -= 1
        depth += (text[at] == ">") - (text[at] == "<")
    return text[:at]


def begin_of_parameters(text):
    depth, at = 0, len(text.rstrip())
    for at in range(text.rfind(")"), -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            break
    return at


def count_parameters(text):
    """Of "(int, std::pair<int, int>) const"."""
    depth, count = 0, 0 if re.match(r"\( *(void *)?\)", text) else 1
    for c in text:
        depth += (c in "([{<") - (c in ")]}>")
        if depth == 0:
            break
        count += c == "," and depth == 1
    return count


class Sides:
    """What the program's own files declare: on which side each function and variable is."""

    def __init__(self, sources):
        self.sources = sources
        self.macros = {}  # name: words
        for source in sources.values():
            for _, tokens in source.directive_tokens():
                if len(tokens) > 2 and tokens[0].text == "define":
                    self.macros.setdefault(tokens[1].text, set()).update(t.text for t in tokens[2:])
        # {(class, name): set of sides, of all its declarations}, {name: the same}
        self.functions, self.variables = collections.defaultdict(set), collections.defaultdict(set)
        self.counts = collections.defaultdict(set)  # of functions: {(class, name): numbers of parameters}
        self.classes, self.namespaces = set(), set()
        self.places = collections.defaultdict(list)  # of functions with a body: (path, begin, end of the parameters, end)
        self.lambdas = []  # those that say where they run: the same
        for path, source in sources.items():
            self.read(path, source)

    def words(self, tokens):
        """Those of the tokens, and what they stand for as macros."""
        words, more = set(), {t.text for t in tokens}
        while more:
            words |= more
            more = set().union(*(self.macros.get(word, ()) for word in more)) - words
        return words

    def side(self, tokens):
        words = self.words(tokens)
        if any(re.fullmatch(r"[A-Z_][A-Z0-9_]+", w) and w not in self.macros for w in words - OF_DEVICE - HOST):
            return "unknown"  # a macro of somebody else's, which may say anything
        if words & DEVICE:
            return "both" if words & HOST else "device"
        return "device" if words & OF_DEVICE else "host"

    def read(self, path, source):
        tokens = source.tokens
        outside = [t for t in tokens if not any(b <= t.begin < e for b, e in source.directives)]
        classes = [d for d in source.declarations if d.kind == "type" and d.body and d.names]
        self.classes.update(c.names[0] for c in classes)
        for i, token in enumerate(outside[:-1]):
            if token.text == "namespace":
                behind = itertools.takewhile(lambda t: t.kind == "name" or t.text == "::", outside[i + 1 :])
                self.namespaces.update(t.text for t in behind if t.kind == "name")
            if token.text == "]" and outside[i + 1].kind == "name" and self.side([outside[i + 1]]) != "host":
                depth, last = 0, i
                while last + 1 < len(outside) and (depth or outside[last].text != "}"):
                    last += 1
                    depth += (outside[last].text == "{") - (outside[last].text == "}")
                self.lambdas.append((path, token.begin, token.begin, outside[last].end))
        at = 0
        for declared in sorted(source.declarations, key=lambda d: d.begin):
            if declared.kind not in ("function", "value", "other"):
                continue
            # Of `__constant__ struct table { ... } sines;` what stands before the class as well.
            of_type = [d for d in source.declarations if d.kind == "type" and d.body and d.begin < declared.begin < d.end == declared.end]
            head = [t for t in outside if of_type and of_type[0].begin <= t.begin < of_type[0].body[0]]
            while at < len(outside) and outside[at].begin < declared.begin:
                at += 1
            end = declared.body[0] if declared.body else declared.end
            for token in outside[at:]:
                if token.begin >= end:
                    break
                head.append(token)
            inner = [c for c in classes if c.body[0] < declared.begin < c.body[1]]
            of_class = max(inner, key=lambda c: c.begin).names[0] if inner else ""
            self.declare(path, declared, head, of_class)

    def declare(self, path, declared, head, of_class):
        texts = [t.text for t in head]
        if declared.kind == "value":
            side = self.side(head[: texts.index("=")] if "=" in texts else head)
            for name in declared.names:
                self.variables[name].add("unknown" if "extern" in texts or "template" in texts else side)
            return
        if "operator" in texts:
            at = texts.index("operator")
            first = at + 3 if texts[at + 1 : at + 3] == ["(", ")"] else at + 1
            open_at = texts.index("(", first) if "(" in texts[first:] else len(texts)
            name = "operator" + "".join(texts[at + 1 : open_at])
        elif declared.kind == "function":
            open_at = next((i for i in range(1, len(texts)) if texts[i] == "(" and texts[i - 1] == declared.names[0]), 0)
            at = open_at - 1
            name = declared.names[0]
        else:
            return
        if at > 0 and texts[at - 1] == "~":
            name, at = "~" + name, at - 1
        if at > 2 and texts[at - 1] == "::":
            of_class = texts[at - 2] if texts[at - 2] != ">" else next((t.text for t in head[at - 3 :: -1] if t.kind == "name"), "")
        if texts[-3:-1] in (["=", "default"], ["=", "delete"]) or "friend" in texts[:at]:
            return
        key = of_class, name
        self.functions[key].add(self.side(head[:at]))
        self.counts[key].add(count_parameters(" ".join(texts[open_at:])))
        if declared.body:
            depth, behind = 0, declared.begin
            for token in head[open_at:]:
                depth += (token.text == "(") - (token.text == ")")
                if depth == 0:
                    behind = token.begin
                    break
            self.places[key].append((path, declared.begin, behind, declared.end))

    def of_function(self, key):
        """Its side: "host", "device", "both" or "unknown"; "" for what the files do not declare, or not alike."""
        sides = self.functions.get(key, set())
        # What the compiler names before :: may be a namespace, or the typedef of a class without a name. A class or
        # namespace that is not the program's has functions of its own, which may be called as the program's are.
        if not sides and (key[0] in self.namespaces or key[0] in self.variables):
            sides = self.functions.get(("", key[1]), set())
        return next(iter(sides)) if len(sides) == 1 else ""


def variable_of(mangled):
    """The last name in a mangled one, "scale" of _ZN2ns5scaleE; "" for what is inside a function, or the compiler's own."""
    if re.fullmatch(r"[A-Za-z]\w*", mangled):
        return mangled
    head, name = re.match(r"_ZN?", mangled), ""
    rest = mangled[head.end() :] if head else ""
    while count := re.match(r"L?(\d+)", rest):
        end = count.end() + int(count[1])
        name, rest = rest[count.end() : end], rest[end:]
    return name


def read_dump(path):
    """Nodes of the first symbol table, and the mangled name of each."""
    nodes, mangled, table, node = {}, {}, 0, None
    with open(path, encoding="utf-8", errors="replace") as dump:
        for line in dump:
            if line.endswith("Symbol table:\n"):
                table += 1
            elif line[0] != " ":
                found = NODE.match(line)
                if found and table == 2:
                    node = nodes[found[2]] = Node(found[3], [], [])
                elif found and table > 2:
                    mangled.setdefault(found[2], found[1])
            elif table == 2 and node and line.startswith(("  Calls: ", "  References: ")):
                what, _, rest = line.strip().partition(": ")
                (node.calls if what == "Calls" else node.references).extend(USED.findall(rest))
            elif table == 2 and node and INDIRECT in line:
                node.calls.append(INDIRECT)
    return nodes, mangled


class Check:
    """`strict`: whatever a kernel reaches is device code, also through a function of both sides, and it knows what it calls."""

    def __init__(self, dump, sources, strict):
        self.sides, self.strict = Sides(sources), strict
        self.nodes, self.mangled = read_dump(dump)
        text = b"".join(s.data for s in sources.values())
        # There the standard library's stands for cuda::std's.
        self.has_cuda_std = re.search(rb"#\s*include\s*[<\"](cuda/|thrust/|cub/)", text) is not None
        self.asks_for_side = b"__CUDA_ARCH__" in text
        self.said = set()

    def run(self):
        leaves = {key for key, mangled in self.mangled.items() if mangled.startswith(LEAVES)}
        for key, node in self.nodes.items():
            is_kernel = self.strict and leaves.intersection(node.calls)
            if is_kernel or self.sides.of_function(name_of(node.text)) == "device":
                self.look(key, name_of(node.text), set())
        return [f"{path}:{line}: error: {what}" for path, line, what in sorted(self.said)]

    def look(self, key, root, seen):
        """At what a function of the device uses, and what it uses through lambdas and what the compiler made itself. Of a
        function for both sides nvcc refuses the variables alone, and warns of the functions."""
        if key in seen or key not in self.nodes:
            return
        seen.add(key)
        for used in self.nodes[key].references:
            if used in self.nodes and self.nodes[used].text == self.nodes[key].text:
                self.look(used, root, seen)  # an alias
            self.look_at_variable(used, root)
        if self.strict and INDIRECT in self.nodes[key].calls:
            self.say(root, name_of(self.nodes[key].text)[1], "device code calls by a pointer, or a virtual function, which no exercise needs")
        for called in self.nodes[key].calls:
            self.look_at_call(called, root, seen)

    def look_at_variable(self, key, root):
        name = variable_of(self.mangled.get(key, ""))
        if self.sides.variables.get(name) == {"host"}:
            self.say(root, name, f"device code names '{name}', a variable of the host (nvcc: undefined in device code): "
                     "pass its value as an argument, or declare it __device__ or __constant__")

    def look_at_call(self, key, root, seen):
        node = self.nodes.get(key)
        text = node.text if node else ""
        mangled = self.mangled.get(key, "")
        of_class, name = name_of(text)
        text = text.partition(" [with ")[0]
        if "<lambda" in text and name == "":
            if self.is_lambda_of_host(text):
                return self.say(root, "operator()", "device code calls a lambda of the host: write a struct with a __device__ "
                                "operator(), or [=] __device__ (...) and nvcc's option --extended-lambda")
            return self.look(key, root, seen)
        side = self.sides.of_function((of_class, name))
        declared = self.sides.counts.get((of_class, name))
        if side == "host" and not of_class and declared and count_parameters(text[begin_of_parameters(text) :]) not in declared:
            side = ""  # CUDA's of that name
        if side in ("both", "unknown") and self.strict:
            return self.look(key, root, seen)
        if side == "both" and not self.asks_for_side:
            for used in node.references:
                self.look_at_variable(used, (of_class, name))
        if side == "host":
            is_constant = "; nvcc wants --expt-relaxed-constexpr for a constexpr one" if text.startswith("constexpr ") else ""
            what = f"{of_class}::{name}" if of_class else name
            return self.say(root, name,
                            f"device code calls '{what}', which is for the host: declare it __device__, or __host__ __device__ "
                            f"for both sides{is_constant}", of_class)
        if re.match(r"_ZN?K?S[tasiod]|_ZNK?St", mangled):
            bare = re.sub(r"<.*", "", name)
            is_of_both = bare in STD_OF_BOTH or of_class == "initializer_list" or bare.startswith("_")
            if not self.has_cuda_std and not is_of_both:
                what = f"{of_class}::{bare}" if of_class and of_class != "std" else bare
                self.say(root, bare, f"device code calls 'std::{what}', which is for the host", of_class)
            return None
        if mangled and re.fullmatch(r"[a-zA-Z]\w*", mangled) and mangled not in BOTH_SIDES and not side:
            name = MADE_OF.get(mangled, mangled)
            if name not in BOTH_SIDES and not name.startswith("cuda"):
                self.say(root, name, f"device code calls '{name}', which is for the host (nvcc: calling a __host__ function is "
                         "not allowed)")
            return None
        if not side and node and (of_class in self.sides.classes or (self.strict and (of_class, name) in self.sides.functions)):
            return self.look(key, root, seen)
        return None

    def is_lambda_of_host(self, text):
        """For "main()::<lambda(int)>": whether that function is the host's, and no lambda in it says that it runs elsewhere."""
        around = name_of(text[: text.index("::<lambda")]) if "::<lambda" in text else ("", "")
        return self.sides.of_function(around) == "host" and not any(
            path == lambda_path and begin <= lambda_begin < end
            for path, begin, _, end in self.sides.places[around]
            for lambda_path, lambda_begin, *_ in self.sides.lambdas
        )

    def say(self, root, name, what, of_class=""):
        """Once for each place: the first in the function, or in a lambda, that names it, else where the function begins."""
        path, line = self.place(root, name, of_class)
        self.said.add((path, line, re.sub(r"\boperator(?=\w)", "operator ", what)))

    def place(self, root, name, of_class):
        places = self.sides.places.get(root) or self.sides.places.get(("", root[1]), [])
        word = name.replace("operator", "").lstrip("~") if name != "operator" else name
        for path, begin, behind, end in places + self.sides.lambdas:
            source = self.sides.sources[path]
            tokens = [t for t in source.tokens if begin <= t.begin < end]
            pairs = list(zip(tokens, tokens[1:]))
            # Before the parameters' end the name of a class is a type.
            behind_it = [(before, t) for before, t in pairs if t.begin >= behind]
            exact = [t for _, t in behind_it if t.text == word or name in self.sides.words([t])]
            if re.match(r"operator(?!new|delete)\w", name):  # a conversion, which no token stands for
                exact = []
            if word in ("()", "[]"):  # behind the name of an object or a member of that class, or else of a parameter
                for objects in (self.names_of(tokens, of_class), self.names_of(source.tokens, of_class),
                                {t.text for t, after in pairs if after.text in (",", ")")}):
                    exact = exact or [t for before, t in behind_it if t.text == word[0] and before.text in objects]
            if exact:
                return path, source.line(exact[0].begin)
        path, begin, *_ = places[0] if places else (next(iter(self.sides.sources)), 0, 0)
        return path, self.sides.sources[path].line(begin)

    def names_of(self, tokens, of_class):
        """Those that are declared with the class as their type."""
        text = " ".join(t.text for t in tokens)
        return set(re.findall(rf"\b{re.escape(of_class)}(?: <[^;(){{}}]*>)?(?: const| &| \*)* (\w+)", text)) if of_class else set()


def complaints(dump, sources, strict=False):
    """A line for each mistake. `sources`: {path: cpp.Source} of the program's own files."""
    return Check(dump, sources, strict).run()
