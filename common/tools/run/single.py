#!/usr/bin/env python3
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

HARNESS = ("check", "timer", "memory", "compare", "options", "device", "yardsticks", "csv", "table", "matrix")  # in the order of who needs whom
SYSTEM = re.compile(r"^#include (<[^>]+>)[^\n]*\n", re.M)
OWN = re.compile(r'^#include "([^"]+)"[^\n]*\n', re.M)
# What a line that begins a declaration names: a macro, a type, the suffix of a literal, a pointer to functions, a
# function, a constant.
NAME = re.compile(
    r'#define (\w+)|(?:struct|class|enum) (\w+)|operator""(\w+)|\(\*(\w+)\)|(\w+)\(|(\w+)(?:\[[^\]]*\])* =|(\w+)[;{]'
)
BOUNDS = re.compile(r"__launch_bounds__\([^()]*\)\s*")
TYPE = re.compile(r"^(?:struct|class) (\w+)[^;]*?\{\n", re.M)
# A function among a type's members that begins so is left out where nobody names it.
MEMBER = re.compile(
    r"(?:  template <[^>]*>\n)?  (?:\[\[\w+\]\] )?(?:(?!operator\b|virtual\b)[\w:]+(?:<[\w:, *]*>)?[*&]* )+[*&]?(\w+)\("
)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def bare(line):
    """A line's code without comments, strings and characters."""
    return re.sub(r'"(?:\\.|[^"\\])*"|(?<!\w)\'(?:\\.|[^\'\\])*\'|//.*', "", line)


def words_of(text):
    """What code names, the suffixes of its literals among it."""
    code = "\n".join(bare(line) for line in text.split("\n"))
    return {*re.findall(r"\w+", code), *re.findall(r"\d(_[A-Za-z]\w*)", code)}


def pieces(text):
    """The top-level declarations of a header with the comments above them: what stands between blank lines outside of
    braces and of #if. A comment that stands alone is a piece, too."""
    found, piece, depth, conditions = [], [], 0, 0
    for line in text.split("\n"):
        if not line.strip() and depth == 0 and conditions == 0:
            found.append("\n".join(piece))
            piece = []
            continue
        code = bare(line)
        piece.append(line)
        depth += code.count("{") - code.count("}")
        conditions += bool(re.match(r"#\s*if", code)) - bool(re.match(r"#\s*endif", code))
    return [p for p in [*found, "\n".join(piece)] if p]


def is_comment(piece):
    return not re.search(r"^(?!//|$)", piece, re.M)


def names_of(piece):
    """The names that a piece declares; only lines without indentation begin a declaration. None: not understood."""
    piece = BOUNDS.sub("", piece)
    lines = [line for line in piece.split("\n") if re.match(r"#define|[\w\[]", line) and not line.startswith("template")]
    found = [NAME.search(line) for line in lines]
    if not found or None in found or any(re.match(r".*\boperator[^\w\"]|static_assert", line) for line in lines):
        return None
    values = re.findall(r"^  (k\w+)", piece, re.M) if lines[0].startswith("enum") else []
    return {name for match in found for name in match.groups() if name} | set(values)


def members(piece):
    """A type's text in parts: [(name of a function, or None for what has to stay, lines)], with comments above them."""
    kind = TYPE.search(piece)
    if not kind or len(TYPE.findall(piece)) > 1:
        return [(None, piece)]
    parts, chunk, depth, begun = [(None, piece[: kind.end()])], [], 0, False
    for line in piece[kind.end() :].split("\n"):
        code = bare(line).rstrip()
        chunk.append(line)
        begun = begun or bool(code)
        depth += sum(map(code.count, "{(")) - sum(map(code.count, "})"))
        if not line.strip() and not begun or begun and depth == 0 and code.endswith(("}", ";", ":")):
            text = "\n".join(chunk) + "\n"
            function = MEMBER.match(re.sub(r"^\s*//.*\n|^\n", "", text, flags=re.M))
            removable = function and function[1] != kind[1] and "{" in text
            parts.append((function[1] if removable else None, text))
            chunk, begun = [], False
    return [*parts, (None, "\n".join(chunk))]


def needed(program, headers):
    """The pieces of each header that the program uses, in their order. What stands alone as a comment stays where a
    piece below it does, before the next such comment; the first where any piece does."""
    parts = {(header, i): members(p) for header, found in headers.items() for i, p in enumerate(found) if not is_comment(p)}
    names = {piece: names_of("".join(text for _, text in found)) for piece, found in parts.items()}
    wanted, words, new = set(), words_of(program), True  # of `wanted` each is a piece and the index of a part of it
    while new:
        new = {
            (piece, index)
            for piece, found in parts.items()
            if names[piece] is None or names[piece] & words
            for index, (name, _) in enumerate(found)
            if (piece, index) not in wanted and (name is None or name in words)
        }
        wanted |= new
        words = words.union(*(words_of(parts[piece][index][1]) for piece, index in new))
    kept = {}
    for header, found in headers.items():
        kept[header], comments = [], []
        for i, piece in enumerate(found):
            if is_comment(piece):
                comments = [c for c in comments if c == found[0]] + [piece]
                continue
            text = "".join(text for index, (_, text) in enumerate(parts[header, i]) if ((header, i), index) in wanted)
            if text:
                kept[header] += [*comments, without_gaps(text) if text.rstrip("\n") != piece else piece]
                comments = []
    return kept


def without_gaps(text):
    """The text of a type from which members went: no blank lines but between others, nothing private that is empty."""
    text = re.sub(r"\n{3,}", "\n\n", text.strip("\n"))
    text = re.sub(r"(\{|^ (?:public|private):)\n\n", r"\1\n", text, flags=re.M)
    return re.sub(r"\n\n\};$", "\n};", re.sub(r"\n* private:\n+\};$", "\n};", text))


def section(title):
    return f"// ---- {title} ".ljust(100, "-")


def single(path):
    """The text of that file. A lab's solution, which its check calls, gets a main."""
    title, text = os.path.relpath(path), read(path)
    guarded = re.compile(r"(^#if.*?^#endif\n)", re.M | re.S)  # includes in there stay where they are
    head = re.match(r"(?://[^\n]*\n)*", text)[0]
    body = text[len(head) :]
    system, parts = [], []

    def hoist(code):
        pieces_of_code = guarded.split(code)
        system.extend(name for piece in pieces_of_code[::2] for name in SYSTEM.findall(piece))
        pieces_of_code[::2] = [SYSTEM.sub("", piece) for piece in pieces_of_code[::2]]
        return "".join(pieces_of_code)

    seen = set()

    def take_headers(folder, code):
        """Headers of the chapter's own, after those that they include themselves."""
        for name in OWN.findall(code):
            file = os.path.normpath(os.path.join(folder, name))
            if name.endswith("common.cuh") or file in seen:
                continue
            seen.add(file)
            header = re.sub(r"^// SPDX[^\n]*\n|^#pragma once\n", "", read(file), flags=re.M)
            take_headers(os.path.dirname(file), header)
            parts.append((os.path.basename(name), hoist(OWN.sub("", header)).strip("\n")))

    take_headers(os.path.dirname(path), body)
    code = hoist(OWN.sub("", body)).strip("\n")
    headers = {}
    if re.search(r'^#include "[^"]*common\.cuh"', text, re.M):
        for name in HARNESS:
            header = re.sub(r"\A(?://[^\n]*\n)*#pragma once\n", "", read(f"common/{name}.cuh"))
            system += SYSTEM.findall(header)  # the program may rely on each of them
            headers[f"common/{name}.cuh"] = pieces(SYSTEM.sub("", OWN.sub("", header)))
    headers.update((name, pieces(part)) for name, part in parts)
    comment = head.rstrip("\n").split("\n")
    libraries = " -lcublas" if any("cublas_v2.h" in t for t in (*system, code, *(p for _, p in parts))) else ""
    comment[1:1] = [f"// {title}, in one file:", f"// nvcc -std=c++17 -arch=native FILE.cu{libraries}", "//"]
    lines = comment + ["", *(f"#include {name}" for name in sorted(set(system))), ""]
    for name, found in needed(code, headers).items():
        if found:
            lines += [section(f"of {name}"), "", "\n\n".join(found), ""]
    lines += [section("the program"), "", code]
    if not re.search(r"^int main\(", code, re.M):
        lines += ["", "// A lab's check calls what stands above.", "int main() {}"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="a chapter's program, an experiment, a lab's solution")
    sys.stdout.write(single(parser.parse_args().source))


if __name__ == "__main__":
    main()
