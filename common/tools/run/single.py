#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a program as one file that nvcc compiles anywhere: what it needs of common/ is put in place.

Of common/*.cuh only those declarations are printed that the program uses, itself or through others of them. A header of
the chapter's own is printed whole. What the program includes of CUDA and of the standard library comes first.
"""

import argparse
import os
import re
import sys

HARNESS = ("check", "timer", "memory", "compare", "options", "device", "table")  # in the order of who needs whom
SYSTEM = re.compile(r"^#include (<[^>]+>)[^\n]*\n", re.M)
OWN = re.compile(r'^#include "([^"]+)"[^\n]*\n', re.M)
# What a line that begins a declaration names: a macro, a type, the suffix of a literal, a pointer to functions, a
# function, a constant.
NAME = re.compile(
    r'#define (\w+)|(?:struct|class|enum) (\w+)|operator""(\w+)|\(\*(\w+)\)|(\w+)\(|(\w+) =|(\w+)[;{]'
)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def pieces(text):
    """The top-level declarations of a header with the comments above them: what stands between blank lines outside of
    braces and of #if."""
    found, piece, depth, conditions = [], [], 0, 0
    for line in text.split("\n"):
        code = re.sub(r'//.*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', "", line)
        if not line.strip() and depth == 0 and conditions == 0:
            found.append("\n".join(piece))
            piece = []
            continue
        piece.append(line)
        depth += code.count("{") - code.count("}")
        conditions += bool(re.match(r"#\s*if", code)) - bool(re.match(r"#\s*endif", code))
    return [p for p in [*found, "\n".join(piece)] if re.search(r"^(?!//|$)", p, re.M)]


def names_of(piece):
    """The names that a piece declares; only lines without indentation begin a declaration."""
    lines = [line for line in piece.split("\n") if re.match(r"#define|[\w\[]", line) and not line.startswith("template")]
    found = [NAME.search(line) for line in lines]
    values = re.findall(r"^  (k\w+)", piece, re.M) if lines and lines[0].startswith("enum") else []
    return {name for match in found if match for name in match.groups() if name} | set(values)


def needed(program, headers):
    """The pieces of each header that the program uses, in their order."""
    wanted, text, more = set(), program, True
    while more:
        words = set(re.findall(r"\w+", re.sub(r"//.*", "", text)))
        words |= set(re.findall(r"\d(_[A-Za-z]\w*)", text))  # the suffixes of literals
        new = {
            (name, index)
            for name, parts in headers.items()
            for index, piece in enumerate(parts)
            if (name, index) not in wanted and names_of(piece) & words
        }
        wanted |= new
        text = "\n".join(headers[name][index] for name, index in new)
        more = bool(new)
    return {name: [p for i, p in enumerate(parts) if (name, i) in wanted] for name, parts in headers.items()}


def section(title):
    return f"// ---- {title} ".ljust(100, "-")


def single(path):
    """The text of that file. A lab's solution, which its check calls, gets a main."""
    title, text = os.path.relpath(path), read(path)
    guarded = re.compile(r"^#if.*?^#endif\n", re.M | re.S)  # includes in there stay where they are
    head = re.match(r"(?://[^\n]*\n)*", text)[0]
    body = text[len(head) :]
    system, parts = [], []

    def hoist(code):
        kept = guarded.findall(code)
        code = guarded.sub("\0", code)
        system.extend(SYSTEM.findall(code))
        code = SYSTEM.sub("", code)
        for block in kept:
            code = code.replace("\0", block, 1)
        return code

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
            headers[name] = re.sub(r"\A(?://[^\n]*\n)*#pragma once\n", "", read(f"common/{name}.cuh"))
    includes = {name: SYSTEM.findall(text) for name, text in headers.items()}
    headers = {name: pieces(SYSTEM.sub("", OWN.sub("", text))) for name, text in headers.items()}
    used = needed("\n".join([code] + [p for _, p in parts]), headers)
    system += [i for found in includes.values() for i in found]  # the program may rely on each of them
    comment = head.rstrip("\n").split("\n")
    libraries = " -lcublas" if any("cublas_v2.h" in t for t in (*system, code, *(p for _, p in parts))) else ""
    comment[1:1] = [f"// {title}, in one file:", f"// nvcc -std=c++17 -arch=native FILE.cu{libraries}", "//"]
    lines = comment + ["", *(f"#include {name}" for name in sorted(set(system))), ""]
    for name, found in used.items():
        if found:
            lines += [section(f"of common/{name}.cuh"), "", "\n\n".join(found), ""]
    for name, part in parts:
        lines += [section(f"of {name}"), "", part, ""]
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
