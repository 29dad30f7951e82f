# SPDX-License-Identifier: MIT
"""Prints a program as one file that nvcc compiles anywhere: what it needs of common/ is put in place.

Of common/*.cuh and of the chapter's own headers only those declarations are printed that the program uses, itself or
through others of them, and of a type only those functions whose names are used. What is not understood stays: operators,
assertions, conditionals. What the program includes of CUDA and of the standard library comes first.
"""

import argparse
import os
import re
import sys

from .. import cpp

COMMON = "common/common.cuh"
LIBRARIES = {"cublas_v2.h": "-lcublas", "cublasLt.h": "-lcublasLt", "<cuda.h>": "-lcuda", "<nccl.h>": "-lnccl"}
HARNESS = ("check", "timer", "memory", "compare", "options", "device", "yardsticks", "csv", "table", "matrix")  # in the order of who needs whom


def words_of(source, begin, end):
    """What code names between two places, the suffixes of its literals among it."""
    inside = [t for t in source.tokens if begin <= t.begin < end]
    suffixes = [s for t in inside if t.kind == "number" for s in re.findall(r"_[A-Za-z]\w*", t.text)]
    return {*suffixes, *(t.text for t in inside if t.kind == "name")}


def lines_of(source, begin, end):
    """(begin, end) of the lines between two places."""
    while begin < end:
        behind = source.data.find(b"\n", begin) + 1
        behind = behind if 0 < behind < end else end
        yield begin, behind
        begin = behind


class Piece:
    """Declarations of a header that stand together, with the comments above them: what stands between blank lines
    outside of declarations and of #if. A comment that stands alone is a piece, too."""

    def __init__(self, source, begin, end):
        self.source, self.begin, self.end = source, begin, end
        self.declared = [d for d in source.top_level() if begin <= d.begin < end]
        self.is_comment = not any(begin <= t.begin < end for t in source.tokens)
        self.text = source.text(begin, end)

    def names(self):
        """What it declares. None: not understood."""
        if not self.declared or any(d.kind == "other" for d in self.declared):
            return None
        values = [d for d in self.declared if d.kind == "type" and self.source.text(d.begin, d.begin + 4) == "enum"]
        return {n for d in self.declared for n in d.names}.union(*(words_of(self.source, *d.body) for d in values if d.body))

    def parts(self):
        """Its text in parts: [(name of a member function, or None for what has to stay, begin, end)], with the comments
        above them."""
        types = [d for d in self.declared if d.kind == "type" and d.body and self.source.text(d.begin, d.begin + 4) != "enum"]
        if len(types) != 1:
            return [(None, self.begin, self.end)]
        [of] = types
        at = self.source.data.index(b"\n", of.body[0]) + 1
        parts, behind = [(None, self.begin, at)], of.body[0]
        for member in sorted((d for d in self.source.declarations if of.body[0] < d.begin < of.body[1]), key=lambda d: (d.begin, -d.end)):
            if member.begin < behind:  # of a type within
                continue
            behind, begin = member.end, at
            for line, after in lines_of(self.source, at, self.source.data.rindex(b"\n", 0, member.begin) + 1):
                # Blank lines and `public:` stay, comments belong to what is below them.
                if not self.source.text(line, after).lstrip().startswith("//"):
                    begin = after
            end = self.source.data.index(b"\n", member.end) + 1
            words = words_of(self.source, member.begin, member.body[0] if member.body else member.begin)
            is_removable = member.kind == "function" and member.body and member.names != of.names and not words & {"virtual", "friend", "operator"}
            parts += [(None, at, begin)] if begin > at else []
            parts.append((member.names[0] if is_removable else None, begin, end))
            at = end
        return [*parts, (None, at, self.end)]


def pieces(source):
    inside = [(d.begin, d.end) for d in source.top_level()] + source.conditionals()
    found, start = [], 0
    for begin, end in lines_of(source, 0, len(source.data)):
        if source.text(begin, end).strip() or any(b < begin < e for b, e in inside):
            continue
        found.append((start, begin))
        start = end
    return [Piece(source, b, max(b, e - 1)) for b, e in [*found, (start, len(source.data) + 1)] if e > b + 1 or source.text(b, e).strip()]


def needed(program, headers):
    """The pieces of each header that the program uses, in their order. What stands alone as a comment stays where a
    piece below it does, before the next such comment; the first where any piece does."""
    parts = {piece: piece.parts() for found in headers.values() for piece in found if not piece.is_comment}
    names = {piece: piece.names() for piece in parts}
    source = cpp.source_of(program.encode(), "the program")
    wanted, words, new = set(), words_of(source, 0, len(source.data)), True  # wanted: a piece, and the index of a part of it
    while new:
        new = {
            (piece, index)
            for piece, found in parts.items()
            if names[piece] is None or names[piece] & words
            for index, (name, _, _) in enumerate(found)
            if (piece, index) not in wanted and (name is None or name in words)
        }
        wanted |= new
        words = words.union(*(words_of(piece.source, *parts[piece][index][1:]) for piece, index in new))
    kept = {}
    for header, found in headers.items():
        kept[header], comments = [], []
        for piece in found:
            if piece.is_comment:
                comments = [c for c in comments if c == found[0].text] + [piece.text]
                continue
            text = "".join(piece.source.text(b, e) for i, (_, b, e) in enumerate(parts[piece]) if (piece, i) in wanted)
            if text:
                kept[header] += [*comments, without_gaps(text) if text.rstrip("\n") != piece.text else piece.text]
                comments = []
    return kept


def without_gaps(text):
    """The text of a type from which members went: no blank lines but between others, nothing private that is empty."""
    text = re.sub(r"\n{3,}", "\n\n", text.strip("\n"))
    text = re.sub(r"(\{|^ (?:public|private):)\n\n", r"\1\n", text, flags=re.M)
    return re.sub(r"\n\n\};$", "\n};", re.sub(r"\n* private:\n+\};$", "\n};", text))


def section(title):
    return f"// ---- {title} ".ljust(100, "-")


def without_includes(source, begin, even_in_conditionals):
    """The text from there on without its #include lines, the system's headers, and others, each with the line of the #if
    that it stands in, or "". In an #if those of the system stay, unless told otherwise."""
    system, own, kept = [], [], []
    for place, name in source.includes().items():
        inside = [b for b, e in source.conditionals() if b < place[0] < e]
        if place[0] < begin or (name[0] == "<" and inside and not even_in_conditionals):
            continue
        if name[0] == "<":
            system.append(name)
        else:
            own.append((name[1:-1], source.text(max(inside), source.data.index(b"\n", max(inside))) if inside else ""))
        kept.append(source.text(begin, place[0]))
        begin = source.data.index(b"\n", place[1]) + 1
    return "".join(kept) + source.text(begin, len(source.data)), system, own


def end_of_comment(source):
    """Where the comment at the top ends."""
    return next((b for b, e in lines_of(source, 0, len(source.data)) if source.data[b : b + 2] != b"//"), len(source.data))


def within(condition, lines):
    return [condition, *lines, "#endif"] if condition else lines


def single(path):
    """The text of that file. A lab's solution, which its check calls, gets a main."""
    source = cpp.source(path)
    system, parts, conditions, seen = {"": []}, {}, {}, set()  # headers by the #if around them

    def take_headers(folder, names, outer):
        """Headers of the chapter's own, after those that they include themselves."""
        for name, condition in names:
            file = os.path.normpath(os.path.join(folder, name))
            if name.endswith("common.cuh"):
                file = COMMON  # a lab names it from the root
            if file in seen:
                continue
            seen.add(file)
            if file == COMMON:
                continue
            condition = condition or outer
            text, of_system, of_header = without_includes(cpp.source(file), 0, False)
            take_headers(os.path.dirname(file), of_header, condition)
            system.setdefault(condition, []).extend(of_system)
            conditions[os.path.basename(name)] = condition
            parts[os.path.basename(name)] = re.sub(r"^// SPDX[^\n]*\n|^#pragma once\n", "", text, flags=re.M).strip("\n")

    begin = end_of_comment(source)
    code, of_system, own = without_includes(source, begin, False)
    system[""] += of_system
    take_headers(os.path.dirname(path), own, "")
    code, headers = code.strip("\n"), {}
    if COMMON in seen:
        for name in HARNESS:
            header = cpp.source(f"common/{name}.cuh")
            text, of_system, _ = without_includes(header, end_of_comment(header), True)
            system[""] += of_system  # the program may rely on each of them
            headers[f"common/{name}.cuh"] = text.replace("#pragma once\n", "", 1)
    headers = {name: pieces(cpp.source_of(text.encode(), name)) for name, text in {**headers, **parts}.items()}
    texts = (*(name for names in system.values() for name in names), code, *parts.values())
    libraries = "".join(f" {flag}" for header, flag in LIBRARIES.items() if any(header in text for text in texts))
    comment = source.text(0, begin).rstrip("\n").split("\n")
    comment[1:1] = [f"// {os.path.relpath(path)}, in one file:", f"// nvcc -std=c++17 -arch=native FILE.cu{libraries}", "//"]
    lines = comment + [""]
    for condition, names in system.items():
        includes = [f"#include {name}" for name in sorted(set(names))]
        lines += [*within(condition, includes), ""] if includes else []
    for name, found in needed(code, headers).items():
        if found:
            lines += [section(f"of {name}"), "", *within(conditions.get(name, ""), ["\n\n".join(found)]), ""]
    lines += [section("the program"), "", code]
    if not any("main" in d.names for d in source.top_level()):
        lines += ["", "// A lab's check calls what stands above.", "int main() {}"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="a chapter's program, an experiment, a lab's solution")
    try:
        sys.stdout.write(single(parser.parse_args().source))
    except cpp.Unreadable as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
